//! Faults of HTTP: statuses, sessions that expire, connections and bodies that break.

use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Answers, Script, Scripted, Speaks};
use switchboard_wire::{Revision, header, meta, method};

use crate::client::{Client, text};
use crate::http::{self, Response};
use crate::links::Link;

const SESSION: Revision = Revision::V2025_11_25;
const BOTH: [(&str, &str); 2] = [("accept", header::ACCEPT_BOTH), ("content-type", header::JSON)];

fn message(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn initialize() -> String {
    message(method::INITIALIZE, &json!({"protocolVersion": "2025-11-25", "capabilities": {}}))
}

fn echo() -> String {
    message(method::TOOLS_CALL, &json!({"name": "echo", "arguments": {"text": "hello"}}))
}

fn post(server: &Scripted, headers: &[(&str, &str)], body: &str) -> io::Result<Response> {
    http::send("POST", server.url(), &[&BOTH, headers].concat(), body.as_bytes())
}

/// A server with a session, and the session's id.
fn opened(script: &Script) -> (Scripted, String) {
    let server = Scripted::http(script);
    let response = post(&server, &[], &initialize()).unwrap();
    let id = response.header(header::SESSION_ID).expect("a session").to_owned();
    // The head may come before the session is open; the answer does not.
    response.body().unwrap();
    (server, id)
}

fn json_of(response: Response) -> Value {
    serde_json::from_slice(&response.body().unwrap()).unwrap()
}

#[test]
fn statuses() {
    for (fault, status, name, value) in [
        ("unauthorized", 401, "www-authenticate", "Bearer resource_metadata=\"http://127.0.0.1:"),
        ("forbidden", 403, "content-length", "0"),
        ("too_many", 429, "retry-after", "1"),
        ("status", 500, "content-length", "18"),
        ("bad_gateway", 502, "content-length", "24"),
        ("unavailable", 503, "content-length", "11"),
        (
            "redirect:status=308,to=https://elsewhere.example/mcp",
            308,
            "location",
            "https://elsewhere.example/mcp",
        ),
    ] {
        let server = Scripted::http(&Script::new().fault(fault));
        let response = post(&server, &[], &initialize()).unwrap();
        assert_eq!(response.status, status, "{fault}");
        let header = response.header(name).expect(fault);
        assert!(header.starts_with(value), "{header}");
    }
    let server = Scripted::http(&Script::new().fault("unavailable:times=2"));
    let statuses: Vec<_> =
        (0..4).map(|_| post(&server, &[], &initialize()).unwrap().status).collect();
    assert_eq!(statuses, [503, 503, 200, 200]);
}

#[test]
fn what_is_refused_without_a_fault() {
    let (server, id) = opened(&Script::new());
    let session = (header::SESSION_ID, id.as_str());
    let status = |method: &str, headers: &[(&str, &str)]| {
        http::send(method, server.url(), headers, echo().as_bytes()).unwrap().status
    };
    assert_eq!(status("POST", &[BOTH[0], BOTH[1], session]), 200);
    assert_eq!(status("POST", &[BOTH[1], session]), 406);
    assert_eq!(status("POST", &[BOTH[0], session]), 415);
    assert_eq!(status("POST", &BOTH), 400);
    assert_eq!(status("POST", &[BOTH[0], BOTH[1], (header::SESSION_ID, "other")]), 404);
    assert_eq!(status("GET", &[BOTH[0]]), 405);
    assert_eq!(status("PUT", &[session]), 405);
    assert_eq!(status("DELETE", &[session]), 200);
    assert_eq!(status("POST", &[BOTH[0], BOTH[1], session]), 404);
    let no_get = Scripted::http(&Script::new().fault("no_get"));
    assert_eq!(http::send("GET", no_get.url(), &[BOTH[0]], b"").unwrap().status, 405);
}

#[test]
fn the_probe_and_the_mirror() {
    let meta = json!({meta::PROTOCOL_VERSION: "2026-07-28", meta::CLIENT_CAPABILITIES: {}});
    let probe = message(method::DISCOVER, &json!({meta::META: meta}));
    let mirror = [(header::PROTOCOL_VERSION, "2026-07-28"), (header::METHOD, method::DISCOVER)];
    let check = |script: &Script, headers: &[(&str, &str)], status: u16, code: Option<i64>| {
        let server = Scripted::http(script);
        let response = post(&server, headers, &probe).unwrap();
        assert_eq!(response.status, status);
        assert_eq!(json_of(response)["error"]["code"].as_i64(), code);
    };
    let session = Script::new().speaks(Speaks::parse("session").unwrap());
    check(&Script::new(), &mirror, 200, None);
    check(&Script::new(), &mirror[..1], 400, Some(-32020));
    check(&Script::new(), &[mirror[0], (header::METHOD, "ping")], 400, Some(-32020));
    check(&session, &mirror, 400, Some(-32000));
    let shared = Script { session_ids: false, ..session.clone() };
    check(&shared, &mirror, 200, Some(-32601));
    check(&shared.fault("probe_error:code=-32602"), &mirror, 200, Some(-32602));
    let server = Scripted::sse(&session);
    assert_eq!(post(&server, &mirror, &probe).unwrap().status, 405);
}

#[test]
fn what_a_header_says_must_be_what_the_body_says() {
    let meta = json!({meta::PROTOCOL_VERSION: "2026-07-28", meta::CLIENT_CAPABILITIES: {}});
    let params = json!({"name": "headers", "arguments": {"region": "eu"}, meta::META: meta});
    let call = message(method::TOOLS_CALL, &params);
    let server = Scripted::http(&Script::new());
    let right = [
        (header::PROTOCOL_VERSION, "2026-07-28"),
        (header::METHOD, method::TOOLS_CALL),
        (header::NAME, "headers"),
        ("mcp-param-region", "eu"),
    ];
    assert_eq!(post(&server, &right, &call).unwrap().status, 200);
    let wrong = ["2025-11-25", "tools/list", "a__headers", "us"];
    for (at, wrong) in wrong.into_iter().enumerate() {
        let mut headers = right.to_vec();
        headers[at].1 = wrong;
        let other = post(&server, &headers, &call).unwrap();
        headers.remove(at);
        let missing = post(&server, &headers, &call).unwrap();
        for refused in [other, missing] {
            assert_eq!(refused.status, 400, "{wrong}");
            assert_eq!(json_of(refused)["error"]["code"], -32020, "{wrong}");
        }
    }
}

#[test]
fn sessions_expire() {
    let script = Script::new().fault("expire_sessions:requests=3");
    let (server, id) = opened(&script);
    let statuses = |id: &str| {
        let one = |_| post(&server, &[(header::SESSION_ID, id)], &echo()).unwrap().status;
        (0..5).map(one).collect::<Vec<_>>()
    };
    assert_eq!(statuses(&id), [200, 200, 200, 404, 404]);
    let again = post(&server, &[], &initialize()).unwrap();
    let id = again.header(header::SESSION_ID).unwrap().to_owned();
    again.body().unwrap();
    assert_eq!(statuses(&id), [200, 200, 200, 404, 404]);
}

#[test]
fn sessions_that_nobody_knows() {
    for (fault, status, code) in [
        ("no_get", 404, -32001),
        ("strange_sessions", 400, -32000),
        ("strange_sessions:status=410", 410, -32000),
    ] {
        let (server, _id) = opened(&Script::new().fault(fault));
        let refused = post(&server, &[(header::SESSION_ID, "another")], &echo()).unwrap();
        assert_eq!(refused.status, status, "{fault}");
        assert_eq!(json_of(refused)["error"]["code"], code, "{fault}");
    }
}

#[test]
fn bodies_that_break() {
    for answers in [Answers::Json, Answers::Sse] {
        for fault in ["reset", "truncate"] {
            let (server, id) = opened(&Script::new().answers(answers).fault(fault));
            let response = post(&server, &[(header::SESSION_ID, &id)], &echo()).unwrap();
            assert_eq!(response.status, 200);
            let error = response.body().expect_err(fault);
            let reset = error.kind() == io::ErrorKind::ConnectionReset;
            assert_eq!(reset, fault == "reset", "{fault}: {error}");
        }
    }
    let (server, id) = opened(&Script::new().fault("reset:at=request"));
    let error = post(&server, &[(header::SESSION_ID, &id)], &echo()).err().expect("no response");
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);

    let (server, id) = opened(&Script::new().fault("content_type:tool=echo"));
    let response = post(&server, &[(header::SESSION_ID, &id)], &echo()).unwrap();
    assert_eq!(response.header("content-type"), Some("text/html"));

    let (server, id) = opened(&Script::new().fault("slow_body:ms=3"));
    let response = post(&server, &[(header::SESSION_ID, &id)], &echo()).unwrap();
    assert_eq!(text(&json_of(response)), "hello");

    for answers in [Answers::Json, Answers::Sse] {
        let mut client =
            Client::http(&Script::new().answers(answers).fault("huge:bytes=5000000"), SESSION);
        client.connect();
        assert_eq!(text(&client.call("echo", json!({}))).len(), 5_000_000);
    }
}

