//! When faults begin and end, and what is noted of it all.

use std::fs;

use serde_json::{Value, json};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Rule, Script, Scripted};
use switchboard_wire::{Revision, method};

use crate::client::{Client, text};

const SESSION: Revision = Revision::V2025_11_25;

#[test]
fn for_some_starts() {
    let scratch = Scratch::new();
    let counter = scratch.path().join("starts");
    let script = Script::new().fault("crash_start").until_start(2, &counter);
    for start in 1..=4 {
        let mut client = Client::stdio(&script, SESSION);
        let id = client.ask(method::PING, json!({}));
        let answer = client.receive();
        assert_eq!(answer["id"] == id, start > 2, "start {start}: {answer}");
    }
    assert_eq!(fs::read_to_string(counter).unwrap(), "4");
}

#[test]
fn while_a_file_exists() {
    let scratch = Scratch::new();
    let file = scratch.write("broken", "");
    let script = Script::new().fault("error:tool=echo").while_file(&file);
    let mut client = Client::stdio(&script, SESSION);
    client.connect();
    assert_eq!(client.call("echo", json!({}))["error"]["code"], -32603);
    scratch.remove("broken");
    assert_eq!(text(&client.call("echo", json!({"text": "well"}))), "well");
}

#[test]
fn at_some_messages() {
    let rule = Rule::from("error").tool("echo").after(1).times(2);
    let mut client = Client::stdio(&Script::new().fault(rule), SESSION);
    client.connect();
    let failed: Vec<_> =
        (0..5).map(|_| client.call("echo", json!({})).get("error").is_some()).collect();
    assert_eq!(failed, [false, true, true, false, false]);
    assert!(client.call("pid", json!({})).get("result").is_some());
}

#[test]
fn what_was_received_is_on_record() {
    let scratch = Scratch::new();
    let file = scratch.path().join("record");
    let mut client = Client::http(&Script::new().record(&file), SESSION);
    client.connect();
    client.call("echo", json!({"text": "x"}));
    let lines = fs::read_to_string(file).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let call = lines.iter().find(|line| line["message"]["method"] == method::TOOLS_CALL).unwrap();
    assert_eq!(call["headers"]["mcp-protocol-version"], "2025-11-25");
    assert_eq!((&call["start"], &call["at"]), (&json!(1), &json!("http")));
}

#[test]
fn a_server_comes_back_where_it_was() {
    let mut server = Scripted::http(&Script::new());
    let (url, pid) = (server.url().to_owned(), server.pid());
    server.restart(&Script::new().fault("unavailable"));
    assert_eq!(server.url(), url);
    assert_ne!(server.pid(), pid);
    server.kill();
    assert!(crate::http::send("GET", &url, &[], b"").is_err());
}

#[test]
fn wrong_arguments_are_refused() {
    let check = |arguments: &[&str], said: &str| {
        let program = switchboard_testkit::script::binary();
        let output = std::process::Command::new(program).args(arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
    };
    check(&[], "nothing is no transport");
    check(&["pigeon"], "pigeon is no transport");
    check(&["stdio", "--only", "2020-01-01"], "--only does not take `2020-01-01`");
    check(&["stdio", "--fault", "explode"], "no fault");
    check(&["stdio", "--until-start", "1"], "--until-start needs --counter");
    check(&["stdio", "--script", "{\"toolz\":1}"], "unknown field `toolz`");
    check(&["stdio", "--page"], "--page needs a value");
}
