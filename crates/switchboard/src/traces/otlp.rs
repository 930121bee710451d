//! Spans as OTLP writes them in JSON, and what a collector answers. Never sends anything.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_model::Outcome;
use switchboard_wire::method;

use super::span::{Span, hexadecimal};

/// `SPAN_KIND_SERVER`: the hub answers whoever calls.
const SERVER: u8 = 2;
/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// One request for a batch of spans.
pub(super) fn request(spans: &[Span], service: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let spans: Vec<Value> = spans.iter().map(span).collect();
    let of = attributes(&[("service.name", service.into()), ("service.version", version.into())]);
    let scope = json!({"name": "switchboard", "version": version});
    json!({"resourceSpans": [{
        "resource": {"attributes": of},
        "scopeSpans": [{"scope": scope, "spans": spans}],
    }]})
    .to_string()
}

/// How many spans of a request the collector did not take, by its answer.
pub(super) fn rejected(answer: &[u8]) -> u64 {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Answer {
        partial_success: Option<Partial>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Partial {
        rejected_spans: Value,
    }
    let answer: Answer = serde_json::from_slice(answer).unwrap_or_default();
    let count = answer.partial_success.unwrap_or_default().rejected_spans;
    // A 64-bit number is a text in protobuf's JSON; not everybody writes it so.
    count.as_u64().or_else(|| count.as_str()?.parse().ok()).unwrap_or(0)
}

fn span(span: &Span) -> Value {
    let name = match &span.subject {
        Some(subject) => format!("{} {subject}", span.method),
        None => span.method.clone(),
    };
    let mut told = json!({
        "traceId": hexadecimal(&span.trace),
        "spanId": hexadecimal(&span.id),
        "name": name,
        "kind": SERVER,
        "startTimeUnixNano": nanoseconds(span.began),
        "endTimeUnixNano": nanoseconds(span.began + span.lasted),
        "attributes": attributes(&facts(span)),
    });
    if let Some(parent) = &span.parent {
        told["parentSpanId"] = hexadecimal(parent).into();
    }
    if span.outcome != Outcome::Done {
        told["status"] = json!({"code": ERROR, "message": span.outcome.as_str()});
    }
    told
}

fn facts(span: &Span) -> Vec<(&'static str, Value)> {
    let mut facts = vec![
        ("mcp.method.name", span.method.as_str().into()),
        ("switchboard.server", span.server.as_str().into()),
        ("switchboard.origin", span.origin.as_str().into()),
        ("switchboard.outcome", span.outcome.as_str().into()),
        ("switchboard.duration_us", micros(span.lasted).into()),
        ("switchboard.request.size", span.sent.into()),
        ("switchboard.response.size", span.received.into()),
    ];
    if span.cut > 0 {
        facts.push(("switchboard.response.cut", span.cut.into()));
    }
    if let Some(decision) = span.decision {
        facts.push(("switchboard.decision", decision.as_str().into()));
    }
    let named = match span.method.as_str() {
        method::TOOLS_CALL => "gen_ai.tool.name",
        _ => "gen_ai.prompt.name",
    };
    let texts = [
        (named, &span.subject),
        ("switchboard.agent", &span.agent),
        ("switchboard.user", &span.user),
    ];
    let texts = texts.into_iter().filter_map(|(key, text)| Some((key, text.clone()?.into())));
    facts.extend(texts);
    if span.outcome != Outcome::Done {
        facts.push(("error.type", span.outcome.as_str().into()));
    }
    facts
}

/// Texts as they are, numbers as texts, since JSON's would lose digits.
fn attributes(facts: &[(&str, Value)]) -> Value {
    let one = |(key, value): &(&str, Value)| match value {
        Value::Number(number) => json!({"key": key, "value": {"intValue": number.to_string()}}),
        text => json!({"key": key, "value": {"stringValue": text}}),
    };
    facts.iter().map(one).collect()
}

fn nanoseconds(at: SystemTime) -> String {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_collector_did_not_take_is_read_however_it_is_written() {
        for (answer, expected) in [
            (&b""[..], 0),
            (b"{}", 0),
            (br#"{"partialSuccess":{}}"#, 0),
            (br#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#, 3),
            (br#"{"partialSuccess":{"rejectedSpans":4}}"#, 4),
            (br#"{"partialSuccess":null}"#, 0),
            (b"ok", 0),
        ] {
            assert_eq!(rejected(answer), expected, "{:?}", std::str::from_utf8(answer));
        }
    }
}
