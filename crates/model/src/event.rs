//! What happens at servers, for whoever shows, records or announces it. Never says who listens.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::scope::ServerKey;
use crate::state::ServerState;

/// Something that happened at a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Which server.
    pub server: ServerKey,
    /// When.
    pub at: SystemTime,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The server is declared no longer, and nothing of it runs.
    Removed,
    /// Its state is another one.
    StateChanged {
        /// What it was.
        from: ServerState,
        /// What it is.
        to: ServerState,
    },
    /// What it offers is something else than before.
    CatalogChanged {
        /// How much of each kind there is now.
        counts: Counts,
    },
    /// A resource that somebody subscribed to is another one now.
    ResourceUpdated {
        /// The server's own URI of it.
        uri: Arc<str>,
    },
    /// The server does not tell any more of a resource that somebody subscribed to.
    ResourceUntold {
        /// The server's own URI of it.
        uri: Arc<str>,
    },
    /// A task of a server of the session era stands otherwise than before.
    TaskChanged {
        /// How it stands, as the server tells it: JSON.
        task: Arc<str>,
    },
    /// A task of a server of the session era has come further, after the call that began it was answered.
    TaskProgressed {
        /// The server's own id of the task.
        task: Arc<str>,
        /// How far it is, as the server tells it, under the token of whoever began it: JSON.
        params: Arc<str>,
    },
    /// It said something.
    ServerLog(LogLine),
    /// A tool was called.
    ToolStarted {
        /// The number of the call, the same at its end.
        call: u64,
        /// The server's own name of the tool.
        tool: Arc<str>,
    },
    /// The call is over.
    ToolCompleted {
        /// The number of the call.
        call: u64,
        /// The server's own name of the tool.
        tool: Arc<str>,
        /// How long it took.
        elapsed: Duration,
        /// How it ended.
        outcome: Outcome,
    },
}

/// How much a server offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tools, after its filter.
    pub tools: usize,
    /// Resources.
    pub resources: usize,
    /// Families of resources.
    pub templates: usize,
    /// Prompts.
    pub prompts: usize,
}

/// One thing that a server said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Where it said so.
    pub source: LogSource,
    /// What, at most some thousand characters of it.
    pub text: String,
}

/// Where a server said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSource {
    /// On its standard error.
    Stderr,
    /// On its standard output, where only messages of the protocol belong.
    Stdout,
    /// In a log message of the protocol.
    Message,
    /// Not at all: it is the hub's own remark, such as an entry of a catalog that was left out.
    Hub,
}

impl LogSource {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stderr => "stderr",
            Self::Stdout => "stdout",
            Self::Message => "message",
            Self::Hub => "hub",
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With a result.
    Done,
    /// With a result in which the tool says that it failed.
    ToolError,
    /// With an error of the protocol.
    Refused,
    /// It took too long.
    TimedOut,
    /// The caller no longer wanted it.
    Cancelled,
    /// The connection broke or was not there.
    Lost,
}

impl Outcome {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::ToolError => "tool_error",
            Self::Refused => "refused",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }
}
