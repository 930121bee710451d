//! Secrets of servers in edits: what is read can be sent back, and what is kept stays where it was.

use serde_json::{Value, json};
use switchboard_model::ServerSpec;

use crate::kit::{Engine, World};
use crate::servers::own;

suite! {
    what_is_read_can_be_sent_back,
    members_cannot_reach_the_hubs_environment,
    what_is_kept_stays_where_it_was,
}

async fn what_is_read_can_be_sent_back(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    let url = json!({"url": "http://127.0.0.1:9/mcp?key=sesame", "enabled": false, "timeout": "5s",
        "headers": {"X-Key": "sesame"}, "auth": {"type": "bearer", "token": "sesame"},
        "tools": {"deny": ["delete_*"]}, "description": "old"});
    let command = json!({"command": "npx", "args": ["-y", "x", "--token", "sesame"],
        "env": {"KEY": "sesame"}, "cwd": "/tmp", "call_timeout": "2m"});
    for (name, entry) in [("url", url), ("command", command)] {
        let new = json!({"name": name, "entry": entry});
        bob.post("/api/v1/servers", new).await.expect(201);
        let path = format!("/api/v1/servers/user:bob:{name}");
        let before = world.store.servers().get(&own(name)).await.unwrap().unwrap().spec;
        for client in [&bob, &ada] {
            let read = client.get(&path).await;
            let mut entry = read.expect(200)["entry"].clone();
            assert!(!entry.to_string().contains("sesame"), "{entry}");
            entry["description"] = json!("new");
            client.put(&path, json!({"entry": entry})).await.expect(200);
        }
        let after = world.store.servers().get(&own(name)).await.unwrap().unwrap().spec;
        let wanted = ServerSpec { description: Some("new".to_owned()), ..(*before).clone() };
        assert_eq!(*after, wanted);
    }
    let masked = bob.get("/api/v1/servers/url").await.expect(200);
    let mut entry = masked["entry"].clone();
    assert_eq!((&entry["url"], &entry["auth"]["token"]), (&Value::Null, &Value::Null));
    entry["url"] = masked["target"].clone();
    let refused = bob.put("/api/v1/servers/url", json!({"entry": entry})).await.expect(422);
    assert!(refused["detail"].as_str().unwrap().contains("`url` holds `***`"), "{refused}");

    let entry = json!({"url": "http://127.0.0.1:9/mcp", "enabled": false});
    let shared = json!({"name": "shared", "scope": "global", "entry": entry});
    ada.post("/api/v1/servers", shared).await.expect(201);
    let path = "/api/v1/servers/global:shared";
    assert_eq!(bob.get(path).await.expect(200)["entry"], Value::Null, "it is not his to change");
    assert_eq!(ada.get(path).await.expect(200)["entry"], entry);
    for (client, wanted) in [(&bob, Value::Null), (&ada, entry)] {
        let list = client.get("/api/v1/servers").await.expect(200);
        let all = list["items"].as_array().unwrap();
        let shared = all.iter().find(|server| server["name"] == "shared").unwrap();
        assert_eq!(shared["entry"], wanted);
    }
    world.stop().await;
}

