//! From which level on a server logs: as low as the agents that are there want it, and no lower for ever.

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};

#[test]
fn a_level_goes_with_the_session_that_wanted_it() {
    let context = Context::new();
    let record = context.work().join("record");
    let script = Script::new().only("2025-11-25").record(&record);
    let text = entry("a", &script) + "\n[agents.cto]\nservers = [\"a\"]\n";
    let context = context.with("switchboard.toml", &text);
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let told = || -> Vec<String> {
        let text = std::fs::read_to_string(&record).unwrap_or_default();
        let rows = text.lines().filter(|line| line.contains("logging/setLevel"));
        let rows = rows.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        rows.filter_map(|row| Some(level(&row)?.to_owned())).collect()
    };
    let until =
        |expected: &[&str]| wait(&format!("it is told {expected:?}"), || told() == expected);
    let session = |level: &str| {
        let client = Client::session(&hub, "/mcp", &token);
        client.ask("logging/setLevel", json!({"level": level}));
        client.call("a__echo", json!({"text": format!("by {level}")}));
        client
    };
    let at = |what: &str| {
        let text = std::fs::read_to_string(&record).unwrap();
        text.lines().position(|line| line.contains(what)).unwrap()
    };
    // Whoever has chosen none may be there, and is not to hear less for it.
    let quiet = session("warning");
    until(&["info"]);
    let curious = session("debug");
    assert_eq!(told(), ["info", "debug"]);
    assert!(at("logging/setLevel") < at("by warning"), "it is told before the call");
    assert!(at("\"debug\"") < at("by debug"), "so is the next one");
    curious.end();
    until(&["info", "debug", "info"]);
    // One that stays, and wants something else.
    quiet.ask("logging/setLevel", json!({"level": "debug"}));
    until(&["info", "debug", "info", "debug"]);
    quiet.end();
    // Of nobody is left what most servers begin with.
    until(&["info", "debug", "info", "debug", "info"]);
}

/// The level in a message, wherever the record has it.
fn level(row: &Value) -> Option<&str> {
    match row {
        Value::Object(members) => match members.get("level") {
            Some(level) => level.as_str(),
            None => members.values().find_map(level),
        },
        _ => None,
    }
}
