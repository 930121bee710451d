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
    let store = format!("[hub]\nstore = {:?}\n{}", server.database(), entry("a", &Script::new()));
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
