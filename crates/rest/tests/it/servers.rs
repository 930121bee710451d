//! Servers over the API: added in each way, changed, tested, deleted; each answer says how it stands.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_model::{
    Auth, HttpKind, HttpSpec, Scope, ServerKey, ServerName, ServerSpec, Template, Transport,
};
use switchboard_rest::port::Hub as _;
use switchboard_testkit::script::{Script, Scripted};

use crate::kit::{Engine, World, user};

suite! {
    an_entry_lives_and_is_used,
    an_edit_is_for_what_was_read,
    this_hub_in_a_configuration_is_no_server,
    a_server_may_be_called_like_a_part_of_a_file,
    a_credential_that_has_no_effect_is_not_taken,
    every_fault_of_an_entry_comes_back,
    the_catalog_and_clients_configurations_work,
    what_files_declare_stays_theirs,
    whoever_hangs_up_leaves_nothing_half_done,
}

/// A server that is switched off.
pub(crate) fn off(name: &ServerName) -> ServerSpec {
    let url = Template::literal("http://127.0.0.1:9/mcp");
    let http = HttpSpec { kind: HttpKind::Streamable, url, headers: Default::default() };
    let spec = ServerSpec::new(name.clone(), Transport::Http(http));
    ServerSpec { enabled: false, auth: Auth::Bearer { token: None }, ..spec }
}

async fn an_entry_lives_and_is_used(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (bob, server) = (world.bob(), Scripted::http(&Script::new()));
    let entry = json!({"url": server.url(), "headers": {"x-key": "canary-1"}});
    let new = json!({"name": "things", "entry": entry});
    let answer = bob.post("/api/v1/servers", new.clone()).await;
    let made = answer.expect(201);
    assert_eq!(made["state"]["code"], "connected", "{made}");
    // No answer contradicts itself.
    assert_eq!(made["stats"]["connection_status"], "connected", "{made}");
    assert_eq!(made["stats"]["tool_count"], made["state"]["tools"], "{made}");
    assert!(made["stats"]["last_connected_at"].is_string(), "{made}");
    let location = format!("/api/v1/servers/{}", made["id"].as_str().unwrap());
    assert_eq!((answer.header("location"), answer.header("etag")), (&*location, "\"r1\""));
    assert_eq!((&made["scope"], &made["owner"]), (&json!("user"), &json!("bob")));
    assert_eq!(made["headers"], json!(["x-key"]));
    let tools = made["state"]["tools"].as_u64().unwrap();
    assert!(tools > 0);
    assert_eq!(bob.post("/api/v1/servers", new).await.expect(409)["code"], "exists");

    let id = made["id"].as_str().unwrap();
    let path = format!("/api/v1/servers/{id}");
    assert_eq!(bob.get("/api/v1/servers/things").await.expect(200)["id"], made["id"]);
    assert_eq!(bob.get("/api/v1/servers/user:bob:things").await.expect(200)["id"], made["id"]);
    let tested = bob.send("POST", &format!("{path}/test"), None).await.expect(200);
    assert_eq!((&tested["success"], &tested["tool_count"]), (&json!(true), &json!(tools)));
    assert_eq!(tested["server"]["stats"]["connection_status"], "connected");
    assert_eq!(tested["server"]["stats"]["tool_count"], tools);

    let listed = bob.get("/api/v1/tools?server=things").await.expect(200);
    let names: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"mcp__things__echo"), "{names:?}");
    let few = bob.get("/api/v1/tools?query=ECHO%20things&limit=1").await.expect(200);
    assert_eq!(few["items"][0]["original"], "echo", "{few}");
    let arguments = json!({"name": "mcp__things__echo", "arguments": {"text": "hello"}});
    for token in [&world.tokens.bob, &world.tokens.agent] {
        let called = world.client(token).post("/api/v1/tools/call", arguments.clone()).await;
        assert!(called.expect(200)["content"][0]["text"].as_str().unwrap().contains("hello"));
    }
    let others = world.client(&world.tokens.eve);
    assert_eq!(others.post("/api/v1/tools/call", arguments).await.status, 404);
    assert_eq!(others.get(&path).await.status, 404);

    let stopped = bob.send("POST", &format!("{path}/disable"), None).await.expect(200);
    assert_eq!(stopped["state"]["code"], "disabled");
    let runs = bob.send("POST", &format!("{path}/enable"), None).await.expect(200);
    assert_eq!(runs["state"]["code"], "connected");
    let again = bob.send("POST", &format!("{path}/reconnect"), None).await.expect(200);
    assert_eq!(again["state"]["code"], "connected");
    assert_eq!(bob.delete(&path).await.status, 204);
    assert_eq!(bob.get(&path).await.status, 404);
    assert!(world.hub.upstreams.status().is_empty());
    world.stop().await;
}

