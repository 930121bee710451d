//! Why bytes were refused, and the code that the refusal is answered with. Never parses.

use crate::code;
use crate::id::Id;

/// What is wrong with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Over `max_bytes`; the content was not looked at.
    #[error("the message has {size} bytes, {limit} are allowed")]
    TooLarge {
        /// Its size.
        size: usize,
        /// The bound.
        limit: usize,
    },
    /// Invalid UTF-8.
    #[error("the message is not UTF-8 at byte {at}")]
    NotUtf8 {
        /// Where.
        at: usize,
    },
    /// Malformed JSON.
    #[error("the message is not JSON at byte {at}")]
    NotJson {
        /// Where.
        at: usize,
    },
    /// Over `max_depth`.
    #[error("the message is nested deeper than {limit} levels at byte {at}")]
    TooDeep {
        /// Where.
        at: usize,
        /// The bound.
        limit: usize,
    },
    /// JSON, but not a JSON-RPC 2.0 message of MCP.
    #[error("not a JSON-RPC message: {0}")]
    NotMessage(&'static str),
    /// A member of the envelope stands there twice, and two readers could take different ones.
    #[error("not a JSON-RPC message: `{0}` is there twice")]
    Repeated(&'static str),
    /// A batch where one message was wanted.
    #[error("batches are not taken here")]
    UnexpectedBatch,
    /// `[]`.
    #[error("the batch is empty")]
    EmptyBatch,
    /// Over `max_batch`.
    #[error("the batch has more than {limit} messages")]
    BatchTooLarge {
        /// The bound.
        limit: usize,
    },
}

impl Fault {
    /// The JSON-RPC code that says so.
    pub const fn code(self) -> i64 {
        match self {
            Self::NotUtf8 { .. } | Self::NotJson { .. } | Self::TooDeep { .. } => code::PARSE_ERROR,
            Self::TooLarge { .. }
            | Self::NotMessage(_)
            | Self::Repeated(_)
            | Self::UnexpectedBatch
            | Self::EmptyBatch
            | Self::BatchTooLarge { .. } => code::INVALID_REQUEST,
        }
    }
}

/// A fault, with the id to answer it under where one could be read.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{fault}")]
pub struct Refusal<'a> {
    /// What is wrong.
    pub fault: Fault,
    /// The id that the message carried.
    pub id: Option<Id<'a>>,
}

impl From<Fault> for Refusal<'_> {
    fn from(fault: Fault) -> Self {
        Self { fault, id: None }
    }
}
