//! The trace of a call: which span is its own, before it goes to its server. Only the port.

use super::call::Call;

/// Gives calls spans of their own.
pub trait Trace: Send + Sync {
    /// A call begins: the `traceparent` of its own span, below which the server's work belongs.
    /// `None` if it has none, and the server is told what the caller told. Must not wait.
    fn begin(&self, call: &Call<'_>) -> Option<String>;
}
