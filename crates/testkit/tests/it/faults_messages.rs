//! Faults of messages and lists, mostly over stdio: each does what its name says.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Speaks};
use switchboard_wire::{Revision, meta, method};

use crate::client::{Client, now, text};
use crate::links::{Link, Pipes};

const SESSION: Revision = Revision::V2025_11_25;
const STATELESS: Revision = Revision::V2026_07_28;

fn with(fault: &str) -> Client<Pipes> {
    Client::stdio(&Script::new().fault(fault), SESSION)
}

fn connected(fault: &str) -> Client<Pipes> {
    let mut client = with(fault);
    client.connect();
    client
}

fn echo(client: &mut Client<impl Link>, said: &str) -> u64 {
    client.ask(method::TOOLS_CALL, json!({"name": "echo", "arguments": {"text": said}}))
}

#[test]
fn silence() {
    for (fault, method, params) in [
        ("silent", method::TOOLS_LIST, json!({})),
        ("silent_initialize", method::INITIALIZE, json!({"protocolVersion": "2025-06-18"})),
        ("ignore_ping", method::PING, json!({})),
        ("silent:tool=echo", method::TOOLS_CALL, json!({"name": "echo"})),
    ] {
        let mut client = with(fault);
        client.ask(method, params);
        assert_eq!(client.soon(), None, "{fault}");
    }
    let mut client = connected("ignore_ping");
    assert_eq!(text(&client.call("echo", json!({"text": "still here"}))), "still here");
}

#[test]
fn the_probe() {
    let meta =
        json!({"_meta": {meta::PROTOCOL_VERSION: "2026-07-28", meta::CLIENT_CAPABILITIES: {}}});
    let probe = |script: &Script| {
        let mut client = Client::stdio(script, SESSION);
        client.ask(method::DISCOVER, meta.clone());
        client
    };
    let answered = |script: &Script| {
        let mut client = probe(script);
        let answer = client.receive();
        (client, answer)
    };
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    let session = Script::new().speaks(Speaks::parse("session").unwrap());

    let (mut client, answer) = answered(&session);
    assert_eq!(code(&answer), Some(-32601));
    assert_eq!(client.connect()["protocolVersion"], "2025-11-25");
    for expected in [-32601, -32602, -32000] {
        let fault = format!("probe_error:code={expected}");
        let (mut client, answer) = answered(&session.clone().fault(&fault[..]));
        assert_eq!(code(&answer), Some(expected));
        assert_eq!(client.connect()["protocolVersion"], "2025-11-25");
    }

    let mut client = probe(&session.clone().fault("die_on_probe"));
    assert_eq!(client.soon(), None);
    client.ask(method::INITIALIZE, json!({"protocolVersion": "2024-11-05"}));
    assert_eq!(client.soon(), None);
    assert_eq!(client.link.child.try_wait().unwrap(), None, "dead, but it runs");
    let (_, answer) = answered(&session.fault("die_on_probe:exit=true"));
    assert_eq!(answer, json!({"closed": true}));

    let locked = Script::new().speaks(Speaks::DualLocked);
    let (mut client, answer) = answered(&locked);
    assert!(answer.get("result").is_some());
    let refused = client.request(method::INITIALIZE, json!({"protocolVersion": "2025-11-25"}));
    assert_eq!(refused["error"]["code"], -32022);
    let mut client = Client::stdio(&locked, SESSION);
    client.connect();
    assert_eq!(client.request(method::DISCOVER, meta.clone())["error"]["code"], -32601);
}

#[test]
fn only_one_revision() {
    let mut old = Client::stdio(&Script::new().only("2024-11-05"), SESSION);
    assert_eq!(old.connect()["protocolVersion"], "2024-11-05");
    let mut new = Client::stdio(&Script::new().only("2026-07-28"), SESSION);
    let refused = new.request(method::INITIALIZE, json!({"protocolVersion": "2025-11-25"}));
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(new.request(method::TOOLS_LIST, json!({}))["error"]["code"], -32602);
}

#[test]
fn garbage_before_the_answer() {
    for (kind, pieces) in
        [("text", 1), ("half_json", 1), ("binary", 1), ("other_json", 1), ("mixed", 4)]
    {
        let mut client = connected(&format!("garbage:kind={kind},count=2,method=tools/call"));
        assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
        let junk = client.aside();
        assert_eq!(junk.len(), 2 * pieces, "{kind}");
        assert!(junk.iter().all(|junk| junk["junk"].is_string()), "{junk:?}");
    }
}

#[test]
fn answers_that_nobody_can_place() {
    let mut client = connected("duplicate:count=3,tool=echo");
    let id = echo(&mut client, "x");
    assert_eq!(
        [
            client.receive()["id"].take(),
            client.receive()["id"].take(),
            client.receive()["id"].take()
        ],
        [id, id, id]
    );
    assert_eq!(client.soon(), None);

    let mut client = connected("unknown_id:tool=echo");
    let id = echo(&mut client, "x");
    assert_eq!(client.receive()["id"], "nobody asked for this");
    assert_eq!(client.receive()["id"], id);

    let mut client = connected("unknown_id:tool=echo,instead=true");
    echo(&mut client, "x");
    assert_eq!(client.receive()["id"], "nobody asked for this");
    assert_eq!(client.soon(), None);

    let mut client = connected("batch:tool=echo");
    let id = echo(&mut client, "x");
    assert_eq!(client.receive()[0]["id"], id);
}

