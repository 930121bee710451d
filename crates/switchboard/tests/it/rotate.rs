//! The master key is changed under a hub: it follows where it can, and where it cannot, nobody is told that
//! all is well, and nothing is lost.

use std::process::Command;

use serde_json::json;
use switchboard_testkit::script::Script;

use crate::context::Context;
use crate::hub::{Hub, connected, entry};
use crate::rest::person;

#[test]
fn a_hub_follows_a_key_that_it_can_read_again() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let hub = Hub::start(&context);
    context.ok(&["vault", "rotate"]);
    person(&context, "anna");
    assert_eq!(hub.rest("GET", "/readyz", "", None).status, 200);
    // It would not look for it there.
    let moved = context.run(&["vault", "rotate", "--to", "file"]);
    assert!(moved.code == 1 && moved.err.contains("stop it, rotate"), "{moved:?}");
}

#[test]
fn a_key_of_the_environment_is_not_changed_under_a_hub() {
    let context = Context::new()
        .with("switchboard.toml", &entry("a", &Script::new()))
        .variable("SWITCHBOARD_MASTER_KEY", &"11".repeat(32))
        .variable("SWITCHBOARD_NEW_MASTER_KEY", &"22".repeat(32));
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let admin = person(&context, "admin");
    let refused = context.run(&["vault", "rotate"]);
    assert!(refused.code == 1 && refused.err.contains("stop it, rotate"), "{refused:?}");
    assert_eq!(hub.rest("GET", "/readyz", "", None).status, 200);

    // Somebody does it where this hub is not known.
    let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
    let elsewhere = context.work().join("state");
    let command = context.prepare(command.args(["vault", "rotate"]));
    assert!(command.env("SWITCHBOARD_STATE_DIR", elsewhere).status().unwrap().success());
    let ready = hub.rest("GET", "/readyz", "", None);
    assert_eq!((ready.status, &ready.body["code"]), (503, &json!("key_changed")));
    let new = json!({"id": "anna", "name": "Anna", "role": "member"});
    let refused = hub.rest("POST", "/api/v1/users", &admin, Some(&new));
    assert_eq!((refused.status, &refused.body["code"]), (503, &json!("key_changed")));
    let call = json!({"name": "mcp__a__echo", "arguments": {"text": "x"}});
    for _ in 0..3 {
        let answer = hub.rest("POST", "/api/v1/tools/call", &admin, Some(&call));
        assert_eq!(answer.body["content"][0]["text"], "x", "{}", answer.body);
    }
    std::thread::sleep(std::time::Duration::from_secs(1));
    let metrics = hub.rest("GET", "/metrics", &admin, None).text;
    assert!(metrics.contains("switchboard_records_dropped_total 0"), "{metrics}");
}