async fn an_edit_is_for_what_was_read(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let bob = world.bob();
    let entry = json!({"url": "http://127.0.0.1:9/mcp", "enabled": false, "headers": {"a": "1"}});
    let made = bob.post("/api/v1/servers", json!({"name": "one", "entry": entry})).await;
    made.expect(201);
    let read = bob.get("/api/v1/servers/one").await;
    let etag = read.header("etag").to_owned();
    assert_eq!(etag, "\"r1\"");
    let change = json!({"entry": {"url": "http://127.0.0.1:9/mcp", "enabled": false,
        "headers": {"a": null, "b": "2"}, "description": "new"}});
    let held = bob.header("if-match", &etag);
    let changed = held.put("/api/v1/servers/one", change.clone()).await;
    assert_eq!(changed.expect(200)["description"], "new");
    assert_eq!(changed.header("etag"), "\"r2\"");
    assert_eq!(held.put("/api/v1/servers/one", change.clone()).await.expect(412)["code"], "stale");
    assert_eq!(held.delete("/api/v1/servers/one").await.status, 412);
    // What nobody can read is kept where it is sent back as nothing.
    let row = &world.store.servers().list().await.unwrap()[0];
    let Transport::Http(http) = &row.spec.transport else { panic!("{row:?}") };
    assert_eq!(http.headers["a"].expose().as_literal(), Some("1"));
    assert_eq!(http.headers["b"].expose().as_literal(), Some("2"));
    world.stop().await;
}

/// Bob's.
pub(crate) fn own(name: &str) -> ServerKey {
    ServerKey { scope: Scope::User(user("bob")), name: ServerName::parse(name).unwrap() }
}

async fn this_hub_in_a_configuration_is_no_server(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (bob, here) = (world.bob(), world.address);
    let port = here.port();
    let texts = [
        json!({"me": {"url": format!("http://{here}/mcp")}, "a": {"url": "http://127.0.0.1:9/"}}),
        json!({"mcpServers": {"switchboard": {"url": format!("http://localhost:{port}/mcp/agents/x")},
            "b": {"url": "http://127.0.0.1:9/"}}}),
        json!({"mcpServers": {"pipe": {"command": "switchboard", "args": ["mcp"]},
            "bridge": {"command": "npx", "args": ["mcp-remote", format!("http://[::1]:{port}/sse")]},
            "c": {"url": "http://127.0.0.1:9/"}}}),
    ];
    let wanted = [(&["me"][..], "a"), (&["switchboard"], "b"), (&["bridge", "pipe"], "c")];
    for (text, (hubs, server)) in texts.iter().zip(wanted) {
        let added = bob.post("/api/v1/servers", json!({"config": text.to_string()})).await;
        let added = added.expect(201);
        let names = |list: &Value| -> Vec<String> {
            let name = |item: &Value| item["name"].as_str().unwrap().to_owned();
            let mut names: Vec<_> = list.as_array().unwrap().iter().map(name).collect();
            names.sort();
            names
        };
        assert_eq!(
            (names(&added["items"]), names(&added["left_out"])),
            (vec![server.to_owned()], hubs.iter().map(|hub| (*hub).to_owned()).collect())
        );
    }
    // In every other way it is refused.
    let at = format!("http://{here}/mcp");
    for (path, new) in [
        ("/api/v1/servers", json!({"name": "me", "entry": {"url": at}})),
        (
            "/api/v1/servers",
            json!({"name": "me", "entry": {"command": "switchboard", "args": ["mcp"]}}),
        ),
        ("/api/mcp", json!({"name": "me", "transport": "http", "url": at})),
        ("/integrations", json!({"name": "me", "serverType": "custom", "serverUrl": at})),
    ] {
        let refused = bob.post(path, new).await.expect(422);
        assert!(refused["detail"].as_str().unwrap().contains("own endpoint"), "{path}: {refused}");
    }
    let change = json!({"entry": {"url": at}});
    assert_eq!(bob.put("/api/v1/servers/a", change).await.status, 422);
    let alone = json!({"mcpServers": {"hub": {"url": format!("http://{here}/mcp")}}}).to_string();
    let refused = bob.post("/api/v1/servers", json!({"config": alone})).await.expect(422);
    assert!(refused["detail"].as_str().unwrap().contains("but this hub itself"), "{refused}");
    world.stop().await;
}