#[test]
fn answers_out_of_order() {
    let mut client = connected("reorder:count=4,ms=30000");
    let asked: Vec<_> = (0..4).map(|_| echo(&mut client, "x")).collect();
    let answered: Vec<_> = (0..4).map(|_| client.receive()["id"].as_u64().unwrap()).collect();
    assert_eq!(answered, asked.into_iter().rev().collect::<Vec<_>>());
    let mut client = connected("reorder:count=4");
    let alone = echo(&mut client, "x");
    assert_eq!(client.answer(alone)["id"], alone, "one alone is not kept for ever");
}

#[test]
fn half_a_line() {
    let mut client = connected("half_line");
    echo(&mut client, "x");
    // Calls are answered side by side; once the half is out, nothing is.
    let mut unanswered = 0;
    let silent = (0..1000).any(|_| {
        client.ask(method::PING, json!({}));
        unanswered = if client.soon().is_none() { unanswered + 1 } else { 0 };
        unanswered == 3
    });
    assert!(silent);
    drop(client.link.stdin.take());
    let rest = client.receive();
    assert_eq!(rest["whole"], false);
    assert!(rest["junk"].as_str().unwrap().starts_with(r#"{"jsonrpc":"2.0""#), "{rest}");
}

#[test]
fn crashes_and_hangs() {
    let mut client = connected("crash:after=1,code=7");
    assert_eq!(text(&client.call("echo", json!({"text": "fine"}))), "fine");
    echo(&mut client, "not fine");
    assert_eq!(client.receive(), json!({"closed": true}));
    assert_eq!(client.link.child.wait().unwrap().code(), Some(7));

    let mut client = connected("crash_mid_line");
    echo(&mut client, "x");
    assert_eq!(client.receive()["whole"], false);
    assert_eq!(client.receive(), json!({"closed": true}));

    let mut client = connected("hang");
    echo(&mut client, "x");
    client.ask(method::PING, json!({}));
    assert_eq!(client.soon(), None);

    let mut client = connected("hang:ms=600,times=1");
    let begun = now();
    let (first, ping) = (echo(&mut client, "x"), client.ask(method::PING, json!({})));
    let one = client.receive();
    assert!(begun.elapsed() >= Duration::from_millis(600), "{one}");
    // Then it goes on, with both at once.
    let mut answered = [one["id"].as_u64(), client.receive()["id"].as_u64()];
    answered.sort();
    assert_eq!(answered, [Some(first), Some(ping)]);
}

#[test]
fn a_huge_line_is_never_held_in_memory() {
    const BYTES: usize = 128 << 20;
    let mut client = connected(&format!("huge:bytes={BYTES}"));
    let status = format!("/proc/{}/status", client.link.child.id());
    assert_eq!(text(&client.call("echo", json!({}))).len(), BYTES);
    let Ok(status) = fs::read_to_string(status) else { return };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 32 * 1024, "{peak} kB");
}

#[test]
fn storms_of_changes() {
    for revision in [SESSION, STATELESS] {
        let script = Script::new().fault("list_storm:per_second=500,ms=200");
        let mut client = Client::stdio(&script, revision);
        client.connect();
        if client.is_stateless() {
            client.ask(method::LISTEN, json!({"notifications": {"toolsListChanged": true}}));
        }
        for _ in 0..90 {
            client.heard(method::TOOLS_CHANGED);
        }
        assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
    }
}

#[test]
fn lists_that_lie() {
    let tools = |client: &mut Client<Pipes>, cursor: Value| {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        client.request(method::TOOLS_LIST, params)["result"].take()
    };
    let mut client = connected("changing_definitions");
    let (first, second) = (tools(&mut client, Value::Null), tools(&mut client, Value::Null));
    assert_ne!(first["tools"][0]["description"], second["tools"][0]["description"]);

    let mut client = connected("endless_pages");
    let first = tools(&mut client, Value::Null);
    assert_eq!(tools(&mut client, first["nextCursor"].clone()), first);

    let mut client = connected("endless_pages:cursor=fresh");
    let first = tools(&mut client, Value::Null);
    let second = tools(&mut client, first["nextCursor"].clone());
    assert_ne!(first["nextCursor"], second["nextCursor"]);
    assert_ne!(first["tools"][0]["name"], second["tools"][0]["name"]);

    let mut client = connected("invalid_entries");
    let list = tools(&mut client, Value::Null)["tools"].take();
    assert_eq!(list.as_array().unwrap().iter().filter(|tool| tool["name"] == "echo").count(), 2);
    assert!(list.as_array().unwrap().iter().any(|tool| tool["name"] == 7));
    assert!(list.as_array().unwrap().contains(&Value::Null));
}

#[test]
fn many_tools_in_pages() {
    let mut client = Client::stdio(&Script::new().tools(1000).page(100), STATELESS);
    let (mut cursor, mut names, mut pages) = (Value::Null, Vec::new(), 0);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let mut page = client.request(method::TOOLS_LIST, params)["result"].take();
        names.extend(page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()));
        pages += 1;
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((names.len(), pages), (1017, 11));
    assert_eq!(text(&client.call("tool_00999", json!({"text": "x"}))), "x");
    let wrong = client.request(method::TOOLS_LIST, json!({"cursor": "nonsense"}));
    assert_eq!(wrong["error"]["code"], -32602);
}
