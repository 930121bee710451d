//! The calls of the origins' documents, played as their agents and pages make them.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_model::{SecretTemplate, Transport};
use switchboard_testkit::script::{Script, Scripted};

use crate::kit::{Engine, World};

suite! {
    annabelle_fetches_her_tools,
    spacebot_looks_at_its_servers_and_reconnects_one,
    openassistant_adds_changes_and_removes,
    openassistants_page_switches_a_server_off_and_on,
    nebos_page_changes_keys_and_addresses,
    nebo_adds_tests_and_reconnects,
}

async fn annabelle_fetches_her_tools(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let server = Scripted::http(&Script::new());
    let new = json!({"name": "posthog", "entry": {"url": server.url()}});
    world.bob().post("/api/v1/servers", new).await.expect(201);
    for token in [&world.tokens.agent, &world.tokens.bob] {
        // What it offers is on offer a moment after it is connected.
        let mut looks = 0..3000;
        let echo = loop {
            let listed = world.client(token).get("/tools/list").await.expect(200);
            let tools = listed["tools"].as_array().unwrap();
            if let Some(echo) = tools.iter().find(|tool| tool["name"] == "posthog_echo") {
                break echo.clone();
            }
            assert!(looks.next().is_some(), "{listed}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
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

/// The page has what `GET` told it, and nothing else: a toggle sends that, with or without what is masked.
#[expect(clippy::too_many_lines, reason = "one story, told in its order")]
async fn openassistants_page_switches_a_server_off_and_on(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    let record = world.scratch.path().join("record");
    let server = Scripted::http(&Script::new().record(&record));
    let heard = |text: &str| std::fs::read_to_string(&record).unwrap_or_default().contains(text);
    let remote = json!({"name": "remote", "transport": "http", "url": server.url(),
        "headers": {"Authorization": "Bearer canary-1"}});
    bob.post("/api/mcp", remote).await.expect(200);
    let (command, args) = Scripted::stdio(&Script::new());
    let local = json!({"name": "local", "transport": "stdio", "command": command, "args": args,
        "env": {"TOKEN": "canary-2", "OTHER": "canary-3"}});
    bob.post("/api/mcp", local).await.expect(200);
    let waiting = ada.get("/api/v1/servers/user:bob:local").await.expect(200);
    let approve = json!({"hash": waiting["approval"]["hash"]});
    ada.post("/api/v1/servers/user:bob:local/approve", approve).await.expect(200);

    for (name, secrets) in [("remote", "headers"), ("local", "env")] {
        let listed = bob.get("/api/mcp").await;
        assert!(!listed.text.contains("canary"), "{}", listed.text);
        let all = listed.expect(200)["servers"].clone();
        let card =
            all.as_array().unwrap().iter().find(|card| card["name"] == name).unwrap().clone();
        assert_eq!(card["status"], "connected", "{card}");
        let shown = card[secrets].as_object().unwrap();
        assert!(shown.values().all(|value| value == "***"), "{card}");
        let keys = ["name", "transport", "command", "args", "env", "url", "headers"];
        let whole: serde_json::Map<String, Value> = keys
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), card.get(*key)?.clone())))
            .collect();
        let mut without = whole.clone();
        without.remove(secrets);
        let bare = json!({"name": name, "transport": card["transport"]});
        for body in [Value::Object(whole), Value::Object(without), bare] {
            for (enabled, status) in [(false, "disconnected"), (true, "connected")] {
                let mut body = body.clone();
                body["enabled"] = json!(enabled);
                let done = bob.post("/api/mcp", body.clone()).await.expect(200);
                assert_eq!(done["status"], status, "{body}: {done}");
            }
        }
    }
    let call = json!({"name": "mcp__local__env", "arguments": {"name": "TOKEN"}});
    let said = bob.post("/api/v1/tools/call", call).await.expect(200);
    assert_eq!(said["content"][0]["text"], "canary-2", "{said}");
    std::fs::remove_file(&record).unwrap();
    drop(server);
    let server = Scripted::http(&Script::new().record(&record));
    let mut moved = json!({"name": "remote", "transport": "http", "url": server.url()});
    assert_eq!(bob.post("/api/mcp", moved.clone()).await.status, 422, "what is kept stays there");
    moved["headers"] = json!({"Authorization": "Bearer canary-3"});
    assert_eq!(bob.post("/api/mcp", moved).await.expect(200)["status"], "connected");
    assert!(heard("Bearer canary-3"));
    // What is sent takes the place of what was there, and one variable more is another command line.
    let fewer = json!({"name": "local", "transport": "stdio", "env": {"TOKEN": "***", "NEW": "n"}});
    let waiting = bob.post("/api/mcp", fewer).await.expect(200);
    assert_eq!(
        (&waiting["env"], &waiting["status"]),
        (&json!({"NEW": "***", "TOKEN": "***"}), &json!("error"))
    );
    // The mask is nobody's secret.
    let other = json!({"name": "local", "transport": "stdio", "env": {"ELSE": "***"}});
    assert_eq!(bob.post("/api/mcp", other).await.status, 422);
    world.stop().await;
}

