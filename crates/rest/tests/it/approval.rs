//! No route lets a member start a command line that no administrator approved.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};

use crate::kit::{Engine, World};
use crate::matrix::CASES;

suite! {
    nothing_starts_without_an_administrator,
    who_approves_sees_everything_that_would_run,
    an_edit_takes_the_approval_away,
    what_decides_which_code_runs_is_a_part_of_the_command_line,
}

/// A command that leaves a mark and then serves.
fn marking(mark: &Path) -> Value {
    let (program, arguments) = Scripted::stdio(&Script::new());
    let line = "touch \"$0\"; exec \"$@\"";
    let mut args = vec![json!("-c"), json!(line), json!(mark), json!(program)];
    args.extend(arguments.into_iter().map(Value::from));
    json!({"command": "/bin/sh", "args": args})
}

/// Every form in which a server can be added: as an entry, by each way of writing a client's
/// configuration, from the catalog.
fn forms(entry: &Value) -> Vec<String> {
    let json = |name: &str, key: &str| json!({key: {name: entry}}).to_string();
    let (command, args) = (&entry["command"], &entry["args"]);
    let toml = format!("[mcp_servers.by_toml]\ncommand = {command}\nargs = {args}\n");
    let yaml = format!("mcpServers:\n  by_yaml:\n    command: {command}\n    args: {args}\n");
    let texts = [json("by_clients", "mcpServers"), json("by_code", "servers"), toml, yaml];
    let pasted = texts.iter().map(|text| json!({"config": text}));
    let named = [
        json!({"name": "by_entry", "entry": entry}),
        json!({"name": "by_word", "catalog": "playwright"}),
        json!({"name": "by_key", "catalog": "notion", "apiKey": "x"}),
    ];
    let bold = json!({"name": "by_word_of_nobody", "entry": entry, "approve": true});
    named.into_iter().chain(pasted).chain([bold]).map(|form| form.to_string()).collect()
}

#[expect(clippy::too_many_lines, reason = "one story, told in its order")]
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
        let ids = ["{server}", "{command}", "{credited}"];
        let path = ids.iter().fold(case.path.to_owned(), |path, part| path.replace(part, id));
        let path = path.replace("{agent}", "helper");
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
        let forms = match (case.method, case.path) {
            ("POST", "/api/v1/servers") => forms(&entry),
            _ => vec![body],
        };
        for (client, body) in
            [&bob, &agent].into_iter().flat_map(|c| forms.iter().map(move |b| (c, b)))
        {
            let body = Some(body.clone()).filter(|body| !body.is_empty());
            drop(client.open(case.method, &path, body).await);
        }
    }
    let waiting = world.hub.upstreams.status().into_iter().filter(|status| {
        // Some of the routes switch it off.
        let waits = matches!(status.state.code(), "needs_approval" | "disabled");
        let waits = waits && status.pid.is_none();
        assert!(status.spec.transport.as_str() != "stdio" || waits, "{status:?}");
        waits
    });
    assert!(waiting.count() >= 6, "every form made a server");
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

