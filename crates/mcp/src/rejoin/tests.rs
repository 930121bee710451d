//! What is said again to another hub, and what the agent is told.

use std::time::{Duration, Instant};

use bytes::Bytes;
use switchboard_model::{Clock as _, SystemClock};
use switchboard_wire::{Json, Limits};

use super::{Memory, Pass};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LEVEL: &str =
    r#"{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"info"}}"#;

fn line(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn result(id: &str) -> Bytes {
    line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#))
}

/// The hub says something, at a time that does not matter.
fn heard(memory: &mut Memory, said: &Bytes) -> Pass {
    memory.from_hub(said, SystemClock.monotonic())
}

fn subscription(id: u32, method: &str, uri: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"resources/{method}","params":{{"uri":"{uri}"}}}}"#
    )
}

fn call(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"x"}}}}"#)
}

/// A session in which some things were said and answered.
fn begun() -> Memory {
    let mut memory = Memory::default();
    for said in [HELLO, LEVEL] {
        memory.from_agent(&line(said));
    }
    memory.from_agent(&line(READY));
    for (id, act, uri) in [(2, "subscribe", "a"), (3, "subscribe", "b"), (4, "unsubscribe", "a")] {
        memory.from_agent(&line(&subscription(id, act, uri)));
    }
    for id in ["0", "\"l\"", "2", "3", "4"] {
        assert_eq!(heard(&mut memory, &result(id)), Pass::On);
    }
    memory
}

fn member(lines: &[Vec<u8>], path: &[&str]) -> Vec<String> {
    let read = |line: &Vec<u8>| {
        let json = Json::parse(line, &Limits::DEFAULT).unwrap();
        let found = path.iter().try_fold(json, |json, key| json.get(key));
        found.map(|found| found.as_str().to_owned())
    };
    lines.iter().filter_map(read).collect()
}

#[test]
fn the_session_is_told_again_and_its_answers_are_not_passed_on() {
    let mut memory = begun();
    assert_eq!(memory.lost(), Vec::<Vec<u8>>::new(), "nothing was open");
    let again = memory.again();
    let subscription = subscription(3, "subscribe", "b");
    assert_eq!(again, [HELLO, READY, LEVEL, &subscription].map(line));
    assert!(memory.is_waiting());
    assert_eq!(heard(&mut memory, &result("0")), Pass::Over);
    assert!(!memory.is_waiting(), "a subscription waits for its server");
    assert_eq!(memory.news().len(), 3);
    assert_eq!(heard(&mut memory, &result("\"l\"")), Pass::Over);
    assert_eq!(heard(&mut memory, &result("3")), looks_once("b"));
    // From here on the same ids are new again.
    memory.from_agent(&line(&call(3)));
    assert_eq!(heard(&mut memory, &result("3")), Pass::On);
}

/// What the agent is told in place of an answer that it had.
fn looks_once(uri: &str) -> Pass {
    let told = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"uri":"{uri}"}}}}"#
    );
    Pass::Instead(told.into_bytes())
}

#[test]
fn a_subscription_that_is_refused_later_is_looked_at_once() {
    let mut memory = begun();
    memory.lost();
    memory.again();
    let refusal = line(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}"#);
    assert_eq!(heard(&mut memory, &refusal), looks_once("b"));
    memory.lost();
    assert_eq!(memory.again().len(), 4, "the next hub may take it");
    // What the agent gave up meanwhile is nothing to it.
    memory.from_agent(&line(&subscription(5, "unsubscribe", "b")));
    assert_eq!(heard(&mut memory, &result("3")), Pass::Over);
}

const REFUSAL: &str = r#""error":{"code":-32002,"message":"no"}"#;

/// What the hub is asked again by a time: under which id.
fn asked(memory: &mut Memory, now: Instant) -> Vec<String> {
    let lines: Vec<Vec<u8>> = memory.due(now).iter().map(|line| line.to_vec()).collect();
    let uris = member(&lines, &["params", "uri"]);
    assert!(uris.iter().all(|uri| uri == "\"b\""), "{uris:?}");
    member(&lines, &["id"])
}

