//! Credentials of one's own for what everybody has: each reaches the same server over a connection of
//! their own.

use serde_json::{Value, json};
use switchboard_model::{Scope, ServerKey};

use crate::kit::{Engine, World, global, user};

suite! {
    everybody_may_have_their_own,
    an_administrator_says_which_is_meant,
}

const PATH: &str = "/api/v1/servers/global:wiki/credential";

async fn shared(world: &World, auth: Value) {
    let entry = json!({"url": "http://127.0.0.1:9/mcp", "enabled": false, "auth": auth});
    let new = json!({"name": "wiki", "scope": "global", "entry": entry});
    world.ada().post("/api/v1/servers", new).await.expect(201);
}

fn own(id: &str) -> ServerKey {
    ServerKey { scope: Scope::User(user(id)), ..global("wiki") }
}

async fn everybody_may_have_their_own(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob, eve) = (world.ada(), world.bob(), world.client(&world.tokens.eve));
    // With a token for everybody, whoever has their own does without it.
    shared(&world, json!({"type": "bearer", "token": "everybody's"})).await;
    let given = json!({"kind": "bearer", "value": "bob's"});
    assert_eq!(bob.put(PATH, json!({"kind": "api_key", "value": "x"})).await.status, 422);
    let mine = bob.put(PATH, given.clone()).await.expect(200);
    assert_eq!((&mine["scope"], &mine["owner"]), (&json!("user"), &json!("bob")), "{mine}");
    let (kind, of) = (&mine["source"]["kind"], &mine["source"]["shared"]);
    let everybodys = ada.get("/api/v1/servers/global:wiki").await.expect(200);
    assert_eq!((kind, of), (&json!("credential"), &everybodys["id"]));
    for (client, has) in [(&bob, true), (&eve, false), (&ada, false)] {
        let seen = client.get("/api/v1/servers/global:wiki").await.expect(200);
        assert_eq!(seen["your_credential"], has, "{seen}");
    }
    assert_eq!(eve.get("/api/v1/servers/user:bob:wiki").await.status, 404);
    assert_eq!(eve.delete("/api/v1/servers/user:bob:wiki/credential").await.status, 404);
    assert_eq!(eve.delete(PATH).await.status, 404, "she has none");
    // It is everybody's as far as its declaration goes.
    let refused = bob.delete("/api/v1/servers/user:bob:wiki").await.expect(409);
    assert_eq!(refused["code"], "shared_server");
    let runs = |id: &str| world.hub.upstreams.status_of(&own(id)).map(|status| status.spec);
    assert!(runs("bob").is_some() && runs("eve").is_none());
    let edit = json!({"entry": {"url": "http://127.0.0.1:9/mcp", "enabled": false, "auth": "bearer", "description": "new"}});
    ada.put("/api/v1/servers/global:wiki", edit).await.expect(200);
    assert_eq!(runs("bob").unwrap().description.as_deref(), Some("new"));

    // Whoever names it by its name alone means the one of their own.
    assert_eq!(bob.get("/api/v1/servers/wiki").await.expect(200)["scope"], "user");
    assert_eq!(bob.delete("/api/v1/servers/wiki/credential").await.status, 204);
    assert!(runs("bob").is_none());
    assert_eq!(bob.get("/api/v1/servers/wiki").await.expect(200)["scope"], "global");
    eve.put(PATH, given.clone()).await.expect(200);
    assert!(runs("eve").is_some());
    assert_eq!(ada.delete("/api/v1/users/eve").await.status, 204);
    assert!(runs("eve").is_none());
    bob.put(PATH, given.clone()).await.expect(200);
    // A server that is really one's own counts before it.
    let entry = json!({"url": "http://127.0.0.1:9/mine", "enabled": false});
    bob.post("/api/v1/servers", json!({"name": "wiki", "entry": entry})).await.expect(201);
    assert_eq!(runs("bob").unwrap().target(), "http://127.0.0.1:9/mine");
    assert_eq!(ada.delete("/api/v1/servers/global:wiki").await.status, 204);
    assert!(world.store.credentials().list().await.unwrap().is_empty());
    world.stop().await;
}

async fn an_administrator_says_which_is_meant(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    shared(&world, json!("bearer")).await;
    let given = |whose: Value| json!({"kind": "bearer", "value": "v", "for": whose});
    let cases = [
        (&ada, Value::Null, 200, "global"),
        (&ada, json!("server"), 200, "global"),
        (&ada, json!("me"), 200, "user"),
        (&bob, Value::Null, 200, "user"),
        (&bob, json!("me"), 200, "user"),
        (&bob, json!("server"), 403, ""),
        (&bob, json!("them"), 422, ""),
    ];
    for (client, whose, status, scope) in cases {
        let answer = client.put(PATH, given(whose.clone())).await.expect(status);
        assert_eq!(answer["scope"].as_str().unwrap_or_default(), scope, "{whose} {answer}");
    }
    let owners = async || -> Vec<String> {
        let all = world.store.credentials().list().await.unwrap();
        all.iter()
            .map(|known| known.owner.as_ref().map_or("", |user| user.as_str()).to_owned())
            .collect()
    };
    assert_eq!(owners().await, ["", "ada", "bob"]);
    assert_eq!(bob.delete(&format!("{PATH}?for=server")).await.status, 403);
    assert_eq!(ada.delete(&format!("{PATH}?for=me")).await.status, 204);
    assert_eq!(owners().await, ["", "bob"]);
    assert_eq!(ada.delete(PATH).await.status, 204);
    // An administrator may forget somebody's for them.
    assert_eq!(ada.delete("/api/v1/servers/user:bob:wiki/credential").await.status, 204);
    assert!(owners().await.is_empty());
    let entry = json!({"url": "http://127.0.0.1:9/", "enabled": false, "auth": "bearer"});
    bob.post("/api/v1/servers", json!({"name": "mine", "entry": entry})).await.expect(201);
    let refused = bob.put("/api/v1/servers/mine/credential", given(json!("me"))).await;
    assert_eq!(refused.status, 422);
    world.stop().await;
}
