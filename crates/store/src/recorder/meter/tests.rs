//! Counts of calls, as data.

use std::time::UNIX_EPOCH;

use switchboard_model::{CallOrigin, Decision, ServerName};

use super::*;

fn call(tool: &str, outcome: Option<Outcome>, ms: u64) -> Record {
    Record::Call(CallRecord {
        at: UNIX_EPOCH,
        user: None,
        agent: None,
        server: ServerKey::global(ServerName::parse("s").unwrap()),
        tool: tool.into(),
        origin: CallOrigin::Mcp,
        decision: Decision::Allow,
        outcome,
        duration: Duration::from_millis(ms),
        bytes_in: 0,
        bytes_out: 0,
        trace: None,
        shape: None,
        arguments: None,
        error: None,
    })
}

#[test]
fn calls_are_counted_by_tool_and_outcome_and_timed() {
    let meter = Meter::default();
    meter.add(&[call("a", Some(Outcome::Done), 5), call("a", Some(Outcome::Done), 6)]);
    meter.add(&[call("a", Some(Outcome::Lost), 90_000), call("b", None, 0)]);
    let read = meter.read();
    let server = read.values().next().unwrap();
    assert_eq!(server.calls["a"], BTreeMap::from([("done", 2), ("lost", 1)]));
    assert_eq!(server.calls["b"], BTreeMap::from([("denied", 1)]));
    let durations = &server.durations;
    assert_eq!((durations.classes[0], durations.classes[1], durations.classes[13]), (1, 1, 1));
    assert_eq!((durations.count(), durations.sum), (3, Duration::from_millis(90_011)));
}

#[test]
fn names_beyond_the_bound_are_counted_together() {
    let meter = Meter::default();
    let calls: Vec<Record> =
        (0..TOOLS + 50).map(|n| call(&format!("t{n}"), Some(Outcome::Done), 1)).collect();
    meter.add(&calls);
    let read = meter.read();
    let server = read.values().next().unwrap();
    assert_eq!(server.calls.len(), TOOLS + 1);
    assert_eq!(server.calls[""], BTreeMap::from([("done", 50)]));
}
