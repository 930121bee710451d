//! What is secret goes in and never comes out.

use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::json;
use switchboard_store::NewEvent;
use switchboard_testkit::script::{Script, Scripted};

use crate::kit::{Engine, World};
use crate::matrix::CASES;

suite! {
    no_answer_holds_a_secret,
    what_a_server_repeats_is_not_told,
}

const CANARY: &str = "c4n4ry-s3cret-v4lue";
/// In a command line, which administrators see as a whole before they approve it.
const WORD: &str = "c4n4ry-1n-4-comm4nd-l1ne";

async fn no_answer_holds_a_secret(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, server) = (world.ada(), Scripted::http(&Script::new()));
    let mut others = Vec::new();
    let entry = json!({"url": server.url(), "headers": {"x-key": CANARY},
        "auth": {"type": "bearer", "token": CANARY}});
    let new = json!({"name": "kept", "scope": "global", "entry": entry});
    let mut texts = vec![ada.post("/api/v1/servers", new).await.text];
    let entry = json!({"command": "npx", "args": ["--api-key", WORD], "env": {"KEY": CANARY}});
    let new = json!({"name": "command", "scope": "global", "entry": entry});
    texts.push(ada.post("/api/v1/servers", new).await.text);
    let entry = json!({"url": server.url(), "auth": "bearer"});
    let new = json!({"name": "held", "scope": "global", "entry": entry});
    texts.push(ada.post("/api/v1/servers", new).await.text);
    let credential = json!({"kind": "bearer", "value": CANARY});
    let path = "/api/v1/servers/global:held/credential";
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
            texts.push(first_events(&ada).await);
            continue;
        }
        for id in ["global:kept", "global:held", "global:command"] {
            let path = case.path.replace("{server}", id).replace("{agent}", "helper");
            texts.push(ada.get(&path).await.text);
            others.push(world.bob().get(&path).await.text);
        }
    }
    for verb in ["test", "reconnect", "disable", "enable"] {
        let path = format!("/api/v1/servers/global:kept/{verb}");
        texts.push(ada.send("POST", &path, None).await.text);
    }
    assert!(texts.iter().all(|text| !text.is_empty()));
    for text in texts.iter().chain(&others) {
        assert!(!text.contains(CANARY), "{text}");
    }
    for text in &others {
        assert!(!text.contains(WORD), "{text}");
    }
    assert_eq!(ada.delete(path).await.status, 204);
    assert!(world.store.credentials().list().await.unwrap().is_empty());
    world.stop().await;
}

/// What the stream of events says at first, which never ends.
async fn first_events(client: &crate::kit::Client) -> String {
    let client = client.header("last-event-id", "0");
    let mut body = client.open("GET", "/api/v1/events", None).await.into_body();
    let mut text = String::new();
    // A minute for the first; when it is quiet after that, it was all.
    let limit = |text: &str| Duration::from_secs(if text.is_empty() { 60 } else { 1 });
    while let Ok(Some(Ok(frame))) = tokio::time::timeout(limit(&text), body.frame()).await {
        text.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
    }
    text
}

/// A server that repeats what it was given, on standard error and in its refusals.
async fn what_a_server_repeats_is_not_told(engine: Engine<'_>) {
    // No shape of a key: only who knows it can tell that it is one.
    const WORDS: [&str; 3] =
        ["correct horse battery", "staple-of-a-header", "words-of-a-credential"];
    let world = World::start(engine).await;
    let ada = world.ada();
    let echo = "echo \"the key is $KEY.\" >&2; exit 3";
    let entry = json!({"command": "/bin/sh", "args": ["-c", echo], "env": {"KEY": WORDS[0]}});
    let new = json!({"name": "said", "scope": "global", "entry": entry, "approve": true});
    let mut texts = vec![ada.post("/api/v1/servers", new).await.text];
    let echo = Echo::start().await;
    let entry = json!({"url": echo.url, "headers": {"x-key": WORDS[1]}, "auth": "bearer"});
    let new = json!({"name": "refused", "scope": "global", "entry": entry});
    texts.push(ada.post("/api/v1/servers", new).await.text);
    let credential = json!({"kind": "bearer", "value": WORDS[2]});
    texts.push(ada.put("/api/v1/servers/refused/credential", credential).await.text);
    for (name, marks) in [("said", "the key is ***."), ("refused", "you sent")] {
        let mut own = String::new();
        for (method, act) in
            [("POST", "/test"), ("GET", ""), ("GET", "/logs"), ("POST", "/reconnect")]
        {
            let path = format!("/api/v1/servers/global:{name}{act}");
            own.push_str(&ada.send(method, &path, None).await.text);
        }
        assert!(own.contains(marks), "{own}");
        texts.push(own);
        let call = json!({"name": format!("mcp__{name}__echo"), "arguments": {}});
        texts.push(ada.post("/api/v1/tools/call", call).await.text);
    }
    for status in world.hub.upstreams.status() {
        texts.push(format!("{status:?}"));
    }
    for text in &texts {
        assert!(WORDS.iter().all(|word| !text.contains(word)), "{text}");
    }
    world.stop().await;
}

/// An HTTP server that refuses everything and repeats the headers that it was sent.
struct Echo {
    url: String,
    task: tokio::task::JoinHandle<()>,
}

impl Echo {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let refuse = async |headers: axum::http::HeaderMap| {
            let said: Vec<String> = headers
                .iter()
                .filter(|(name, _)| ["authorization", "x-key"].contains(&name.as_str()))
                .map(|(name, value)| format!("{name}={}", value.to_str().unwrap()))
                .collect();
            (axum::http::StatusCode::FORBIDDEN, format!("you sent {}", said.join(" and ")))
        };
        let router = axum::Router::new().fallback(refuse);
        let tasks = tokio_util::task::TaskTracker::new();
        let task = tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, task }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.task.abort();
    }
}