/// A page that knows only what Nebo's document says: types, keys, addresses.
#[expect(clippy::too_many_lines, reason = "one story, told in its order")]
async fn nebos_page_changes_keys_and_addresses(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let bob = world.bob();
    let env = async |name: &str| {
        let rows = world.store.servers().list().await.unwrap();
        let row = rows.into_iter().find(|row| row.key.name.as_str() == name).unwrap();
        let Transport::Stdio(stdio) = &row.spec.transport else { panic!("{row:?}") };
        let pair = |(name, value): (&String, &SecretTemplate)| {
            (name.clone(), value.expose().as_literal().unwrap_or_default().to_owned())
        };
        stdio.env.iter().map(pair).collect::<std::collections::BTreeMap<_, _>>()
    };
    let known = [
        ("Notion", "notion", "OPENAPI_MCP_HEADERS"),
        ("github", "github", "GITHUB_TOKEN"),
        ("Linear", "linear", "LINEAR_API_KEY"),
        ("slack", "slack", "SLACK_BOT_TOKEN"),
    ];
    for (number, (word, shown, variable)) in known.into_iter().enumerate() {
        let name = format!("mine-{number}");
        let new = json!({"name": name, "serverType": word, "authType": "api_key", "apiKey": "one"});
        let made = bob.post("/integrations", new).await.expect(201)["integration"].clone();
        assert_eq!((&made["serverType"], &made["name"]), (&json!(shown), &json!(name)));
        let path = format!("/integrations/{}", made["id"].as_str().unwrap());
        assert!(env(&name).await[variable].contains("one"));
        // Credential rotation: API keys require manual update.
        bob.put(&path, json!({"apiKey": "two"})).await.expect(200);
        let now = env(&name).await;
        assert!(now[variable].contains("two") && !now[variable].contains("one"), "{now:?}");
        assert_eq!(now.len(), 1);
    }
    for word in ["Filesystem", "Memory"] {
        let new = json!({"serverType": word, "authType": "none", "name": word.to_lowercase()});
        let made = bob.post("/integrations", new).await.expect(201)["integration"].clone();
        assert_eq!(made["serverType"], word.to_lowercase());
    }
    let docs = json!({"name": "docs", "serverType": "filesystem", "commandArgs": ["/srv/docs"]});
    bob.post("/integrations", docs).await.expect(201);
    let shown = bob.get("/api/v1/servers/docs").await.expect(200);
    assert_eq!(shown["target"], "npx -y @modelcontextprotocol/server-filesystem /srv/docs");
    let unknown = bob.post("/integrations", json!({"serverType": "Jira"})).await.expect(422);
    assert!(
        unknown["detail"].as_str().unwrap().contains("nothing is known of `Jira`"),
        "{unknown}"
    );

    let local = json!({"name": "local", "serverType": "custom", "transportType": "stdio",
        "command": "npx", "commandArgs": ["-y", "x"], "commandEnv": {"A": "1", "B": "2"}});
    let local = bob.post("/integrations", local).await.expect(201)["integration"].clone();
    let path = format!("/integrations/{}", local["id"].as_str().unwrap());
    let refused = bob.put(&path, json!({"apiKey": "k"})).await.expect(422);
    assert!(refused["remedy"].as_str().unwrap().contains("commandEnv"), "{refused}");
    bob.put(&path, json!({"commandEnv": {"A": "3", "B": null, "C": "4"}})).await.expect(200);
    let now = env("local").await;
    assert_eq!(now, [("A", "3"), ("C", "4")].map(|(k, v)| (k.to_owned(), v.to_owned())).into());
    assert_eq!(bob.put(&path, json!({"serverUrl": "http://127.0.0.1:9/"})).await.status, 422);

    let remote = json!({"name": "remote", "serverType": "custom", "apiKey": "k",
        "serverUrl": "http://127.0.0.1:9/mcp?key=sesame"});
    let remote = bob.post("/integrations", remote).await.expect(201)["integration"].clone();
    let path = format!("/integrations/{}", remote["id"].as_str().unwrap());
    for url in ["file:///etc/passwd", "not a url at all", "http://127.0.0.1:9/mcp?other=***"] {
        assert_eq!(bob.put(&path, json!({"serverUrl": url})).await.status, 422, "{url}");
    }
    // What the page was shown it sends back with whatever else it changes.
    let off = json!({"serverUrl": remote["serverUrl"], "isEnabled": false});
    let off = bob.put(&path, off).await.expect(200)["integration"].clone();
    assert_eq!((&off["isEnabled"], &off["authType"]), (&json!(false), &json!("api_key")));
    let rows = world.store.servers().list().await.unwrap();
    let row = rows.iter().find(|row| row.key.name.as_str() == "remote").unwrap();
    let Transport::Http(http) = &row.spec.transport else { panic!("{row:?}") };
    assert_eq!(http.url.as_literal(), Some("http://127.0.0.1:9/mcp?key=sesame"));
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
