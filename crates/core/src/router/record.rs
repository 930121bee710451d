//! The record of a call: made at its end, however it ends. Never waits.

use std::borrow::Cow;
use std::time::Instant;

use switchboard_model::{Decision, Outcome, mask};
use switchboard_wire::{Json, JsonBuf, output};

use super::Ports;
use crate::port::{Call, CallError, Done, Verdict};
use crate::redact::{Known, Redactor};

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
    span: Option<String>,
    error: Option<String>,
}

/// An error is told in so many characters.
const LONGEST: usize = 300;
/// Bytes of it that are looked through: a secret that begins before the end is known by what follows.
const LOOKED: usize = 4096;

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
            span: ports.trace.as_ref().and_then(|trace| trace.begin(&call)),
            error: None,
        }
    }

    /// The call's own span, if it has one.
    pub(super) fn span(&self) -> Option<&str> {
        self.span.as_deref()
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

    /// Nobody offers what was called.
    pub(super) fn led_nowhere(mut self) {
        self.reason = Cow::Borrowed("nobody offers it to this caller");
        self.outcome = Outcome::Refused;
    }

    pub(super) fn end(mut self, result: &Result<JsonBuf, CallError>) {
        self.outcome = match result {
            Ok(result) if output::is_error(result.as_json()) => Outcome::ToolError,
            Ok(_) => Outcome::Done,
            Err(
                CallError::Rpc(_)
                | CallError::Denied { .. }
                | CallError::Blocked { .. }
                | CallError::NotFound { .. }
                | CallError::Ambiguous { .. },
            ) => Outcome::Refused,
            Err(CallError::TimedOut { .. } | CallError::Busy { .. }) => Outcome::TimedOut,
            Err(_) => Outcome::Lost,
        };
        self.error = failure(&self.call, result, self.outcome);
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
            span: self.span.as_deref(),
            error: self.error.as_deref(),
        };
        self.ports.record.record(&self.call, &done);
    }
}

/// What went wrong at the server. What a rule, a person or the guard stopped never got there, and what a
/// tool says of its failure is the call's own business.
fn failure(
    call: &Call<'_>,
    result: &Result<JsonBuf, CallError>,
    outcome: Outcome,
) -> Option<String> {
    match result {
        Ok(_) if outcome == Outcome::ToolError => Some("the tool reported an error".to_owned()),
        Ok(_) | Err(CallError::Denied { .. } | CallError::Blocked { .. }) => None,
        Err(error) => Some(told(&error.to_string(), call.arguments)),
    }
}

/// An error without secrets: a server may repeat what it was called with.
fn told(error: &str, arguments: Option<Json<'_>>) -> String {
    let seen = &error[..error.floor_char_boundary(LOOKED)];
    let redactor = Redactor::new(arguments.map(Known::named_in).unwrap_or_default());
    mask::text(&redactor.text(seen)).chars().take(LONGEST).collect()
}
