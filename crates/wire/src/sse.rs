//! Server-sent events as WHATWG has them. Never reads a body, never parses the data.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub use decode::{Decoder, Event, Item};
pub use encode::{comment, event, retry};

/// The content type of a stream of events.
pub const CONTENT_TYPE: &str = "text/event-stream";