async fn a_server_may_be_called_like_a_part_of_a_file(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let bob = world.bob();
    let entry = json!({"url": "http://127.0.0.1:9/"});
    for config in [
        json!({"hub": entry}),
        json!({"agents": entry, "policy": entry}),
        json!({"mcp": entry, "other": entry}),
        json!({"mcpServers": {"servers": entry}}),
    ] {
        let added = bob.post("/api/v1/servers", json!({"config": config.to_string()})).await;
        let names = added.expect(201)["items"].as_array().unwrap().len();
        let all = config.get("mcpServers").unwrap_or(&config).as_object().unwrap().len();
        assert_eq!(names, all, "{config}");
    }
    // All servers, or one of that name? Whoever knows can say so.
    for word in ["servers", "mcpServers", "mcp"] {
        let config = json!({word: entry}).to_string();
        let refused = bob.post("/api/v1/servers", json!({"config": config})).await.expect(422);
        let first = &refused["errors"][0];
        let told = format!("`{word}` holds what a single server has");
        assert_eq!(first["message"], told, "{refused}");
        assert!(first["remedy"].as_str().unwrap().contains("mcpServers"), "{refused}");
    }
    world.stop().await;
}

async fn a_credential_that_has_no_effect_is_not_taken(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let bob = world.bob();
    let key = json!({"type": "api_key", "header": "x-key"});
    let own = json!({"type": "bearer", "token": "t"});
    let cases = [
        (json!("bearer"), "bearer", 200, ""),
        (json!("bearer"), "api_key", 422, "takes a credential of the kind `bearer`"),
        (key.clone(), "api_key", 200, ""),
        (key, "bearer", 422, "takes a credential of the kind `api_key`"),
        (own, "bearer", 409, "has its own credential"),
        (json!("oauth"), "bearer", 409, "wants a person to sign in"),
        (json!("none"), "bearer", 409, "says of no credential where it goes"),
    ];
    for (number, (auth, kind, status, words)) in cases.into_iter().enumerate() {
        let entry = json!({"url": "http://127.0.0.1:9/mcp", "enabled": false, "auth": auth});
        let new = json!({"name": format!("s{number}"), "entry": entry});
        bob.post("/api/v1/servers", new).await.expect(201);
        let path = format!("/api/v1/servers/s{number}/credential");
        let answer = bob.put(&path, json!({"kind": kind, "value": "v"})).await;
        let said = answer.expect(status);
        let detail = said["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(words), "{auth} {kind}: {said}");
        let deleted = bob.delete(&path).await.status;
        assert_eq!(deleted == 204, status == 200, "{auth} {kind}");
    }
    world.stop().await;
}

async fn every_fault_of_an_entry_comes_back(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let bob = world.bob();
    let entry = json!({"url": "not a url", "colour": "red", "timeout": "soon"});
    let answer = bob.post("/api/v1/servers", json!({"name": "bad", "entry": entry})).await;
    let problem = answer.expect(422);
    let codes: Vec<&str> =
        problem["errors"].as_array().unwrap().iter().map(|e| e["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"unknown-key") && codes.len() >= 2, "{problem}");
    for name in ["switchboard", "Switchboard", "", " padded"] {
        let new = json!({"name": name, "entry": {"url": "http://127.0.0.1:9/"}});
        assert_eq!(bob.post("/api/v1/servers", new).await.status, 422, "{name:?}");
    }
    let two = json!({"name": "x", "entry": {"url": "http://127.0.0.1:9/"}, "catalog": "github"});
    assert_eq!(bob.post("/api/v1/servers", two).await.status, 422);
    assert_eq!(bob.get("/api/v1/servers").await.expect(200)["items"], json!([]));
    world.stop().await;
}

async fn the_catalog_and_clients_configurations_work(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    let new = json!({"catalog": "notion", "apiKey": "ntn_canary"});
    let made = bob.post("/api/v1/servers", new).await.expect(201);
    assert_eq!(
        (&made["name"], &made["state"]["code"]),
        (&json!("notion"), &json!("needs_approval"))
    );
    assert!(!made.to_string().contains("ntn_canary"));
    let row = &world.store.servers().list().await.unwrap()[0];
    let Transport::Stdio(stdio) = &row.spec.transport else { panic!("{row:?}") };
    let value = stdio.env["OPENAPI_MCP_HEADERS"].expose().as_literal().unwrap().to_owned();
    assert!(value.contains("Bearer ntn_canary"), "{value}");
    let nothing = json!({"catalog": "playwright", "apiKey": "x"});
    assert_eq!(bob.post("/api/v1/servers", nothing).await.status, 422);

    let text = r#"{"mcpServers": {"one": {"url": "http://127.0.0.1:9/a"},
        "two": {"command": "npx", "args": ["-y", "x"]}}}"#;
    let made = ada.post("/api/v1/servers", json!({"config": text, "scope": "global"})).await;
    let states: Vec<Value> = made.expect(201)["items"].as_array().unwrap().clone();
    assert_eq!((&states[0]["name"], &states[1]["name"]), (&json!("one"), &json!("two")));
    assert_eq!(states[1]["state"]["code"], "needs_approval");
    let toml = "[mcp_servers.three]\nurl = \"http://127.0.0.1:9/b\"\n";
    let made = bob.post("/api/v1/servers", json!({"config": toml})).await.expect(201);
    assert_eq!(made["items"][0]["name"], "three");
    assert_eq!(bob.post("/api/v1/servers", json!({"config": "nonsense"})).await.status, 422);
    world.stop().await;
}

async fn what_files_declare_stays_theirs(engine: Engine<'_>) {
    let world = World::with(engine, |_| {
        let text = "[servers.filed]\nurl = \"http://127.0.0.1:9/mcp\"\nenabled = false\n\
                    [agents.clerk]\ndescription = \"of a file\"\n";
        vec![text.to_owned()]
    });
    let world = world.await;
    let (ada, bob) = (world.ada(), world.bob());
    let entry = json!({"url": "http://127.0.0.1:9/mcp", "enabled": false});
    let new = json!({"name": "filed", "scope": "global", "entry": entry});
    let problem = ada.post("/api/v1/servers", new.clone()).await.expect(409);
    assert!(problem["detail"].as_str().unwrap().contains("/etc/switchboard.toml"), "{problem}");
    let shown = bob.get("/api/v1/servers/global:filed").await.expect(200);
    assert_eq!((&shown["source"]["kind"], &shown["revision"]), (&json!("file"), &Value::Null));
    for (method, path) in [
        ("PUT", "/api/v1/servers/filed"),
        ("DELETE", "/api/v1/servers/filed"),
        ("POST", "/api/v1/servers/filed/enable"),
    ] {
        let body = json!({"entry": new["entry"]}).to_string();
        assert_eq!(bob.send(method, path, Some(body.clone())).await.status, 403, "{method} {path}");
        let problem = ada.send(method, path, Some(body)).await.expect(409);
        assert_eq!(problem["code"], "declared_in_file", "{method} {path}");
    }
    let global = json!({"name": "all", "scope": "global", "entry": new["entry"]});
    assert_eq!(bob.post("/api/v1/servers", global).await.status, 403);
    // One's own of the same name is another server.
    let own = json!({"name": "filed", "entry": new["entry"]});
    assert_eq!(bob.post("/api/v1/servers", own).await.expect(201)["scope"], "user");

    assert_eq!(bob.get("/api/v1/agents/clerk").await.expect(200)["source"], "file");
    assert_eq!(ada.put("/api/v1/agents/clerk", json!({})).await.status, 409);
    assert_eq!(ada.delete("/api/v1/agents/clerk").await.status, 409);
    assert_eq!(ada.post("/api/v1/agents", json!({"id": "clerk"})).await.status, 409);
    world.stop().await;
}

async fn whoever_hangs_up_leaves_nothing_half_done(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let bob = world.bob();
    for n in 0..30u64 {
        let entry = json!({"url": "http://127.0.0.1:9/mcp", "enabled": false});
        let body = json!({"name": format!("s{n}"), "entry": entry}).to_string();
        let asked = bob.open("POST", "/api/v1/servers", Some(body));
        drop(tokio::time::timeout(Duration::from_micros(300 * n), asked).await);
    }
    let mut tries = 0;
    loop {
        let rows = world.store.servers().list().await.unwrap();
        let declared = world.hub.declared();
        let known = rows.iter().filter(|row| declared.sources.contains_key(&row.key)).count();
        if known == rows.len() && !rows.is_empty() {
            break;
        }
        tries += 1;
        assert!(tries < 6000, "{known} of {} rows run", rows.len());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    world.stop().await;
}