#[test]
fn message_faults_reach_http_too() {
    fn check(mut client: Client<impl Link>) {
        client.connect();
        assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
        assert_eq!(client.aside().len(), 4, "junk comes first");
        assert_eq!(text(&client.receive()), "x", "the answer comes twice");
        assert_eq!(client.call("add", json!({}))["error"]["code"], -7);
        client.ask(method::TOOLS_CALL, json!({"name": "pid"}));
        assert_eq!(client.soon(), None);
    }
    let script = Script::new()
        .fault("garbage:tool=echo")
        .fault("duplicate:tool=echo")
        .fault("silent:tool=pid")
        .fault("error:tool=add,code=-7");
    check(Client::http(&script, SESSION));
    check(Client::sse(&script, SESSION));
}

#[test]
fn streams_that_are_dropped() {
    let (server, id) = opened(&Script::new().fault("drop_stream"));
    let session = (header::SESSION_ID, id.as_str());
    let mut last = None;
    let response = post(&server, &[session], &echo()).unwrap();
    let ended = response.events(|_, id, data| {
        assert!(data.is_empty(), "the answer does not come");
        last = id.map(str::to_owned);
        true
    });
    assert!(ended.is_err());
    let headers = [BOTH[0], session, (header::LAST_EVENT_ID, last.as_deref().expect("an id"))];
    let mut answer = Value::Null;
    let resumed = http::send("GET", server.url(), &headers, b"").unwrap();
    let ended = resumed.events(|_, _, data| {
        answer = serde_json::from_slice(data).unwrap();
        true
    });
    assert!(ended.is_ok());
    assert_eq!(text(&answer), "hello");

    let (server, id) = opened(&Script::new().fault("drop_stream:resumable=false,events=0"));
    let session = (header::SESSION_ID, id.as_str());
    assert!(post(&server, &[session], &echo()).unwrap().events(|_, _, _| panic!()).is_err());
    let headers = [BOTH[0], session, (header::LAST_EVENT_ID, "9-1")];
    assert_eq!(http::send("GET", server.url(), &headers, b"").unwrap().status, 400);
}

