//! No route lets a member start a command line that no administrator approved.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};

use crate::kit::{Engine, World};
use crate::matrix::CASES;

suite! {
    nothing_starts_without_an_administrator,
    an_edit_takes_the_approval_away,
}

/// A command that leaves a mark and then serves.
fn marking(mark: &Path) -> Value {
    let (program, arguments) = Scripted::stdio(&Script::new());
    let line = "touch \"$0\"; exec \"$@\"";
    let mut args = vec![json!("-c"), json!(line), json!(mark), json!(program)];
    args.extend(arguments.into_iter().map(Value::from));
    json!({"command": "/bin/sh", "args": args})
}

async fn nothing_starts_without_an_administrator(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    let mark = world.scratch.path().join("mark");
    let entry = marking(&mark);
    let made =
        bob.post("/api/v1/servers", json!({"name": "cmd", "entry": entry})).await.expect(201);
    assert_eq!(made["state"]["code"], "needs_approval");
    assert_eq!(made["approval"]["approved"], false);
    let (id, hash) = (made["id"].as_str().unwrap(), made["approval"]["hash"].clone());
    let bold = json!({"name": "bold", "entry": entry, "approve": true});
    assert_eq!(bob.post("/api/v1/servers", bold).await.status, 403);

    let agent = world.client(&world.tokens.agent);
    let deletes = |method: &str| method == "DELETE";
    for case in CASES.iter().filter(|case| !deletes(case.method)) {
        let path = case.path.replace("{server}", id).replace("{agent}", "helper");
        let mut body = case.body.to_owned();
        if case.path.ends_with("/approve") {
            body = json!({"hash": hash}).to_string();
        } else if case.method == "PUT" && case.path.ends_with("{server}") {
            body = json!({"entry": entry}).to_string();
        } else if case.path.ends_with("/call") {
            body = json!({"name": "mcp__cmd__echo", "arguments": {}}).to_string();
        } else if case.path.ends_with("/mcp/reconnect") {
            body = json!({"server_name": "cmd"}).to_string();
        } else if case.method == "POST" && case.path == "/api/mcp" {
            let (command, args) = (&entry["command"], &entry["args"]);
            body = json!({"name": "cmd", "transport": "stdio", "command": command, "args": args})
                .to_string();
        } else if case.method == "POST" && case.path == "/integrations" {
            let (command, args) = (&entry["command"], &entry["args"]);
            body = json!({"name": "third", "serverType": "custom", "transportType": "stdio",
                "command": command, "commandArgs": args})
            .to_string();
        }
        for client in [&bob, &agent] {
            let body = Some(body.clone()).filter(|body| !body.is_empty());
            drop(client.open(case.method, &path, body).await);
        }
    }
    let runs = bob.send("POST", &format!("/api/v1/servers/{id}/enable"), None).await.expect(200);
    assert_eq!(runs["state"]["code"], "needs_approval");
    let tested = bob.send("POST", &format!("/api/v1/servers/{id}/test"), None).await.expect(200);
    assert_eq!((&tested["success"], &tested["tool_count"]), (&json!(false), &json!(0)));
    assert_eq!(tested["server"]["state"]["code"], "needs_approval");
    assert!(!mark.exists(), "a member started a command line");

    let other = json!({"hash": "00".repeat(32)});
    assert_eq!(ada.post(&format!("/api/v1/servers/{id}/approve"), other).await.status, 412);
    let approve = json!({"hash": hash});
    let runs = ada.post(&format!("/api/v1/servers/{id}/approve"), approve).await.expect(200);
    assert_eq!(runs["state"]["code"], "connected", "{runs}");
    assert_eq!(runs["approval"]["by"], "ada");
    assert!(mark.exists());
    world.stop().await;
}

async fn an_edit_takes_the_approval_away(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    let mark = world.scratch.path().join("mark");
    let entry = marking(&world.scratch.path().join("first"));
    let new = json!({"name": "cmd", "scope": "global", "entry": entry});
    let made = ada.post("/api/v1/servers", new).await.expect(201);
    assert_eq!(made["state"]["code"], "needs_approval", "an administrator's own waits too");
    let new = json!({"name": "now", "scope": "global", "entry": entry, "approve": true});
    let made = ada.post("/api/v1/servers", new).await.expect(201);
    assert_eq!(made["state"]["code"], "connected", "{made}");
    let logs = ada.get("/api/v1/servers/now/logs?lines=5").await.expect(200);
    assert!(logs["lines"].is_array());
    assert_eq!(bob.get("/api/v1/servers/now/logs").await.status, 403);

    let edit = json!({"entry": marking(&mark)});
    let edited = ada.put("/api/v1/servers/now", edit.clone()).await.expect(200);
    assert_eq!(edited["state"]["code"], "needs_approval");
    assert_eq!(edited["state"]["pid"], Value::Null);
    let agreed = json!({"entry": edit["entry"], "approve": true});
    let edited = ada.put("/api/v1/servers/now", agreed).await.expect(200);
    assert_eq!(edited["state"]["code"], "connected", "{edited}");
    assert!(mark.exists());
    let status = world.hub.upstreams.status_of(&crate::kit::global("cmd")).unwrap();
    assert_eq!(status.state.code(), "needs_approval");
    world.stop().await;
}
