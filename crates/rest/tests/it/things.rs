//! Agents, tokens, idempotency, the hub's own pages.

use serde_json::json;

use crate::kit::{Engine, World};

suite! {
    the_same_request_with_the_same_key_is_done_once,
    agents_are_made_changed_and_deleted_with_their_tokens,
    what_is_changed_is_what_was_read,
    a_link_is_told_once,
    lists_come_in_pages,
    the_hub_tells_of_itself,
}

async fn the_same_request_with_the_same_key_is_done_once(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let bob = world.bob();
    let keyed = bob.header("idempotency-key", "k-1");
    let new = json!({"name": "ci"});
    let first = keyed.post("/api/v1/agents/helper/tokens", new.clone()).await;
    let second = keyed.post("/api/v1/agents/helper/tokens", new.clone()).await;
    assert_eq!(first.expect(201), second.expect(201));
    assert_eq!(second.header("idempotency-replayed"), "true");
    let other = keyed.post("/api/v1/agents/helper/tokens", json!({"name": "other"})).await;
    assert_eq!(other.status, 422);
    let eve = world.client(&world.tokens.eve).header("idempotency-key", "k-1");
    assert_eq!(eve.post("/api/v1/tokens", new.clone()).await.status, 201, "a key is one's own");
    // Where it is and which one it is are a part of the answer.
    let new = json!({"name": "once", "entry": {"url": "http://127.0.0.1:9/mcp", "enabled": false}});
    let keyed = bob.header("idempotency-key", "k-4");
    let first = keyed.post("/api/v1/servers", new.clone()).await;
    let second = keyed.post("/api/v1/servers", new).await;
    assert_eq!(first.expect(201), second.expect(201));
    for name in ["etag", "location"] {
        assert!(!first.header(name).is_empty(), "{name}");
        assert_eq!(first.header(name), second.header(name), "{name}");
    }
    // What failed may be tried again.
    let again = bob.header("idempotency-key", "k-2");
    assert_eq!(again.post("/api/v1/agents", json!({"id": "not good"})).await.status, 422);
    assert_eq!(again.post("/api/v1/agents", json!({"id": "good"})).await.status, 201);
    // Whoever hangs up before the answer finds it done, once.
    let gone = bob.header("idempotency-key", "k-3");
    let body = Some(json!({"name": "gone"}).to_string());
    let path = "/api/v1/agents/helper/tokens";
    let asked = gone.open("POST", path, body);
    drop(tokio::time::timeout(std::time::Duration::from_millis(2), asked).await);
    let mut tries = 0;
    let found = loop {
        tries += 1;
        assert!(tries < 12_000, "it stays under way");
        let answer = gone.post(path, json!({"name": "gone"})).await;
        if answer.status != 409 {
            break answer;
        }
        assert_eq!(answer.json()["code"], "under_way");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    let known = gone.post(path, json!({"name": "gone"})).await;
    assert_eq!(found.expect(201), known.expect(201));
    let named = bob.get("/api/v1/agents/helper/tokens").await.expect(200);
    assert_eq!(named["items"].as_array().unwrap().len(), 3);
    world.stop().await;
}

async fn agents_are_made_changed_and_deleted_with_their_tokens(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (bob, ada) = (world.bob(), world.ada());
    let made = bob.post("/api/v1/agents", json!({"id": "cto", "servers": ["github"]})).await;
    assert_eq!(made.expect(201)["owner"], "bob");
    assert_eq!(bob.post("/api/v1/agents", json!({"id": "cto"})).await.status, 409);
    let others = json!({"id": "hers", "owner": "eve"});
    assert_eq!(bob.post("/api/v1/agents", others.clone()).await.status, 403);
    assert_eq!(ada.post("/api/v1/agents", others).await.expect(201)["owner"], "eve");
    let token = bob.post("/api/v1/agents/cto/tokens", json!({"name": "x", "expires_in": 60})).await;
    let token = token.expect(201);
    let agent = world.client(token["secret"].as_str().unwrap());
    assert_eq!(agent.get("/api/v1/me").await.expect(200)["agent"], "cto");
    assert_eq!(agent.get("/api/v1/agents/cto/tools").await.status, 200);
    assert_eq!(agent.get("/api/v1/agents/helper/tools").await.status, 404);

    let etag = bob.get("/api/v1/agents/cto").await.header("etag").to_owned();
    let held = bob.header("if-match", &etag);
    assert_eq!(held.put("/api/v1/agents/cto", json!({"enabled": false})).await.status, 200);
    assert_eq!(held.put("/api/v1/agents/cto", json!({})).await.status, 412);
    assert_eq!(agent.get("/api/v1/me").await.status, 401, "a disabled agent is nobody");
    bob.put("/api/v1/agents/cto", json!({})).await.expect(200);
    assert_eq!(agent.get("/api/v1/me").await.status, 200);
    let id = token["token"]["id"].as_str().unwrap();
    assert_eq!(bob.delete(&format!("/api/v1/tokens/{id}")).await.status, 204);
    assert_eq!(agent.get("/api/v1/me").await.status, 401);
    assert_eq!(held.delete("/api/v1/agents/cto").await.expect(412)["code"], "stale");
    let etag = bob.get("/api/v1/agents/cto").await.header("etag").to_owned();
    assert_eq!(bob.header("if-match", &etag).delete("/api/v1/agents/cto").await.status, 204);
    assert_eq!(bob.get("/api/v1/agents/cto").await.status, 404);
    world.stop().await;
}

async fn what_is_changed_is_what_was_read(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    let path = "/api/v1/users/bob";
    let read = bob.get(path).await.header("etag").to_owned();
    assert!(read.starts_with("\"r"), "{read}");
    let held = |etag: &str| bob.header("if-match", etag);
    let renamed = held(&read).put(path, json!({"name": "Bob"})).await;
    assert_eq!(renamed.expect(200)["name"], "Bob");
    assert_ne!(renamed.header("etag"), read);
    let stale = ada.header("if-match", &read).put(path, json!({"role": "administrator"})).await;
    assert_eq!(stale.expect(412)["code"], "stale");
    assert_eq!(bob.get(path).await.expect(200)["role"], "member");
    ada.put("/api/v1/users/bob/password", json!({"password": "correct horse"})).await.expect(204);
    assert_eq!(held(renamed.header("etag")).put(path, json!({})).await.status, 412);

    let entry = json!({"url": "http://127.0.0.1:9/mcp", "enabled": false});
    let made = bob.post("/api/v1/servers", json!({"name": "s", "entry": entry})).await;
    let old = made.header("etag").to_owned();
    for (verb, etag) in [("enable", "\"r2\""), ("disable", "\"r3\"")] {
        let path = format!("/api/v1/servers/s/{verb}");
        let before = bob.get("/api/v1/servers/s").await.header("etag").to_owned();
        let done = held(&before).send("POST", &path, None).await;
        assert_eq!((done.status, done.header("etag")), (200, etag), "{verb}");
        assert_eq!(held(&old).send("POST", &path, None).await.status, 412, "{verb}");
    }
    assert_eq!(held(&old).delete("/api/v1/servers/s").await.status, 412);
    assert_eq!(held("\"r3\"").delete("/api/v1/servers/s").await.status, 204);
    world.stop().await;
}

async fn a_link_is_told_once(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let path = "/api/v1/users/bob/sign-in-link";
    let keyed = world.ada().header("idempotency-key", "link-1");
    let first = keyed.send("POST", path, None).await;
    let link = first.expect(201)["path"].as_str().unwrap().to_owned();
    let again = keyed.send("POST", path, None).await;
    assert_eq!(again.header("content-type"), "application/problem+json");
    assert_eq!(again.expect(409)["code"], "told_once");
    assert!(!again.text.contains("swl_"), "{}", again.text);
    let acts = world.ada().get("/api/v1/audit?action=user.sign_in_link").await.expect(200);
    assert_eq!(acts["items"].as_array().unwrap().len(), 1, "no second link was made: {acts}");
    let other = world.ada().header("idempotency-key", "link-2").send("POST", path, None).await;
    assert_ne!(other.expect(201)["path"], link);
    world.stop().await;
}

async fn lists_come_in_pages(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let bob = world.bob();
    for n in 0..5 {
        bob.post("/api/v1/agents", json!({"id": format!("a{n}")})).await.expect(201);
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = bob.get(&format!("/api/v1/agents?limit=2{cursor}")).await.expect(200);
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|agent| agent["id"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["a0", "a1", "a2", "a3", "a4", "helper"]);
    world.stop().await;
}

async fn the_hub_tells_of_itself(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let nobody = world.nobody();
    let document = nobody.get("/api/v1/openapi.json").await.expect(200);
    assert!(document["paths"]["/api/v1/servers/{id}"]["put"]["responses"]["412"].is_object());
    let page = nobody.get("/api").await;
    assert!(page.text.contains("/api/v1/servers/{id}/approve"));
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    for word in ["http://", "https://", "<script", "style="] {
        assert!(!page.text.contains(word), "{word}");
    }
    // To nobody in particular, not even how many servers there are.
    assert_eq!(nobody.get("/readyz").await.expect(200), json!({"status": "ready"}));
    let entry = json!({"url": "http://127.0.0.1:9/mcp", "enabled": false});
    let new = json!({"name": "with \"quotes\"", "entry": entry});
    world.bob().post("/api/v1/servers", new).await.expect(201);
    let metrics = world.bob().get("/metrics").await.text;
    assert!(metrics.contains("switchboard_servers{state=\"disabled\"} 1"), "{metrics}");
    let label = r#"switchboard_server_up{server="user:bob:with \"quotes\""} 0"#;
    assert!(metrics.contains(label), "{metrics}");
    let others = world.client(&world.tokens.eve).get("/metrics").await.text;
    assert!(!others.contains("quotes"), "{others}");
    let all = world.ada().get("/metrics").await.text;
    assert!(all.contains("switchboard_records_dropped_total 0"), "{all}");
    let catalog = world.bob().get("/api/v1/catalog?limit=2").await.expect(200);
    assert_eq!(catalog["items"][1]["name"], "filesystem");
    world.stop().await;
}
