//! Why a connection failed: each reason names the thing, keeps its cause and says what to do.

use std::io;
use std::time::Duration;

use switchboard_core::port::CallError;
use switchboard_model::{Transport, Trouble};

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
    /// Nobody can say what to prove the hub with.
    #[error("its credential cannot be read: {0}")]
    Credential(String),
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

    /// The same of a server that is reached in this way: one behind a URL has no command to look at.
    pub(crate) fn trouble_at(&self, transport: &Transport) -> Trouble {
        let mut trouble = self.trouble();
        if matches!(transport, Transport::Http(_)) && trouble.code == "ended" {
            "check that it runs, and that the address is right".clone_into(&mut trouble.remedy);
        }
        trouble
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
            Self::Credential(_) => ("credential", "look at the hub's log and at its database"),
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
