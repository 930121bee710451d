//! Whatever is sent, over HTTP, the older transport and pipes: no panic, no 5xx, an answer, no more
//! memory, and the endpoint still serves.

mod pipes;

use std::time::Duration;

use fastrand::Rng;
use serde_json::json;
use switchboard_testkit::data::{repetitions, shared};
use switchboard_testkit::hostile;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::kit::{Answer, Client, Hub, call, request, stateless};
use crate::legacy;
use crate::limits::resident;

/// Sends it in every way; nothing may break.
async fn check(clients: &[Client], what: &str, body: &[u8]) {
    for client in clients {
        let answer = client.send("POST", body).await;
        assert!(answer.status < 500, "{what}: {}", answer.status);
    }
}

async fn clients(hub: &Hub) -> Vec<Client> {
    let client = hub.client("token-cto");
    vec![
        client.clone(),
        client.clone().initialized("2025-03-26", json!({"elicitation": {}})).await,
        client.clone().with("mcp-protocol-version", "2026-07-28").with("mcp-method", "tools/call"),
        older(&client).await,
    ]
}

/// The older transport: what is posted there is answered on a stream, which is read all the time.
#[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
async fn older(client: &Client) -> Client {
    let (mut stream, poster) = legacy::open(&client.clone().at("/sse")).await;
    legacy::greet(&mut stream, &poster).await;
    tokio::spawn(async move { while stream.event().await.is_some() {} });
    poster
}

/// Does something twice: the second time may leave nothing behind.
async fn leaves_nothing(what: &str, act: impl AsyncFn()) {
    act().await;
    let before = resident();
    act().await;
    if let (Some(before), Some(after)) = (before, resident()) {
        let grown = after.saturating_sub(before);
        assert!(grown < 32 << 20, "{what}: {grown} bytes more");
    }
}

async fn still_serves(hub: &Hub) {
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let answer = client.post(&call(1, "alpha__echo", json!({}))).await.json().await;
    assert!(answer["result"].is_object());
}

#[tokio::test]
async fn hostile_texts() {
    let hub = Hub::start().await;
    let clients = clients(&hub).await;
    for input in hostile::small() {
        check(&clients, &input.name, &input.bytes).await;
    }
    // Each as a value inside of a good message.
    for key in hostile::KEYS {
        for member in ["id", "method", "params"] {
            let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "alpha__echo"}});
            message[member] = key.into();
            check(&clients, key, message.to_string().as_bytes()).await;
        }
        let mut params = json!({"name": key, "uri": key, "cursor": key, "requestState": key, "inputResponses": {key: key}, "arguments": {key: key}});
        params["_meta"] = stateless(json!({key: key}));
        for method in [
            "tools/call",
            "resources/read",
            "prompts/get",
            "tools/list",
            "tasks/get",
            "completion/complete",
            "resources/subscribe",
        ] {
            let message = request(1, method, params.clone());
            check(&clients, key, message.as_bytes()).await;
            let encoded = switchboard_wire::header::encode(key).into_owned();
            let modern = clients[2].clone().with("mcp-method", method);
            let modern =
                if encoded.is_empty() { modern } else { modern.with("mcp-name", &encoded) };
            check(&[modern], key, message.as_bytes()).await;
        }
    }
    still_serves(&hub).await;
}

/// A value, as a message and as the arguments of a call.
async fn check_value(clients: &[Client], name: &str, bytes: &[u8]) {
    check(clients, name, bytes).await;
    let head = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"alpha__raw","arguments":"#;
    check(&clients[1..2], name, &[head, bytes, b"}}"].concat()).await;
}

/// A text, as an argument that comes back and as the name of a tool.
async fn check_string(clients: &[Client], text: &str) {
    let params = json!({"name": "alpha__raw", "arguments": {"text": text}});
    let answer = clients[1].post(&request(1, "tools/call", params)).await;
    assert_eq!(answer.json().await["result"]["text"], text, "nothing of it is lost");
    let message = request(1, "tools/call", json!({"name": text}));
    check(&clients[1..2], text, message.as_bytes()).await;
}

/// What must hold everywhere, also where the public sets are not.
#[tokio::test]
async fn our_own_set() {
    let hub = Hub::start().await;
    let clients = clients(&hub).await;
    for value in hostile::VALUES {
        check_value(&clients, &String::from_utf8_lossy(value), value).await;
    }
    for text in hostile::STRINGS {
        check_string(&clients, text).await;
    }
    still_serves(&hub).await;
}

/// The public sets: JSON that parsers get wrong, and strings that programs do.
#[tokio::test]
async fn public_sets() {
    let hub = Hub::start().await;
    let clients = clients(&hub).await;
    if let Some(folder) = shared("hostile/json") {
        for file in std::fs::read_dir(folder).unwrap() {
            let file = file.unwrap().path();
            let bytes = std::fs::read(&file).unwrap();
            check_value(&clients, &file.display().to_string(), &bytes).await;
        }
    }
    if let Some(file) = shared("hostile/naughty-strings.json") {
        let texts: Vec<String> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        for text in texts {
            check_string(&clients, &text).await;
        }
    }
    still_serves(&hub).await;
}

