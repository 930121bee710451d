//! Why a call failed: each reason names the thing and keeps its cause.

use std::fmt;
use std::time::Duration;

use switchboard_model::ServerState;
use switchboard_wire::rewrite::Repeated;
use switchboard_wire::{ErrorObject, Json, JsonBuf, write};

/// A JSON-RPC error, as the other side sent it or as one is sent to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// Its code.
    pub code: i64,
    /// Its message.
    pub message: String,
    /// The whole object, byte for byte.
    pub raw: JsonBuf,
}

impl RpcError {
    /// An error of our own.
    pub fn new(code: i64, message: &str) -> Self {
        let raw = write::object(|error| {
            error.integer("code", code);
            error.text("message", message);
        });
        Self { code, message: message.to_owned(), raw }
    }

    /// Its data, if it has any.
    pub fn data(&self) -> Option<Json<'_>> {
        self.raw.as_json().get("data")
    }
}

impl From<&ErrorObject<'_>> for RpcError {
    fn from(error: &ErrorObject<'_>) -> Self {
        Self { code: error.code, message: error.message.to_string(), raw: error.raw.into() }
    }
}

/// Whether a request can have had an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It surely never reached the server: it can be made again.
    No,
    /// It may have.
    Perhaps,
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server answered with an error, which is passed on as it is.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// Neither an answer nor progress within the limit.
    #[error("no answer and no progress within {} s", .after.as_secs_f32())]
    TimedOut {
        /// The limit that was reached.
        after: Duration,
    },
    /// The server has as many calls under way as it may, and none ended in time.
    #[error("{limit} calls are under way and none ended in time")]
    Busy {
        /// `max_in_flight`
        limit: u32,
    },
    /// The connection ended before the answer came.
    #[error("the connection ended: {reason}")]
    Lost {
        /// Why it ended.
        reason: String,
        /// Whether the server may have acted on the request.
        delivery: Delivery,
    },
    /// The server is not connected.
    #[error("it is not connected: {}", .state.sentence())]
    NotConnected {
        /// Where it stands.
        state: Box<ServerState>,
    },
    /// No such server is declared.
    #[error("no such server is declared")]
    Unknown,
    /// The server wants to know who calls.
    #[error("the server wants a credential: {detail}")]
    Unauthorized {
        /// What it said.
        detail: String,
        /// `WWW-Authenticate`, as it came.
        challenge: Option<String>,
    },
    /// The server, or something before it, refused the HTTP request.
    #[error("HTTP {status}{}", said(.detail))]
    Http {
        /// The status.
        status: u16,
        /// What it said, cut.
        detail: String,
    },
    /// The server asks for fewer requests, for longer than the call may wait.
    #[error("the server wants {} s of rest", .retry_after.as_secs())]
    Throttled {
        /// How long.
        retry_after: Duration,
    },
    /// The server answered in a way that the protocol does not have.
    #[error("the answer cannot be understood: {0}")]
    Malformed(String),
    /// A member that decides something is there twice in the params.
    #[error("the params cannot be passed on: {0}")]
    Params(#[from] Repeated),
    /// The caller is offered no such thing.
    #[error("there is no {thing} `{name}`")]
    NotFound {
        /// What kind of thing.
        thing: Thing,
        /// What it was called by.
        name: String,
    },
    /// What names the thing is longer than [`super::LONGEST_NAME`].
    #[error("the name of the {thing} has {bytes} bytes, and at most {most} are taken: shorten it")]
    TooLong {
        /// What kind of thing.
        thing: Thing,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// Several servers may be meant, and none is asked.
    #[error(
        "several servers may be meant by `{uri}`, so none is asked; put `mcp://SERVER/` before it, with the \
         name of the one that is"
    )]
    Ambiguous {
        /// What the resource was called by.
        uri: String,
    },
    /// The params do not say what is wanted.
    #[error("the params lack `{0}`")]
    Lacks(&'static str),
    /// Nobody here answers that method.
    #[error("the method `{0}` is not offered")]
    NoMethod(String),
    /// A rule, or a person, refused the call; it never reached the server.
    #[error("the call was refused: {reason}")]
    Denied {
        /// Why.
        reason: String,
    },
    /// The guard held back what was sent, or what came.
    #[error("the guard stopped it: {reason}")]
    Blocked {
        /// Why.
        reason: String,
    },
}

/// What a caller can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A tool.
    Tool,
    /// A resource.
    Resource,
    /// A prompt.
    Prompt,
    /// A task.
    Task,
    /// A result that was kept.
    Result,
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
            Self::Task => "task",
            Self::Result => "result",
        })
    }
}

fn said(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(": {detail}") }
}

impl CallError {
    /// The connection ended.
    pub fn lost(reason: impl Into<String>, delivery: Delivery) -> Self {
        Self::Lost { reason: reason.into(), delivery }
    }
}
