//! Servers beside others: of one configuration, behind a file's of the same name, used by several people.

use serde_json::{Value, json};
use switchboard_model::{Scope, Secret, ServerKey};
use switchboard_store::{Actor, CredentialKind, NewCredential};

use crate::kit::{Engine, World, global, user};

suite! {
    a_configuration_is_added_as_a_whole,
    the_catalog_is_asked_in_nebos_words,
    what_a_file_hides_is_changed_alone,
    what_went_wrong_is_told_to_who_may_change_it,
}

async fn a_configuration_is_added_as_a_whole(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let bob = world.bob();
    // Another instance has just added it, and nobody here knows yet.
    let taken = ServerKey { scope: Scope::User(user("bob")), ..global("taken") };
    let spec = crate::servers::off(&taken.name);
    world.store.servers().create(&taken, &spec, &Actor::system()).await.unwrap();
    let entry = json!({"url": "http://127.0.0.1:9/mcp"});
    let text = json!({"mcpServers": {"first": entry, "taken": entry, "zlast": entry}}).to_string();
    let answer = bob.post("/api/v1/servers", json!({"config": text})).await;
    assert_eq!(answer.expect(409)["code"], "exists");
    let rows = world.store.servers().list().await.unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row.key.name.as_str()).collect();
    assert_eq!(names, ["taken"]);
    world.stop().await;
}

async fn the_catalog_is_asked_in_nebos_words(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let bob = world.bob();
    for (number, (body, status, words)) in [
        (json!({"serverType": "Notion", "authType": "api_key", "apiKey": "k"}), 201, "notion"),
        (json!({"serverType": "slack", "apiKey": "k"}), 201, "slack-mcp"),
        (json!({"serverType": "memory", "authType": "none"}), 201, "memory"),
        (json!({"catalog": "github", "authType": "api_key", "apiKey": "k"}), 201, "github"),
        (json!({"serverType": "notion", "authType": "none", "apiKey": "k"}), 422, "takes a key"),
        (json!({"serverType": "memory", "authType": "api_key"}), 422, "takes no key"),
        (json!({"serverType": "notion", "authType": "oauth", "apiKey": "k"}), 422, "no signing in"),
        (json!({"serverType": "notion", "authType": "magic", "apiKey": "k"}), 422, "`authType` is"),
        (json!({"serverType": "notion", "catalog": "notion", "apiKey": "k"}), 422, "another word"),
        (json!({"serverType": "custom"}), 422, "the catalog has no"),
        (json!({"entry": {"url": "http://127.0.0.1:9/"}, "authType": "none"}), 422, "catalog"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut new = body.clone();
        new["name"] = json!(format!("s{number}"));
        let said = bob.post("/api/v1/servers", new.clone()).await.expect(status);
        let text = if status == 201 { &said["catalog"] } else { &said["detail"] };
        assert!(text.as_str().unwrap().contains(words), "{body}: {said}");
        if body["serverType"].is_string()
            && body["catalog"].is_null()
            && words != "the catalog has no"
        {
            new["name"] = json!(format!("n{number}"));
            assert_eq!(bob.post("/integrations", new).await.status, status, "{body}");
        }
    }
    let made = bob.post("/api/v1/servers", json!({"serverType": "Memory"})).await.expect(201);
    assert_eq!(made["name"], "memory");
    world.stop().await;
}

/// What is kept by the name of both is the file's.
async fn what_a_file_hides_is_changed_alone(engine: Engine<'_>) {
    let text =
        "[servers.filed]\nurl = \"http://127.0.0.1:9/mcp\"\nenabled = false\nauth = \"bearer\"\n";
    let world = World::with(engine, |_| vec![text.to_owned()]).await;
    let (ada, key, by) = (world.ada(), global("filed"), Actor::system());
    let (servers, credentials) = (world.store.servers(), world.store.credentials());
    let new = NewCredential {
        kind: CredentialKind::Bearer,
        value: Secret::new("the file's"),
        issuer: None,
        scopes: None,
        expires_at: None,
        target: [7; 32],
    };
    let row = servers.create(&key, &crate::servers::off(&key.name), &by).await.unwrap();
    world.hub.make_so().await.unwrap();
    for owner in [None, Some(user("bob"))] {
        credentials.set(&key, owner.as_ref(), &new, &by).await.unwrap();
    }
    world.store.tool_cache().put(&key, b"{}", "2025-11-25").await.unwrap();
    servers.note_status(&key, "failed", None, Some("the file's")).await.unwrap();
    world.hub.make_so().await.unwrap();
    let path = format!("/api/v1/servers/{}", row.id);
    let edit = json!({"entry": {"url": "http://127.0.0.1:9/elsewhere", "enabled": false}});
    let edited = ada.put(&path, edit).await.expect(200);
    assert_eq!(edited["source"]["shadowed"], true, "{edited}");
    assert_eq!(credentials.list().await.unwrap().len(), 2, "after an edit");
    assert_eq!(ada.delete(&path).await.status, 204);
    assert!(servers.get(&key).await.unwrap().is_none());
    assert_eq!(credentials.list().await.unwrap().len(), 2, "after it was deleted");
    assert!(world.store.tool_cache().get(&key).await.unwrap().is_some());
    let shown = ada.get("/api/v1/servers/global:filed").await.expect(200);
    assert_eq!(shown["stats"]["last_error"], "the file's", "{shown}");
    world.stop().await;
}

async fn what_went_wrong_is_told_to_who_may_change_it(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob, by) = (world.ada(), world.bob(), Actor::system());
    let own = ServerKey { scope: Scope::User(user("bob")), ..global("own") };
    for key in [global("all"), own] {
        let servers = world.store.servers();
        servers.create(&key, &crate::servers::off(&key.name), &by).await.unwrap();
        servers.note_status(&key, "failed", None, Some("of a call")).await.unwrap();
    }
    world.hub.make_so().await.unwrap();
    let (told, nothing) = (json!("of a call"), Value::Null);
    for (client, server, wanted) in
        [(&ada, "global:all", &told), (&bob, "global:all", &nothing), (&bob, "user:bob:own", &told)]
    {
        let shown = client.get(&format!("/api/v1/servers/{server}")).await.expect(200);
        assert_eq!(shown["stats"]["last_error"], *wanted, "{server}");
        let listed = client.get("/api/v1/servers").await.expect(200);
        let mut listed = listed["items"].as_array().unwrap().iter();
        let same = listed.find(|other| other["id"] == shown["id"]).unwrap();
        assert_eq!(same["stats"]["last_error"], *wanted, "{server}");
    }
    world.stop().await;
}
