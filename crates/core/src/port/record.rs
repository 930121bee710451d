//! Telling of calls: one record for each, however it ended. Only the port.

use std::time::Duration;

use switchboard_model::{Decision, Outcome};

use super::call::Call;

/// How a call ended. Who called what is in [`Call`]; whoever wants the shape of the arguments
/// reads it from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done<'d> {
    /// What was decided; `None` if nothing could be.
    pub decision: Option<Decision>,
    /// Why, in a sentence.
    pub reason: &'d str,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took, waiting for people included.
    pub elapsed: Duration,
    /// Bytes of params.
    pub sent: usize,
    /// Bytes of the server's result.
    pub received: usize,
    /// Bytes of text that were cut from it.
    pub cut: usize,
    /// Its own span, if it was given one ([`super::Trace`]).
    pub span: Option<&'d str>,
    /// What went wrong at the server, for people: short, with what looks secret masked, and nothing of
    /// what was said in the call.
    pub error: Option<&'d str>,
}

/// Takes note of calls.
pub trait Record: Send + Sync {
    /// A call is over. Must not wait.
    fn record(&self, call: &Call<'_>, done: &Done<'_>);
}

/// Takes note of nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordNothing;

impl Record for RecordNothing {
    fn record(&self, _: &Call<'_>, _: &Done<'_>) {}
}
