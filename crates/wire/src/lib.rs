//! MCP as bytes: what a message is, how it is framed, what its names and codes are, in both eras.
//! Never opens a socket, never waits, never re-serialises a payload that nobody has to change.
//!
//! Bytes are checked once, where they enter ([`Message::parse`], [`Incoming::parse`],
//! [`Json::parse`]); a [`Json`] is the proof of it, and everything after that only skips over them.

pub mod code;
pub mod era;
pub mod fault;
pub mod header;
pub mod id;
pub mod json;
pub mod limits;
pub mod message;
pub mod meta;
pub mod method;
pub mod outline;
pub mod output;
pub mod peek;
pub mod rewrite;
pub mod sse;
pub mod stdio;
pub mod types;
pub mod write;

pub use era::{Era, Revision};
pub use fault::{Fault, Refusal};
pub use id::{Id, IdBuf, IdKey};
pub use json::{Json, JsonBuf, Kind};
pub use limits::Limits;
pub use message::{ErrorObject, Failure, Incoming, Message, Notification, Request, Response};
pub use outline::{Params, ParamsBuf};
pub use rewrite::{Edit, Repeated};