/// Of a command line that is approved, a member changes only what it is given to work with.
async fn what_decides_which_code_runs_is_a_part_of_the_command_line(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    let entry = marking(&world.scratch.path().join("mark"));
    let with = |env: Value, auth: Value| {
        let mut new = json!({"entry": entry});
        (new["entry"]["env"], new["entry"]["auth"]) = (env, auth);
        new
    };
    let none = || json!("none");
    let key = |variable: &str| json!({"type": "api_key", "variable": variable, "key": "v"});
    let plain = json!({"K": "one"});
    let new = json!({"name": "cmd", "entry": with(plain.clone(), none())["entry"]});
    let made = bob.post("/api/v1/servers", new).await.expect(201);
    let path = format!("/api/v1/servers/{}", made["id"].as_str().unwrap());
    let approve = async || {
        let hash = ada.get(&path).await.expect(200)["approval"]["hash"].clone();
        let runs = ada.post(&format!("{path}/approve"), json!({"hash": hash})).await.expect(200);
        assert_eq!(runs["state"]["code"], "connected", "{runs}");
    };
    approve().await;
    for name in ["PATH", "NODE_OPTIONS", "LD_PRELOAD", "npm_config_registry", "A=B"] {
        let answer = bob.put(&path, with(plain.clone(), key(name))).await.expect(422);
        assert!(answer["detail"].as_str().unwrap().contains(name), "{answer}");
    }
    let sealed = |name: &str| json!({"name": name, "value": null, "sealed": true});
    let clear = |name: &str, value: &str| json!({"name": name, "value": value, "sealed": false});
    let path_is = |value: &str| json!({"K": "one", "PATH": value});
    let (one, two) = ("/usr/bin:/bin", "/tmp/evil:/usr/bin:/bin");
    for (what, edit, env) in [
        ("another key's value", with(json!({"K": "two"}), none()), None),
        (
            "a variable for its key",
            with(plain.clone(), key("KEY")),
            Some(json!([sealed("K"), sealed("KEY")])),
        ),
        (
            "another one",
            with(plain.clone(), key("TOKEN")),
            Some(json!([sealed("K"), sealed("TOKEN")])),
        ),
        (
            "where programs are",
            with(path_is(one), none()),
            Some(json!([sealed("K"), clear("PATH", one)])),
        ),
        ("elsewhere", with(path_is(two), none()), Some(json!([sealed("K"), clear("PATH", two)]))),
    ] {
        let edited = bob.put(&path, edit).await.expect(200);
        let state = if env.is_some() { "needs_approval" } else { "connected" };
        assert_eq!(edited["state"]["code"], state, "{what}: {edited}");
        if let Some(env) = env {
            let shown = ada.get(&path).await.expect(200);
            assert_eq!(shown["approval"]["command"]["env"], env, "{what}");
            approve().await;
        }
    }
    world.stop().await;
}

/// What looks like a secret is none here: whoever approves a command line must have seen all of it.
async fn who_approves_sees_everything_that_would_run(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    let args =
        ["-y", "a1b2c3d4e5f6a7b8c9d0e1f2", "--api-token-helper", "/tmp/evil.sh", "\u{1b}[2K"];
    let entry = json!({"command": "npx", "args": args, "cwd": "/tmp/evil", "env": {
        "KEY": "canary-value", "HOME_OF_IT": "/tmp"}});
    let new = json!({"name": "cmd", "entry": entry});
    let made = bob.post("/api/v1/servers", new).await.expect(201);
    assert!(!made["target"].as_str().unwrap().contains('\u{1b}'), "{made}");
    let path = format!("/api/v1/servers/{}", made["id"].as_str().unwrap());
    let words: Vec<&str> = ["npx"].into_iter().chain(args).collect();
    let command = json!({"words": words, "cwd": "/tmp/evil", "env": [
        {"name": "HOME_OF_IT", "value": null, "sealed": true},
        {"name": "KEY", "value": null, "sealed": true},
    ]});
    let shown = ada.get(&path).await.expect(200);
    assert_eq!(shown["approval"]["command"], command, "{shown}");
    let listed = ada.get("/api/v1/servers").await.expect(200);
    assert_eq!(listed["items"][0]["approval"]["command"], command, "{listed}");
    // Its owner wrote it, and nobody else approves it.
    let shown = bob.get(&path).await.expect(200);
    assert_eq!(shown["approval"]["command"], Value::Null);
    // A variable of the hub's is named, so that whoever approves knows what the command gets.
    let asks =
        json!({"entry": {"command": "srv", "args": ["${WORD:-x}"], "env": {"K": "${HUB_SECRET}"}}});
    ada.put(&path, asks).await.expect(200);
    let shown = ada.get(&path).await.expect(200);
    let env = json!([{"name": "K", "value": "${HUB_SECRET}", "sealed": false}]);
    assert_eq!(shown["approval"]["command"]["env"], env, "{shown}");
    assert_eq!(shown["approval"]["command"]["words"], json!(["srv", "${WORD:-x}"]));
    // Once approved, nobody needs to see it again.
    let hash = json!({"hash": shown["approval"]["hash"]});
    ada.post(&format!("{path}/approve"), hash).await.expect(200);
    assert_eq!(ada.get(&path).await.expect(200)["approval"]["command"], Value::Null);
    world.stop().await;
}
