//! Whatever is sent, over HTTP, the older transport and pipes: no panic, no 5xx, an answer, no more
//! memory, and the endpoint still serves. Over HTTP, however requests are read.

mod headers;
mod memory;
mod pipes;
mod random;

use serde_json::json;
use switchboard_testkit::{hostile, panics};

use self::memory::leaves_nothing;
use crate::kit::{Client, Hub, call, request, stateless};
use crate::legacy;

/// Sends it as each of them; nothing may break. How many bytes that were.
async fn check(clients: &[Client], what: &str, body: &[u8]) -> usize {
    let mut sent = 0;
    for client in clients {
        let answer = client.send("POST", body).await;
        assert!(answer.status < 500, "{what}: {}", answer.status);
        sent += length(client) + body.len();
    }
    sent
}

/// Bytes of what it says besides.
fn length(client: &Client) -> usize {
    client.headers.iter().map(|(name, value)| name.len() + value.len()).sum()
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

async fn still_serves(hub: &Hub) {
    assert!(hub.served.by(hub.way) > 0, "it was {:?} that was tested", hub.way);
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let answer = client.post(&call(1, "alpha__echo", json!({}))).await.json().await;
    assert!(answer["result"].is_object());
    panics::none();
}

#[tokio::test]
async fn hostile_texts() {
    let inputs = hostile::small();
    for hub in Hub::each_way().await {
        let clients = clients(&hub).await;
        leaves_nothing("hostile texts", async || {
            let mut sent = 0;
            for input in &inputs {
                sent += check(&clients, &input.name, &input.bytes).await;
            }
            for key in hostile::KEYS {
                sent += check_key(&clients, key).await;
            }
            sent
        })
        .await;
        still_serves(&hub).await;
    }
}

/// A name, as each value inside of a good message. How many bytes that were.
async fn check_key(clients: &[Client], key: &str) -> usize {
    let mut sent = 0;
    for member in ["id", "method", "params"] {
        let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "alpha__echo"}});
        message[member] = key.into();
        sent += check(clients, key, message.to_string().as_bytes()).await;
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
        sent += check(clients, key, message.as_bytes()).await;
        let encoded = switchboard_wire::header::encode(key).into_owned();
        let modern = clients[2].clone().with("mcp-method", method);
        let modern = if encoded.is_empty() { modern } else { modern.with("mcp-name", &encoded) };
        sent += check(&[modern], key, message.as_bytes()).await;
    }
    sent
}

/// A value, as a message and as the arguments of a call. How many bytes that were.
async fn check_value(clients: &[Client], name: &str, bytes: &[u8]) -> usize {
    let head = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"alpha__raw","arguments":"#;
    let call = [head, bytes, b"}}"].concat();
    check(clients, name, bytes).await + check(&clients[1..2], name, &call).await
}

/// A text, as an argument that comes back and as the name of a tool. How many bytes that were.
async fn check_string(clients: &[Client], text: &str) -> usize {
    let params = json!({"name": "alpha__raw", "arguments": {"text": text}});
    let call = request(1, "tools/call", params);
    let answer = clients[1].post(&call).await;
    assert_eq!(answer.json().await["result"]["text"], text, "nothing of it is lost");
    let message = request(1, "tools/call", json!({"name": text}));
    length(&clients[1]) + call.len() + check(&clients[1..2], text, message.as_bytes()).await
}

/// What must hold everywhere, also where the public sets are not.
#[tokio::test]
async fn our_own_set() {
    for hub in Hub::each_way().await {
        let clients = clients(&hub).await;
        leaves_nothing("our own set", async || {
            let mut sent = 0;
            for value in hostile::VALUES {
                sent += check_value(&clients, &String::from_utf8_lossy(value), value).await;
            }
            for text in hostile::STRINGS {
                sent += check_string(&clients, text).await;
            }
            sent
        })
        .await;
        still_serves(&hub).await;
    }
}

/// JSON that parsers get wrong.
#[tokio::test]
async fn public_values() {
    let Some(values) = hostile::public_values() else { return };
    for hub in Hub::each_way().await {
        let clients = clients(&hub).await;
        leaves_nothing("public values", async || {
            let mut sent = 0;
            for value in &values {
                sent += check_value(&clients, &value.name, &value.bytes).await;
            }
            sent
        })
        .await;
        still_serves(&hub).await;
    }
}

/// Strings that programs get wrong.
#[tokio::test]
async fn public_strings() {
    let Some(texts) = hostile::public_strings() else { return };
    for hub in Hub::each_way().await {
        let clients = clients(&hub).await;
        leaves_nothing("public strings", async || {
            let mut sent = 0;
            for text in &texts {
                sent += check_string(&clients, text).await;
            }
            sent
        })
        .await;
        still_serves(&hub).await;
    }
}
