//! Calls become records of the store. Never waits: the recorder writes behind the calls.

use std::sync::Arc;

use serde_json::{Map, Value};
use switchboard_core::port::{Call, Done, Record};
use switchboard_model::{Clock, Decision};
use switchboard_store::{CallRecord, Recorder};
use switchboard_wire::{Json, Kind};

/// How deep the shape of arguments is told.
const DEPTH: usize = 4;
/// How many members of one object are told.
const MEMBERS: usize = 64;

/// Writes calls down.
pub(super) struct Recording {
    recorder: Recorder,
    clock: Arc<dyn Clock>,
}

impl Recording {
    pub(super) fn new(recorder: Recorder, clock: Arc<dyn Clock>) -> Self {
        Self { recorder, clock }
    }
}

impl Record for Recording {
    fn record(&self, call: &Call<'_>, done: &Done<'_>) {
        let now = self.clock.now();
        self.recorder.record(CallRecord {
            at: now.checked_sub(done.elapsed).unwrap_or(now),
            user: call.who.user.clone(),
            agent: call.who.agent.clone(),
            server: call.server.clone(),
            tool: call.subject.to_owned(),
            origin: call.origin,
            // A call on which nothing could be decided was refused.
            decision: done.decision.unwrap_or(Decision::Deny),
            outcome: Some(done.outcome),
            duration: done.elapsed,
            bytes_in: done.sent as u64,
            bytes_out: done.received as u64,
            trace: call.trace.map(str::to_owned),
            shape: call.params.get("arguments").map(|arguments| shape(arguments, DEPTH)),
            arguments: None,
            error: None,
        });
    }
}

/// Names and types, no values.
fn shape(json: Json<'_>, depth: usize) -> Value {
    let word = match json.kind() {
        Kind::Object if depth > 0 => {
            let members = json.members().take(MEMBERS);
            let told = members.map(|member| {
                (member.key.text().unwrap_or_default().into_owned(), shape(member.value, depth - 1))
            });
            return Value::Object(told.collect::<Map<_, _>>());
        }
        Kind::Array if depth > 0 => {
            let first = json.elements().next();
            return Value::Array(first.map(|one| shape(one, depth - 1)).into_iter().collect());
        }
        Kind::Object => "object",
        Kind::Array => "array",
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::Null => "null",
    };
    Value::String(word.to_owned())
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    #[test]
    fn names_and_types() {
        let text = br#"{"path":"/secret","n":1,"deep":{"a":{"b":{"c":{"d":1}}}},"list":[{"x":true}],"none":null}"#;
        let json = Json::parse(text, &Limits::DEFAULT).unwrap();
        let told = shape(json, DEPTH).to_string();
        assert_eq!(
            told,
            r#"{"path":"string","n":"number","deep":{"a":{"b":{"c":"object"}}},"list":[{"x":"boolean"}],"none":"null"}"#
        );
    }
}
