//! What is secret goes in and never comes out.

use serde_json::json;
use switchboard_store::NewEvent;
use switchboard_testkit::script::{Script, Scripted};

use crate::kit::{Engine, World};
use crate::matrix::CASES;

suite! {
    no_answer_holds_a_secret,
}

const CANARY: &str = "c4n4ry-s3cret-v4lue";

async fn no_answer_holds_a_secret(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, server) = (world.ada(), Scripted::http(&Script::new()));
    let entry = json!({"url": server.url(), "headers": {"x-key": CANARY},
        "auth": {"type": "bearer", "token": CANARY}});
    let new = json!({"name": "kept", "scope": "global", "entry": entry});
    let mut texts = vec![ada.post("/api/v1/servers", new).await.text];
    let entry = json!({"command": "npx", "args": ["--api-key", CANARY], "env": {"KEY": CANARY}});
    let new = json!({"name": "command", "scope": "global", "entry": entry});
    texts.push(ada.post("/api/v1/servers", new).await.text);
    let credential = json!({"kind": "bearer", "value": CANARY});
    let path = "/api/v1/servers/global:kept/credential";
    texts.push(ada.put(path, credential).await.text);
    let known = world.store.credentials().list().await.unwrap();
    assert_eq!(known.len(), 1);
    let password = json!({"id": "kim", "password": CANARY});
    texts.push(ada.post("/api/v1/users", password).await.text);
    // A fault in what was sent is told without the secret in it.
    let bad = json!({"name": "x", "entry": {"url": 7, "headers": {"x-key": [CANARY]}}});
    texts.push(ada.post("/api/v1/servers", bad).await.text);
    let bad =
        json!({"config": format!("{{\"mcpServers\": {{\"x\": {{\"env\": {{\"K\": \"{CANARY}\"")});
    texts.push(ada.post("/api/v1/servers", bad).await.text);
    let event = NewEvent {
        kind: "server.state".to_owned(),
        user: None,
        server: None,
        payload: json!({"to": "connected"}),
    };
    world.store.events().append(&event).await.unwrap();
    for case in CASES.iter().filter(|case| case.method == "GET") {
        if case.path.ends_with("/events") {
            continue;
        }
        for id in ["global:kept", "global:command"] {
            let path = case.path.replace("{server}", id).replace("{agent}", "helper");
            texts.push(ada.get(&path).await.text);
        }
    }
    for verb in ["test", "reconnect", "disable", "enable"] {
        let path = format!("/api/v1/servers/global:kept/{verb}");
        texts.push(ada.send("POST", &path, None).await.text);
    }
    assert!(texts.iter().all(|text| !text.is_empty()));
    for text in &texts {
        assert!(!text.contains(CANARY), "{text}");
    }
    assert_eq!(ada.delete(path).await.status, 204);
    assert!(world.store.credentials().list().await.unwrap().is_empty());
    world.stop().await;
}