#[tokio::test]
async fn prove_random_bytes_break_nothing_and_leave_nothing() {
    let hub = Hub::start().await;
    let clients = clients(&hub).await;
    let mut random = Rng::with_seed(20_261_118);
    let mut send = async |count: u32| {
        for round in 0..count {
            let most = 1 << random.u32(0..18);
            let length = random.usize(..most);
            let bytes: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
            check(&clients[round as usize % clients.len()..][..1], "random", &bytes).await;
        }
    };
    let count = repetitions(3_000);
    send(count).await;
    let before = resident();
    send(count).await;
    if let (Some(before), Some(after)) = (before, resident()) {
        let grown = after.saturating_sub(before);
        assert!(grown < 32 << 20, "{grown} bytes more after {count} requests");
    }
    still_serves(&hub).await;
}

#[tokio::test]
async fn deep_and_wide() {
    let hub = Hub::start().await;
    let clients = clients(&hub).await;
    let deep = "[".repeat(100_000);
    let objects = r#"{"a":"#.repeat(100_000);
    let wide = format!("[{}]", vec!["1"; 100_000].join(","));
    let batch =
        format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; 10_000].join(","));
    for (what, body) in [("deep", deep), ("objects", objects), ("wide", wide), ("batch", batch)] {
        leaves_nothing(what, async || {
            for _ in 0..repetitions(100) {
                check(&clients, what, body.as_bytes()).await;
            }
        })
        .await;
    }
    still_serves(&hub).await;
}

/// Many at once, each with a large part of a body that never ends.
#[tokio::test]
async fn slow_senders() {
    let hub = Hub::with(|options| options.limits.read = Duration::from_millis(100)).await;
    let client = hub.client("token-cto");
    let head: String =
        client.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let part = "x".repeat(200_000);
    let sent = format!("POST /mcp HTTP/1.1\r\n{head}content-length: 1000000\r\n\r\n\"{part}");
    leaves_nothing("slow senders", async || {
        // A few at once, so that what they hold meanwhile is little beside what they would leave in all.
        for _ in 0..10 {
            let mut streams = Vec::new();
            for _ in 0..20 {
                let mut stream = TcpStream::connect(hub.address).await.unwrap();
                let _ = stream.write_all(sent.as_bytes()).await;
                streams.push(stream);
            }
            for stream in streams {
                assert_eq!(Answer::read(stream).await.status, 408);
            }
        }
    })
    .await;
    still_serves(&hub).await;
}

#[tokio::test]
async fn prove_bent_messages_break_nothing() {
    let hub = Hub::start().await;
    let clients = clients(&hub).await;
    let mut params = json!({"name": "alpha__raw", "arguments": {"a": [1, "x", null]}});
    let session = request(7, "tools/call", params.clone());
    params["_meta"] = stateless(json!({"elicitation": {}}));
    let seeds =
        [session, request(8, "tools/call", params), request(9, "resources/list", json!({}))];
    let mut random = Rng::with_seed(20_261_116);
    for round in 0..repetitions(3_000) {
        let mut bytes = seeds[round as usize % seeds.len()].clone().into_bytes();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(..bytes.len().max(1));
            if at >= bytes.len() {
                break;
            }
            match random.u8(..4) {
                0 => bytes[at] = random.u8(..),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, *random.choice(b"{}[]\",:\\0ae").unwrap_or(&b'0')),
                _ => bytes.truncate(at.max(1)),
            }
        }
        check(&clients[round as usize % clients.len()..][..1], "bent", &bytes).await;
    }
    still_serves(&hub).await;
}

#[tokio::test]
async fn prove_random_headers_break_nothing() {
    let hub = Hub::start().await;
    let good = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let names = [
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "last-event-id",
        "accept",
        "content-type",
        "origin",
        "mcp-param-region",
    ];
    let mut params = json!({"name": "alpha__mirrored", "arguments": {"region": "eu"}});
    params["_meta"] = stateless(json!({}));
    let body = request(1, "tools/call", params);
    leaves_nothing("headers", async || {
        random_headers(&good, &names, &body).await;
    })
    .await;
    still_serves(&hub).await;
}

async fn random_headers(good: &Client, names: &[&str], body: &str) {
    let mut random = Rng::with_seed(20_261_117);
    for _ in 0..repetitions(2_000) {
        let mut client = good.clone();
        for _ in 0..random.usize(1..4) {
            let length = random.usize(1..60);
            let value: String = (0..length).map(|_| random.char('!'..='~')).collect();
            client = client.with(names[random.usize(..names.len())], &value);
        }
        for method in ["POST", "GET", "DELETE"] {
            if method == "DELETE"
                && client.headers.iter().any(|(_, value)| {
                    good.headers.iter().any(|(name, id)| name == "mcp-session-id" && id == value)
                })
            {
                continue;
            }
            let answer = client.send(method, body.as_bytes()).await;
            assert!(answer.status < 500, "{method}: {}", answer.status);
        }
    }
}