async fn members_cannot_reach_the_hubs_environment(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (bob, ada) = (world.bob(), world.ada());
    let entries = [
        json!({"url": "http://127.0.0.1:9/${HUB_SECRET}"}),
        json!({"url": "http://127.0.0.1:9/", "headers": {"x": "Bearer ${HUB_SECRET}"}}),
        json!({"url": "http://127.0.0.1:9/", "auth": {"type": "bearer", "token": "${HUB_SECRET}"}}),
        json!({"command": "env", "args": ["${HUB_SECRET:-no}"]}),
        json!({"command": "env", "env": {"X": "${HUB_SECRET}"}}),
        json!({"command": "env", "cwd": "${HOME}"}),
    ];
    for entry in entries {
        let new = json!({"name": "leak", "entry": entry});
        let answer = bob.post("/api/v1/servers", new).await;
        assert!(answer.expect(422)["detail"].as_str().unwrap().contains("environment"), "{entry}");
    }
    let pasted = r#"{"mcpServers": {"leak": {"url": "http://127.0.0.1:9/${HUB_SECRET}"}}}"#;
    assert_eq!(bob.post("/api/v1/servers", json!({"config": pasted})).await.status, 422);
    assert_eq!(bob.post("/api/v1/servers", json!({"catalog": "github"})).await.status, 422);
    let plain = json!({"name": "leak", "entry": {"url": "http://127.0.0.1:9/", "enabled": false}});
    bob.post("/api/v1/servers", plain).await.expect(201);
    let edit = json!({"entry": {"url": "http://127.0.0.1:9/${HUB_SECRET}"}});
    assert_eq!(bob.put("/api/v1/servers/leak", edit.clone()).await.status, 422);
    let new = json!({"name": "fine", "scope": "global", "entry": edit["entry"]});
    assert_eq!(ada.post("/api/v1/servers", new).await.status, 201);

    // An administrator may write it for a member, who does not get at it by keeping it.
    let lent =
        json!({"url": "http://127.0.0.1:9/", "headers": {"authorization": "Bearer ${HUB_SECRET}"}});
    let new = json!({"name": "lent", "owner": "bob", "entry": lent});
    ada.post("/api/v1/servers", new).await.expect(201);
    for url in ["http://127.0.0.1:10/", "http://127.0.0.1:9/"] {
        let edit = json!({"entry": {"url": url, "headers": {"Authorization": null}}});
        assert_eq!(bob.put("/api/v1/servers/lent", edit).await.status, 422, "{url}");
    }
    let edit = json!({"serverUrl": "http://127.0.0.1:10/"});
    assert_eq!(bob.put("/integrations/user:bob:lent", edit).await.status, 422);
    let row = world.store.servers().list().await.unwrap();
    let row = row.iter().find(|row| row.key.name.as_str() == "lent").unwrap();
    assert_eq!(row.spec.target(), "http://127.0.0.1:9/");
    world.stop().await;
}

/// A secret that nobody can read goes to nobody else by being kept.
async fn what_is_kept_stays_where_it_was(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (bob, ada) = (world.bob(), world.ada());
    let far = json!({"url": "http://127.0.0.1:9/a", "enabled": false, "headers": {"x-key": "canary"}, "auth": "bearer"});
    let near = json!({"command": "srv", "args": ["a"], "cwd": "/tmp", "env": {"KEY": "canary"}});
    for (name, entry) in [("far", &far), ("near", &near)] {
        let new = json!({"name": name, "owner": "bob", "entry": entry});
        ada.post("/api/v1/servers", new).await.expect(201);
    }
    let credential = json!({"kind": "bearer", "value": "canary"});
    bob.put("/api/v1/servers/far/credential", credential).await.expect(200);
    let cases = [
        ("far", json!({"url": "http://127.0.0.1:10/a", "headers": {"x-key": null}}), 422),
        ("far", json!({"url": "http://127.0.0.1:9/b", "headers": {"x-key": null}}), 422),
        (
            "near",
            json!({"command": "evil", "args": ["a"], "cwd": "/tmp", "env": {"KEY": null}}),
            422,
        ),
        (
            "near",
            json!({"command": "srv", "args": ["b"], "cwd": "/tmp", "env": {"KEY": null}}),
            422,
        ),
        ("near", json!({"command": "srv", "args": ["a"], "env": {"KEY": null}}), 422),
        (
            "far",
            json!({"url": "http://127.0.0.1:9/a", "description": "x", "headers": {"x-key": null}}),
            200,
        ),
        (
            "near",
            json!({"command": "srv", "args": ["a"], "cwd": "/tmp", "env": {"KEY": null}}),
            200,
        ),
    ];
    for (name, entry, status) in cases {
        for client in [&bob, &ada] {
            let path = format!("/api/v1/servers/user:bob:{name}");
            let answer = client.put(&path, json!({"entry": entry})).await;
            assert_eq!(answer.status, status, "{entry}: {}", answer.text);
        }
    }
    let moved = json!({"serverUrl": "http://127.0.0.1:10/a"});
    assert_eq!(bob.put("/integrations/user:bob:far", moved).await.status, 422);
    // What was lent for one address is not sent to another.
    assert_eq!(world.store.credentials().list().await.unwrap().len(), 1);
    let moved = json!({"entry": {"url": "http://127.0.0.1:10/a", "auth": "bearer"}});
    bob.put("/api/v1/servers/far", moved).await.expect(200);
    assert!(world.store.credentials().list().await.unwrap().is_empty());
    world.stop().await;
}