#[test]
fn a_subscription_that_is_refused_later_is_asked_for_again() {
    let mut memory = begun();
    assert_eq!(memory.next(), None);
    memory.lost();
    memory.again();
    let mut now = SystemClock.monotonic();
    let answer = |id: &str, what: &str| line(&format!(r#"{{"jsonrpc":"2.0","id":{id},{what}}}"#));
    assert_eq!(memory.from_hub(&answer("3", REFUSAL), now), looks_once("b"));
    // Later and later, each time under an id of its own, and the agent hears nothing of it.
    let mut before = Vec::new();
    for wait in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300, 300] {
        let wait = Duration::from_secs(wait);
        assert_eq!(memory.next(), Some(now + wait));
        assert!(asked(&mut memory, now + wait - Duration::from_millis(1)).is_empty());
        now += wait;
        let ids = asked(&mut memory, now);
        assert!(ids.len() == 1 && !before.contains(&ids[0]), "{ids:?}");
        assert!(asked(&mut memory, now + wait * 1000).is_empty() && memory.next().is_none());
        assert_eq!(memory.from_hub(&answer(&ids[0], REFUSAL), now), Pass::Over);
        before.extend(ids);
    }
    // Until it agrees: what happened meanwhile was not heard.
    now += Duration::from_secs(300);
    let ids = asked(&mut memory, now);
    assert_eq!(memory.from_hub(&answer(&ids[0], r#""result":{}"#), now), looks_once("b"));
    assert_eq!(memory.next(), None);
    // At the hub after that it begins anew.
    memory.lost();
    assert_eq!(memory.again()[3], line(&subscription(3, "subscribe", "b")));
    assert_eq!(memory.from_hub(&answer("3", REFUSAL), now), looks_once("b"));
    assert_eq!(memory.next(), Some(now + Duration::from_secs(1)));
    // What the agent gives up is not asked for, nor is the answer to that of any use to it.
    let ids = asked(&mut memory, now + Duration::from_secs(1));
    memory.from_agent(&line(&subscription(5, "unsubscribe", "b")));
    assert_eq!(memory.from_hub(&answer(&ids[0], r#""result":{}"#), now), Pass::Over);
    assert_eq!(memory.next(), None);
}

/// A batch is one line: of what was in it only what is to be said again is.
#[test]
fn what_was_said_in_a_batch_is_repeated_alone() {
    let mut memory = begun();
    let [one, other] = [(6, "c"), (7, "d")].map(|(id, uri)| subscription(id, "subscribe", uri));
    memory.from_agent(&line(&format!(" [{one},{},{other}]", call(8))));
    heard(
        &mut memory,
        &line(
            r#"[{"jsonrpc":"2.0","id":6,"result":{}},{"jsonrpc":"2.0","id":7,"result":{}},{"jsonrpc":"2.0","id":8,"result":{}}]"#,
        ),
    );
    memory.lost();
    assert_eq!(memory.again()[4..], [one, other].map(|said| line(&said)));
}

#[test]
fn what_never_was_a_subscription_is_not_repeated() {
    let mut memory = begun();
    memory.from_agent(&line(&subscription(5, "subscribe", "c")));
    memory.from_agent(&line(&subscription(6, "subscribe", "d")));
    let refusal = line(r#"{"jsonrpc":"2.0","id":5,"error":{"code":-1,"message":"no"}}"#);
    assert_eq!(heard(&mut memory, &refusal), Pass::On);
    assert_eq!(member(&memory.lost(), &["id"]), ["6"]);
    let again = [HELLO, READY, LEVEL, &subscription(3, "subscribe", "b")].map(line);
    assert_eq!(memory.again(), again);
}

#[test]
fn what_is_open_fails() {
    let mut memory = begun();
    for id in [10, 11, 12] {
        memory.from_agent(&line(&call(id)));
    }
    memory.from_agent(&line(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":11}}"#,
    ));
    heard(&mut memory, &result("10"));
    heard(&mut memory, &line(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#));
    heard(&mut memory, &line(r#"{"jsonrpc":"2.0","id":2,"method":"roots/list"}"#));
    memory.from_agent(&result("1"));
    let told = memory.lost();
    assert_eq!(member(&told, &["id"]), ["12"]);
    assert_eq!(member(&told, &["params", "requestId"]), ["2"]);
    assert!(memory.lost().is_empty(), "once");
}

#[test]
fn a_greeting_that_was_not_answered_is_not_repeated() {
    let mut memory = Memory::default();
    memory.from_agent(&line(HELLO));
    assert_eq!(member(&memory.lost(), &["id"]), ["0"]);
    assert!(memory.again().is_empty() && !memory.is_waiting() && memory.news().is_empty());
}

#[test]
fn a_hub_may_refuse_the_session() {
    let mut memory = begun();
    memory.lost();
    memory.again();
    let refusal = line(r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}}"#);
    assert_eq!(heard(&mut memory, &refusal), Pass::Refused);
}
