//! Why a call or a connection failed: each names the thing, keeps its cause and says what to do.

use std::io;
use std::time::Duration;

use switchboard_model::{ServerState, Trouble};
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
}

fn said(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(": {detail}") }
}

impl CallError {
    pub(crate) fn lost(reason: impl Into<String>, delivery: Delivery) -> Self {
        Self::Lost { reason: reason.into(), delivery }
    }
}

/// Why no connection came to be.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The command is nowhere.
    #[error("`{command}` was not found in {searched}")]
    NotFound {
        /// As declared.
        command: String,
        /// Where it was looked for.
        searched: String,
        /// How to get it, where that is known.
        hint: &'static str,
    },
    /// The command is there and cannot be started.
    #[error("`{command}` cannot be started")]
    Spawn {
        /// As declared.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// The directory to start it in is none.
    #[error("the directory {0} to start it in does not exist")]
    NoDirectory(String),
    /// It gave no sign of life.
    #[error("it printed nothing for {} s", .0.as_secs())]
    Silent(Duration),
    /// It took longer than it may.
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The handshake failed.
    #[error("{step} failed")]
    Handshake {
        /// Which step.
        step: &'static str,
        /// Why.
        source: CallError,
    },
    /// It speaks nothing that is spoken here.
    #[error("it speaks {0}, which this version of Switchboard does not")]
    Revision(String),
    /// The URL or a header is not valid.
    #[error("{0}")]
    Address(String),
    /// It wants to know who calls.
    #[error("it wants a credential: {detail}")]
    Unauthorized {
        /// What it said.
        detail: String,
        /// `WWW-Authenticate`, as it came.
        challenge: Option<String>,
    },
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made: {0}")]
    Client(String),
}

impl ConnectError {
    pub(crate) fn handshake(step: &'static str, source: CallError) -> Self {
        match source {
            CallError::Unauthorized { detail, challenge } => {
                Self::Unauthorized { detail, challenge }
            }
            source => Self::Handshake { step, source },
        }
    }

    /// The same for a person.
    pub fn trouble(&self) -> Trouble {
        let (code, remedy) = match self {
            Self::NotFound { hint, .. } => ("command_not_found", *hint),
            Self::Spawn { .. } => ("command_not_started", "check that the file may be executed"),
            Self::NoDirectory(_) => ("no_directory", "create it, or change `cwd`"),
            Self::Silent(_) => ("silent", "run the command by hand and see what it waits for"),
            Self::TimedOut(_) => ("timed_out", "check the address, or raise `timeout`"),
            Self::Handshake { source: CallError::Lost { .. }, .. } => {
                ("ended", "look at its log; run the command by hand")
            }
            Self::Handshake { .. } => ("handshake", "check that it is an MCP server"),
            Self::Revision(_) => ("revision", "update the server or Switchboard"),
            Self::Address(_) => ("address", "correct the declaration"),
            Self::Unauthorized { .. } => ("unauthorized", "sign in, or check its token"),
            Self::Client(_) => ("client", "check the system's certificates and the proxy settings"),
        };
        let mut message = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            message.push_str(": ");
            message.push_str(&error.to_string());
            cause = error.source();
        }
        Trouble { code, message, remedy: remedy.to_owned() }
    }
}
