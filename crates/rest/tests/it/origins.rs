//! The calls of the origins' documents, played as their agents and pages make them.

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};

use crate::kit::{Engine, World};

suite! {
    annabelle_fetches_her_tools,
    spacebot_looks_at_its_servers_and_reconnects_one,
    openassistant_adds_changes_and_removes,
    nebo_adds_tests_and_reconnects,
}

async fn annabelle_fetches_her_tools(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let server = Scripted::http(&Script::new());
    let new = json!({"name": "posthog", "entry": {"url": server.url()}});
    world.bob().post("/api/v1/servers", new).await.expect(201);
    for token in [&world.tokens.agent, &world.tokens.bob] {
        let listed = world.client(token).get("/tools/list").await.expect(200);
        let tools = listed["tools"].as_array().unwrap();
        let echo = tools.iter().find(|tool| tool["name"] == "posthog_echo").unwrap();
        assert!(echo["inputSchema"]["type"] == "object", "{echo}");
    }
    let others = world.client(&world.tokens.eve).get("/tools/list").await.expect(200);
    assert_eq!(others["tools"], json!([]));
    world.stop().await;
}

async fn spacebot_looks_at_its_servers_and_reconnects_one(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (bob, server) = (world.bob(), Scripted::http(&Script::new()));
    for (name, url) in [("filesystem", server.url()), ("gone", "http://127.0.0.1:9/mcp")] {
        let new = json!({"name": name, "entry": {"url": url}});
        bob.post("/api/v1/servers", new).await.expect(201);
    }
    for path in ["/api/agents/mcp?agent_id=helper", "/api/agents/mcp"] {
        let listed = bob.get(path).await.expect(200);
        let states: Vec<(&Value, &Value)> = listed["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|server| (&server["name"], &server["state"]))
            .collect();
        let wanted = [(json!("filesystem"), json!("connected")), (json!("gone"), json!("failed"))];
        let wanted: Vec<_> = wanted.iter().map(|(name, state)| (name, state)).collect();
        assert_eq!(states, wanted, "{path}");
    }
    let eve = world.client(&world.tokens.eve);
    assert_eq!(eve.get("/api/agents/mcp?agent_id=helper").await.status, 404);
    let again = json!({"agent_id": "helper", "server_name": "filesystem"});
    let done = bob.post("/api/agents/mcp/reconnect", again.clone()).await.expect(200);
    assert_eq!((&done["success"], &done["server"]["state"]), (&json!(true), &json!("connected")));
    assert_eq!(eve.post("/api/agents/mcp/reconnect", again).await.status, 404);
    world.stop().await;
}

async fn openassistant_adds_changes_and_removes(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (bob, server) = (world.bob(), Scripted::http(&Script::new()));
    let entry = json!({"url": "http://127.0.0.1:9/mcp", "enabled": false});
    let shared = json!({"name": "shared", "scope": "global", "entry": entry});
    world.ada().post("/api/v1/servers", shared).await.expect(201);
    let new = json!({"id": "x", "name": "GitHub", "transport": "http", "url": server.url(),
        "headers": {"Authorization": "Bearer canary-9"}, "enabled": true, "scope": "user"});
    let made = bob.post("/api/mcp", new.clone()).await;
    assert!(!made.text.contains("canary-9"));
    let made = made.expect(200);
    assert_eq!((&made["status"], &made["scope"]), (&json!("connected"), &json!("user")));
    let tool = &made["tools"][0];
    assert_eq!((&tool["serverId"], &tool["serverName"]), (&made["id"], &json!("GitHub")));
    assert!(tool["inputSchema"].is_object() && tool["annotations"].is_object(), "{tool}");

    let mut off = new.clone();
    off["enabled"] = json!(false);
    let changed = bob.post("/api/mcp", off).await.expect(200);
    assert_eq!((&changed["status"], &changed["id"]), (&json!("disconnected"), &made["id"]));
    let listed = bob.get("/api/mcp").await.expect(200);
    let names: Vec<(&Value, &Value)> = listed["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| (&server["name"], &server["scope"]))
        .collect();
    assert_eq!(names.len(), 2, "{listed}");
    assert!(names.contains(&(&json!("shared"), &json!("global"))));
    let command = json!({"name": "cmd", "transport": "stdio", "command": "npx",
        "args": ["-y", "x"], "env": {"TOKEN": "t"}});
    let waiting = bob.post("/api/mcp", command).await.expect(200);
    assert_eq!(waiting["status"], "error");
    assert!(waiting["error"].as_str().unwrap().contains("approve"), "{waiting}");

    let id = made["id"].as_str().unwrap();
    let eve = world.client(&world.tokens.eve);
    assert_eq!(eve.delete(&format!("/api/mcp?id={id}")).await.status, 404);
    assert_eq!(bob.delete("/api/mcp?id=shared").await.status, 403);
    assert_eq!(bob.delete(&format!("/api/mcp?id={id}")).await.expect(200)["success"], true);
    assert_eq!(bob.delete("/api/mcp?name=cmd").await.status, 200);
    assert_eq!(bob.get("/api/mcp").await.expect(200)["servers"].as_array().unwrap().len(), 1);
    world.stop().await;
}

async fn nebo_adds_tests_and_reconnects(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (bob, server) = (world.bob(), Scripted::http(&Script::new()));
    let new = json!({"name": "My server", "serverType": "custom", "serverUrl": server.url(),
        "authType": "api_key", "apiKey": "canary-7", "transportType": "http"});
    let made = bob.post("/integrations", new).await;
    assert!(!made.text.contains("canary-7"));
    let made = made.expect(201)["integration"].clone();
    assert_eq!(made["connectionStatus"], "connected", "{made}");
    assert_eq!((&made["authType"], &made["serverType"]), (&json!("api_key"), &json!("custom")));
    let path = format!("/integrations/{}", made["id"].as_str().unwrap());
    let tested = bob.send("POST", &format!("{path}/test"), None).await.expect(200);
    assert_eq!(tested["success"], true, "{tested}");
    assert_eq!(tested["toolCount"], tested["tools"].as_array().unwrap().len());
    assert_eq!(made["toolCount"], tested["toolCount"]);
    let shown = bob.get(&path).await.expect(200);
    assert!(shown["integration"]["lastConnectedAt"].is_string(), "{shown}");
    let again = bob.send("POST", &format!("{path}/reconnect"), None).await.expect(200);
    assert_eq!(again["integration"]["connectionStatus"], "connected");

    let notion = json!({"name": "notion", "serverType": "notion", "authType": "api_key",
        "apiKey": "ntn_canary"});
    let waiting = bob.post("/integrations", notion).await.expect(201)["integration"].clone();
    assert_eq!(
        (&waiting["connectionStatus"], &waiting["transportType"]),
        (&json!("error"), &json!("stdio"))
    );
    let gone = json!({"name": "gone", "serverType": "custom", "serverUrl": "http://127.0.0.1:9/x",
        "authType": "none"});
    let gone = bob.post("/integrations", gone).await.expect(201)["integration"].clone();
    let path2 = format!("/integrations/{}", gone["id"].as_str().unwrap());
    let tested = bob.send("POST", &format!("{path2}/test"), None).await.expect(200);
    assert_eq!((&tested["success"], &tested["toolCount"]), (&json!(false), &json!(0)));

    let off = bob.put(&path, json!({"isEnabled": false, "apiKey": "canary-8"})).await.expect(200);
    assert_eq!(off["integration"]["isEnabled"], false);
    assert_eq!(bob.put(&path, json!({"name": "Other"})).await.status, 422);
    assert_eq!(bob.delete(&path).await.status, 204);
    let listed = bob.get("/integrations").await.expect(200);
    assert_eq!(listed["integrations"].as_array().unwrap().len(), 2);
    world.stop().await;
}
