//! The record of a call: made at its end, however it ends. Never waits.

use std::borrow::Cow;
use std::time::Instant;

use switchboard_model::{Decision, Outcome};
use switchboard_wire::{JsonBuf, output};

use super::Ports;
use crate::port::{Call, CallError, Done, Verdict};

/// A call under way. One that is dropped was cancelled.
pub(super) struct Recording<'r> {
    ports: &'r Ports,
    call: Call<'r>,
    began: Instant,
    decision: Option<Decision>,
    reason: Cow<'static, str>,
    outcome: Outcome,
    received: usize,
    cut: usize,
}

impl<'r> Recording<'r> {
    pub(super) fn begin(ports: &'r Ports, call: Call<'r>) -> Self {
        Self {
            ports,
            call,
            began: ports.clock.monotonic(),
            decision: None,
            reason: Cow::Borrowed("no decision could be made"),
            outcome: Outcome::Cancelled,
            received: 0,
            cut: 0,
        }
    }

    pub(super) fn decided(&mut self, verdict: &Verdict) {
        self.decision = Some(verdict.decision);
        self.reason = verdict.reason.clone();
    }

    pub(super) fn received(&mut self, result: &JsonBuf) {
        self.received = result.as_json().as_bytes().len();
    }

    pub(super) fn cut(&mut self, bytes: usize) {
        self.cut = bytes;
    }

    pub(super) fn end(mut self, result: &Result<JsonBuf, CallError>) {
        self.outcome = match result {
            Ok(result) if output::is_error(result.as_json()) => Outcome::ToolError,
            Ok(_) => Outcome::Done,
            Err(CallError::Rpc(_) | CallError::Denied { .. } | CallError::Blocked { .. }) => {
                Outcome::Refused
            }
            Err(CallError::TimedOut { .. } | CallError::Busy { .. }) => Outcome::TimedOut,
            Err(_) => Outcome::Lost,
        };
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        let done = Done {
            decision: self.decision,
            reason: &self.reason,
            outcome: self.outcome,
            elapsed: self.ports.clock.monotonic().saturating_duration_since(self.began),
            sent: self.call.params.as_bytes().len(),
            received: self.received,
            cut: self.cut,
        };
        self.ports.record.record(&self.call, &done);
    }
}