#[test]
fn hints_and_comments() {
    let script = Script { retry_ms: Some(1234), keep_alive_ms: Some(10), ..Script::new() };
    let (server, id) = opened(&script);
    let call = message(method::TOOLS_CALL, &json!({"name": "sleep", "arguments": {"ms": 3000}}));
    let body = post(&server, &[(header::SESSION_ID, &id)], &call).unwrap().body().unwrap();
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains("retry: 1234\n"), "{body}");
    assert!(body.matches(": keep-alive\n").count() > 2, "{body}");
}

#[test]
fn elsewhere() {
    let server = Scripted::http(&Script::new().fault("redirect"));
    let response = post(&server, &[], &initialize()).unwrap();
    assert_eq!((response.status, response.header("location")), (307, Some("/mcp/")));
    let there = format!("{}/", server.url());
    assert_eq!(http::send("POST", &there, &BOTH, initialize().as_bytes()).unwrap().status, 200);

    let server = Scripted::http(&Script::new().fault("redirect:to=other"));
    let response = post(&server, &[], &initialize()).unwrap();
    let other = server.other().expect("a second origin");
    assert_eq!(response.header("location"), Some(other));
    assert_eq!(http::send("POST", other, &BOTH, initialize().as_bytes()).unwrap().status, 200);
}

#[test]
fn in_the_stateless_era_to_leave_is_to_give_up() {
    let scratch = Scratch::new();
    let record = scratch.path().join("record");
    let server = Scripted::http(&Script::new().record(&record));
    let meta = json!({meta::PROTOCOL_VERSION: "2026-07-28", meta::CLIENT_CAPABILITIES: {}});
    let arguments = json!({"steps": 600, "ms": 50});
    let params = json!({"name": "progress", "arguments": arguments, meta::META: meta});
    let mut params = params;
    params[meta::META][meta::PROGRESS_TOKEN] = 1.into();
    let headers = [
        (header::PROTOCOL_VERSION, "2026-07-28"),
        (header::METHOD, method::TOOLS_CALL),
        (header::NAME, "progress"),
    ];
    let response = post(&server, &headers, &message(method::TOOLS_CALL, &params)).unwrap();
    response.events(|_, _, _| false).unwrap();
    let given_up = (0..1000).any(|_| {
        thread::sleep(Duration::from_millis(10));
        fs::read_to_string(&record).unwrap().contains("given_up")
    });
    assert!(given_up);
}
