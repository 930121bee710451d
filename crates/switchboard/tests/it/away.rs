//! The database goes away under a hub that works: calls go on, what they leave is kept until it is back,
//! and nobody is let in who was not known.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::script::Script;
use switchboard_testkit::{Postgres, repetitions};

use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};
use crate::rest::person;

#[test]
fn prove_calls_go_on_without_the_database() {
    let mut server = Postgres::start();
    if !server.is_own() {
        return;
    }
    let store =
        format!("[hub]\nstore = {:?}\n{}", server.database_by_tcp(), entry("a", &Script::new()));
    let context = Context::new().with("switchboard.toml", &store);
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let admin = person(&context, "admin");
    let call = json!({"name": "mcp__a__echo", "arguments": {"text": "x"}});
    let made = |hub: &Hub| {
        let answer = hub.rest("POST", "/api/v1/tools/call", &admin, Some(&call));
        assert_eq!(answer.body["content"][0]["text"], "x", "{}", answer.body);
    };
    made(&hub);
    server.stop();
    // So many seconds, and more.
    let away = 50 * repetitions(60);
    for _ in 0..away {
        made(&hub);
        std::thread::sleep(Duration::from_millis(20));
    }
    let calls = u64::from(away) + 1;
    assert_eq!(hub.rest("GET", "/api/v1/me", "swb_unknown", None).status, 401);
    let refused = hub.rest("GET", "/api/v1/audit", &admin, None);
    assert_eq!((refused.status, &refused.body["code"]), (503, &json!("store_away")));
    server.start_again();
    let mut counted = Value::Null;
    wait("every call is written down", || {
        let totals = hub.rest("GET", "/api/v1/usage/totals", &admin, None);
        counted = totals.body["totals"][0]["counts"]["calls"].clone();
        totals.status == 200 && counted.as_u64() == Some(calls)
    });
    assert_eq!(context.json(&["audit", "verify"])["whole"], true);
}

#[test]
fn what_changed_meanwhile_is_written_when_it_is_back() {
    let mut server = Postgres::start();
    if !server.is_own() {
        return;
    }
    let url = server.database_by_tcp();
    let store = format!("[hub]\nstore = {url:?}\n");
    let (a, b) = (entry("a", &Script::new()), entry("b", &Script::new().tools(3)));
    let context = Context::new().with("switchboard.toml", &format!("{store}{a}"));
    let log = context.work().join("log");
    let hub = Hub::start_logging(&context, &log);
    connected(&context, &["a"]);
    let admin = person(&context, "admin");
    wait("the catalog of a is kept", || {
        server.ask(&url, "SELECT server FROM tool_cache") == "global/a"
    });
    server.stop();
    context.write("switchboard.toml", &format!("{store}{b}"));
    connected(&context, &["b"]);
    std::thread::sleep(Duration::from_secs(5));
    server.start_again();
    wait("how b stands is written down", || {
        let stats = hub.rest("GET", "/api/v1/servers/b", &admin, None).body["stats"].clone();
        stats["connection_status"] == "connected" && stats["tool_count"].as_u64() > Some(3)
    });
    wait("the catalog of b is kept, and a's no longer", || {
        server.ask(&url, "SELECT server FROM tool_cache") == "global/b"
    });
    // Declared in another way, it may offer something else.
    let broken = entry("b", &Script::new().fault("crash_start"));
    context.write("switchboard.toml", &format!("{store}{broken}"));
    wait("what is kept of b is doubted", || {
        server.ask(&url, "SELECT stale FROM tool_cache") == "1"
    });
    let last = "SELECT content FROM snapshots";
    wait("what is known is kept", || server.ask(&url, last).contains("\"b\""));
    // Each part of the hub says so once.
    let log = std::fs::read_to_string(&log).unwrap();
    let said = log.lines().filter(|line| line.contains("again and again")).count();
    assert!((1..=6).contains(&said), "{said} times:\n{log}");
}
