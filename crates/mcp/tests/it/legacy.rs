//! The older transport: one stream for everything, a POST for each message.

use serde_json::json;

use crate::kit::{Answer, Client, Hub, call, key, request};

/// Opens the stream; the client that posts to where it says.
pub(crate) async fn open(client: &Client) -> (Answer, Client) {
    let mut stream = client.get().await;
    assert_eq!(stream.status, 200);
    let (_, place) = stream.event().await.unwrap();
    let place = String::from_utf8(place).unwrap();
    assert!(place.starts_with(&format!("{}?sessionId=", client.path)), "{place}");
    let poster = client.clone().at(&place);
    (stream, poster)
}

pub(crate) fn greeting(revision: &str) -> String {
    let params =
        json!({"protocolVersion": revision, "capabilities": {"elicitation": {}}, "clientInfo": {}});
    request(0, "initialize", params)
}

pub(crate) async fn greet(stream: &mut Answer, poster: &Client) {
    assert_eq!(poster.post(&greeting("2024-11-05")).await.status, 202);
    let (_, answer) = stream.next().await.unwrap();
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
}

#[tokio::test]
async fn everything_comes_on_the_stream() {
    let hub = Hub::start().await;
    for path in ["/sse", "/mcp/sse", "/mcp/agents/cto/sse"] {
        let (mut stream, poster) = open(&hub.client("token-cto").at(path)).await;
        assert_eq!(poster.post(&request(9, "tools/list", json!({}))).await.status, 202);
        assert_eq!(stream.next().await.unwrap().1["error"]["code"], -32600, "no greeting yet");
        greet(&mut stream, &poster).await;
        poster.post(&call(1, "alpha__progress", json!({}))).await;
        let mut progress = 0;
        let answer = loop {
            let (_, message) = stream.next().await.unwrap();
            if message["id"] == 1 {
                break message;
            }
            progress += 1;
        };
        assert_eq!((progress, &answer["result"]["content"][0]["text"]), (3, &json!("done")));
        // A server's question, and its answer.
        poster.post(&call(2, "alpha__elicit", json!({}))).await;
        for _ in 0..2 {
            let (_, asked) = stream.next().await.unwrap();
            assert_eq!(asked["method"], "elicitation/create");
            let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"ok": 1}});
            assert_eq!(poster.post(&answer.to_string()).await.status, 202);
        }
        assert_eq!(stream.next().await.unwrap().1["result"]["answers"], r#"{"ok":1}{"ok":1}"#);
        assert_eq!(poster.post("{").await.status, 202);
        assert_eq!(stream.next().await.unwrap().1["error"]["code"], -32700);
    }
}

#[tokio::test]
async fn a_channel_is_its_owners_and_ends_with_its_stream() {
    let hub = Hub::start().await;
    let (mut stream, poster) = open(&hub.client("token-cto").at("/sse")).await;
    greet(&mut stream, &poster).await;
    let ping = request(1, "ping", json!({}));
    let thief = poster.clone().with("authorization", "Bearer token-dev");
    assert_eq!(thief.post(&ping).await.status, 404);
    assert_eq!(poster.clone().at("/sse").post(&ping).await.status, 404);
    assert_eq!(poster.clone().at("/sse?sessionId=x").post(&ping).await.status, 404);
    assert_eq!(poster.post(&ping).await.status, 202);
    assert_eq!(stream.next().await.unwrap().1["id"], 1);
    drop(stream);
    crate::kit::until("it ends", || hub.endpoint.sessions() == 0).await;
    assert_eq!(poster.post(&ping).await.status, 404);
}

#[tokio::test]
async fn changes_come_on_the_stream() {
    let hub = Hub::start().await;
    let (mut stream, poster) = open(&hub.client("token-cto").at("/sse")).await;
    greet(&mut stream, &poster).await;
    let uri = json!({"uri": "mcp://beta/test://beta"});
    poster.post(&request(1, "resources/subscribe", uri.clone())).await;
    assert_eq!(stream.next().await.unwrap().1["result"], json!({}));
    hub.endpoint.resource_updated(&key("beta"), "test://beta");
    let (_, told) = stream.next().await.unwrap();
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"], uri);
    hub.registry.withdraw(&key("beta"));
    for list in ["tools", "resources", "prompts"] {
        let (_, told) = stream.next().await.unwrap();
        assert_eq!(told["method"], format!("notifications/{list}/list_changed"));
    }
}
