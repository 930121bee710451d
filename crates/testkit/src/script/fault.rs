//! What can go wrong with a scripted server, and where each fault happens unless a rule says
//! otherwise. Never does any of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use switchboard_wire::method;

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
#[rustfmt::skip]
pub enum Fault {
    /// Waits before it serves anything.
    SlowStart { /** How long. */ ms: u64 },
    /// Says something on stderr and exits at once.
    CrashStart { /** The exit code. */ code: i32, /** What it says. */ stderr: String },
    /// Writes junk lines to stdout, beside its messages.
    FloodStdout { /** How many. */ lines: u64, /** How fast; 0 is as fast as it can. */ per_second: u64 },
    /// Writes to stderr.
    FloodStderr { /** How much. */ bytes: u64, /** How fast; 0 is as fast as it can. */ per_second: u64 },
    /// Starts processes that outlive it.
    ForkChildren {
        /** How many. */ count: u32,
        /** How many generations come after each. */ depth: u32,
        /** Whether each leaves the session, and so the process group. */ setsid: bool,
        /** How long they live. */ ms: u64,
        /** The file to which each appends its id; none if empty. */ pids: String,
    },
    /// SIGTERM and SIGINT do not end it.
    IgnoreSigterm {},
    /// The end of stdin does not end it.
    IgnoreStdinClose {},
    /// Closes stdin after the message, and goes on.
    CloseStdin {},
    /// Closes stdout before the answer, and goes on.
    CloseStdout {},
    /// Announces changes of a list all the time.
    ListStorm { /** How fast. */ per_second: u64, /** For how long. */ ms: u64, /** Of which list. */ list: List },

    /// Does not answer.
    Silent {},
    /// Stands still as a whole: reads nothing, answers nothing.
    Hang { /** For how long; 0 is for ever. */ ms: u64 },
    /// Answers late.
    Delay { /** By how much. */ ms: u64 },
    /// Exits instead of answering.
    Crash {
        /** The exit code. */ code: i32,
        /** Whether half of the answer is written first. */ mid_line: bool,
        /** What it says on stderr. */ stderr: String,
    },
    /// Writes what is no message before the answer.
    Garbage { /** Of which kind. */ kind: Junk, /** How much of it. */ count: u32 },
    /// Writes half of the answer, and nothing ever after.
    HalfLine {},
    /// Gives an answer of that size, streamed.
    Huge { /** How many bytes of text. */ bytes: u64 },
    /// Gives the same answer several times.
    Duplicate { /** How often. */ count: u32 },
    /// Collects answers and gives them last first.
    Reorder { /** How many. */ count: u32, /** After how long it gives up collecting. */ ms: u64 },
    /// Gives an answer that nobody asked for.
    UnknownId { /** Whether it takes the place of the right one. */ instead: bool },
    /// Wraps the answer into a batch of one.
    Batch {},
    /// Answers with an error.
    Error { /** Its code. */ code: i64, /** Its message. */ message: String, /** The HTTP status. */ status: u16 },
    /// Gives no answer, and none to anything that follows.
    DieOnProbe { /** Whether the process ends too. */ exit: bool },

    /// Describes its tools anew in every list.
    ChangingDefinitions {},
    /// Its lists never end.
    EndlessPages { /** What the cursors are like. */ cursor: Cursor },
    /// Its lists have entries that are none.
    InvalidEntries {},

    /// Forgets HTTP sessions.
    ExpireSessions { /** After how many requests. */ requests: u32 },
    /// Refuses sessions that it does not know as the README of a well-known SDK does: as if no session
    /// had been named.
    StrangeSessions { /** The status. */ status: u16, /** The code. */ code: i64, /** The message. */ message: String },
    /// Answers with an HTTP status.
    Status {
        /** The status. */ status: u16,
        /** More headers; `{origin}` stands for its own. */ headers: BTreeMap<String, String>,
        /** The body. */ body: String,
    },
    /// Resets the connection.
    Reset { /** When. */ at: ResetAt },
    /// Ends the connection in the middle of the body.
    Truncate {},
    /// Ends the event stream before the answer, and goes on with the work.
    DropStream { /** After how many events. */ events: usize, /** Whether it can be resumed. */ resumable: bool },
    /// Sends the caller elsewhere.
    Redirect { /** The status. */ status: u16, /** `slash`, `other` (a second origin of its own), or a URL. */ to: String },
    /// Claims another content type.
    ContentType { /** Which. */ value: String },
    /// Writes the body byte by byte.
    SlowBody { /** The pause after each. */ ms: u64 },
}

/// One of a server's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum List {
    /// Its tools.
    Tools,
    /// Its resources.
    Resources,
    /// Its prompts.
    Prompts,
}

/// What is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Junk {
    /// Text, as a forgotten `print` makes it.
    Text,
    /// JSON that breaks off.
    HalfJson,
    /// Bytes that are no text.
    Binary,
    /// JSON that is no message.
    OtherJson,
    /// All of them.
    Mixed,
}

/// The cursors of a list that never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cursor {
    /// Always the same one, and the same page.
    Same,
    /// Always a new one, and new entries.
    Fresh,
}

/// When a connection is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetAt {
    /// After the request was read.
    Request,
    /// In the middle of the response.
    Response,
}

/// Where a fault happens when its rule names neither a method nor a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Natural {
    /// Once, when the server starts.
    Start,
    /// At everything that is received.
    Always,
    /// At these methods.
    At(&'static [&'static str]),
}

impl Fault {
    pub(super) fn natural(&self) -> Natural {
        match self {
            Self::SlowStart { .. }
            | Self::CrashStart { .. }
            | Self::FloodStdout { .. }
            | Self::FloodStderr { .. }
            | Self::ForkChildren { .. }
            | Self::IgnoreSigterm {}
            | Self::IgnoreStdinClose {} => Natural::Start,
            Self::CloseStdin {}
            | Self::Silent {}
            | Self::Garbage { .. }
            | Self::Duplicate { .. }
            | Self::UnknownId { .. }
            | Self::Batch {}
            | Self::Error { .. }
            | Self::ChangingDefinitions {}
            | Self::EndlessPages { .. }
            | Self::InvalidEntries {}
            | Self::ExpireSessions { .. }
            | Self::StrangeSessions { .. }
            | Self::Status { .. }
            | Self::Redirect { .. }
            | Self::ContentType { .. } => Natural::Always,
            Self::CloseStdout {}
            | Self::Hang { .. }
            | Self::Delay { .. }
            | Self::Crash { .. }
            | Self::HalfLine {}
            | Self::Huge { .. }
            | Self::Reorder { .. }
            | Self::Reset { .. }
            | Self::Truncate {}
            | Self::DropStream { .. }
            | Self::SlowBody { .. } => Natural::At(&[method::TOOLS_CALL]),
            Self::ListStorm { .. } => Natural::At(&[method::INITIALIZED, method::LISTEN]),
            Self::DieOnProbe { .. } => Natural::At(&[method::DISCOVER]),
        }
    }
}
