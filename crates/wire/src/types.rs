//! Shapes of what a hub must look at: who a server is, what it offers, what it asks back. Each
//! keeps what it does not know, and none is needed to pass a message on.

pub mod call;
pub mod entry;
pub mod handshake;
pub mod input;
pub mod notice;
pub mod page;
pub mod subscription;
pub mod task;
#[cfg(test)]
mod tests;

pub use call::CallParams;
pub use entry::{Annotations, Entry, Flaw, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
pub use handshake::{
    Capabilities, DiscoverResult, Implementation, InitializeParams, InitializeResult,
};
pub use input::{InputRequest, InputRequired};
pub use notice::{Cancelled, LogMessage, Progress};
pub use page::{CacheHint, CacheScope, Dropped, Page};
pub use subscription::Filter;
pub use task::{Task, TaskStatus};

/// A message that lacks what it cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is missing or of the wrong type")]
pub struct Missing(pub &'static str);
