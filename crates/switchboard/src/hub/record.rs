//! Calls become records of the store. Never waits: the recorder writes behind the calls.

mod known;
mod shape;

use std::sync::Arc;

use serde_json::Value;
use switchboard_core::port::{Call, Done, Record};
use switchboard_core::redact::Redactor;
use switchboard_model::{Clock, Decision};
use switchboard_store::{CallRecord, Recorder};
use switchboard_wire::Json;

use super::audited::Audited;

/// Writes calls down.
pub(super) struct Recording {
    recorder: Recorder,
    audited: Arc<Audited>,
    clock: Arc<dyn Clock>,
}

impl Recording {
    pub(super) fn new(recorder: Recorder, audited: Arc<Audited>, clock: Arc<dyn Clock>) -> Self {
        Self { recorder, audited, clock }
    }
}

impl Record for Recording {
    fn record(&self, call: &Call<'_>, done: &Done<'_>) {
        let now = self.clock.now();
        let redactor = self.audited.redactor(call.server);
        let redactor = redactor.as_deref();
        self.recorder.record(CallRecord {
            at: now.checked_sub(done.elapsed).unwrap_or(now),
            user: call.who.user.clone(),
            agent: call.who.agent.clone(),
            server: call.server.clone(),
            tool: known::tool(cut(call.subject)),
            origin: call.origin,
            // A call on which nothing could be decided was refused.
            decision: done.decision.unwrap_or(Decision::Deny),
            outcome: Some(done.outcome),
            duration: done.elapsed,
            bytes_in: done.sent as u64,
            bytes_out: done.received as u64,
            trace: call.trace.map(str::to_owned),
            shape: call.arguments.and_then(|given| match redactor {
                None => known::shape(given),
                Some(redactor) => shape::told(given, redactor),
            }),
            arguments: redactor.zip(call.arguments).and_then(|(hides, given)| values(given, hides)),
            // What the hub itself holds is known where values are written down.
            error: done
                .error
                .map(|error| redactor.map_or(error.into(), |hides| hides.text(error)).into_owned()),
        });
    }
}

/// Bytes of a subject that are written down. Each that differs is remembered and kept with the log, and it is
/// callers who say which resource is read.
const SUBJECT: usize = 1024;

/// As much of a subject as is written down.
fn cut(subject: &str) -> &str {
    &subject[..subject.floor_char_boundary(SUBJECT)]
}

/// The arguments as they may be written down.
fn values(json: Json<'_>, redactor: &Redactor) -> Option<Value> {
    serde_json::from_str(redactor.json(json).as_json().as_str()).ok()
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    #[test]
    fn subjects_are_cut_between_characters() {
        for (subject, kept) in [
            ("echo".to_owned(), 4),
            ("x".repeat(SUBJECT), SUBJECT),
            ("x".repeat(SUBJECT + 1), SUBJECT),
            (format!("x{}", "é".repeat(SUBJECT)), SUBJECT - 1),
        ] {
            assert_eq!(cut(&subject).len(), kept, "{}", subject.len());
        }
    }

    #[test]
    fn names_are_redacted_with_the_values() {
        let text = br#"{"ghp_0123456789abcdefghij":1,"path":{"token":"x","n":1}}"#;
        let json = Json::parse(text, &Limits::DEFAULT).unwrap();
        let redactor = Redactor::default();
        for told in [shape::told(json, &redactor), known::shape(json)] {
            let told = told.unwrap();
            let names = r#"{"[redacted]":"number","path":{"token":"string","n":"number"}}"#;
            assert_eq!(told.as_str(), names);
        }
        let told = values(json, &redactor).unwrap().to_string();
        assert_eq!(told, r#"{"[redacted]":1,"path":{"token":"[redacted]","n":1}}"#);
    }
}
