//! What goes by itself when its time has come, by a clock that the test turns.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::clock::ManualClock;
use tokio::time::timeout;

use crate::kit::{Client, Hub, LIMIT, call, request, until};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

async fn hub() -> (Hub, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new());
    let plain = |limits: &mut switchboard_mcp::Limits| limits.plain = Duration::from_millis(50);
    let hub = Hub::at(clock.clone(), |options| plain(&mut options.limits)).await;
    (hub, clock)
}

async fn ask(client: &Client, tool: &str, more: Value) -> Value {
    let mut params = json!({"name": tool});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.ask(1, "tools/call", params, json!({"elicitation": {}})).await.json().await
}

#[tokio::test]
async fn calls_that_nobody_comes_back_to() {
    let (hub, clock) = hub().await;
    let client = hub.client("token-cto");
    let input = switchboard_mcp::Limits::default().input;
    for (tool, waits) in [("alpha__elicit", 1), ("alpha__ask", 0)] {
        let first = ask(&client, tool, json!({})).await;
        let state = &first["result"]["requestState"];
        let answers = json!({"requestState": state, "inputResponses": {"k": {}}});
        clock.advance(input - Duration::from_secs(1));
        hub.endpoint.sweep();
        assert_eq!(hub.servers.count(&hub.servers.dropped), 0, "{tool}: its time has not come");
        clock.advance(Duration::from_secs(1));
        // Too old, also as long as the call is still there.
        let late = ask(&client, tool, answers).await;
        assert_eq!(late["error"]["code"], -32602, "{late}");
        assert_eq!(hub.servers.count(&hub.servers.dropped), 0, "{tool}");
        hub.endpoint.sweep();
        assert_eq!(hub.servers.count(&hub.servers.dropped), waits, "{tool}: the server is told");
        hub.servers.dropped.store(0, std::sync::atomic::Ordering::SeqCst);
    }
}

#[tokio::test]
async fn sessions_that_nobody_uses() {
    let (hub, clock) = hub().await;
    let limits = switchboard_mcp::Limits::default();
    let session = async || hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let (idle, chose, watches, listens) =
        (session().await, session().await, session().await, session().await);
    let refused = session().await;
    let level =
        r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}"#;
    assert_eq!(chose.post(level).await.status, 200);
    let uri = json!({"uri": "mcp://beta/test://beta"});
    let watched = watches.post(&request(1, "resources/subscribe", uri)).await.json().await;
    assert!(watched["error"].is_null(), "{watched}");
    let uri = json!({"uri": "mcp://beta/test://beta/not"});
    hub.servers.refusals.store(1, std::sync::atomic::Ordering::SeqCst);
    let not = refused.post(&request(1, "resources/subscribe", uri)).await.json().await;
    assert!(not["error"].is_object(), "{not}");
    let mut stream = listens.get().await;
    assert_eq!(stream.status, 200);
    let second = Duration::from_secs(1);
    for (rest, stay, why) in [
        (limits.session_light, 5, "not yet"),
        (second, 3, "of these nothing was held"),
        (limits.session_idle - limits.session_light - second, 3, "not yet"),
        (second, 1, "the one that listens stays"),
    ] {
        clock.advance(rest);
        hub.endpoint.sweep();
        assert_eq!(hub.endpoint.sessions(), stay, "{why}");
    }
    assert_eq!(idle.post(PING).await.status, 200, "it comes back by its id");
    assert_eq!(refused.post(PING).await.status, 200, "it had not subscribed");
    assert_eq!(watches.post(PING).await.status, 404, "without its subscription it is another one");
    assert_eq!(hub.endpoint.sessions(), 3);
    // Too old, whoever listens.
    clock.advance(switchboard_mcp::Limits::default().session_life);
    hub.endpoint.sweep();
    assert_eq!(stream.next().await, None);
    assert_eq!(hub.endpoint.sessions(), 0);
    assert_eq!(idle.post(PING).await.status, 404);
}

/// What a client declared beyond what its id can say would be lost with it.
#[tokio::test]
async fn a_session_whose_id_does_not_say_all_is_held() {
    let (hub, clock) = hub().await;
    let limits = switchboard_mcp::Limits::default();
    for (pages, stay) in [(1, 0), (200, 1)] {
        let ui = json!({"mimeTypes": vec!["text/html"; pages]});
        let able = json!({"extensions": {"io.modelcontextprotocol/ui": ui}});
        let _client = hub.client("token-cto").initialized("2025-11-25", able).await;
        clock.advance(limits.session_light + Duration::from_secs(1));
        hub.endpoint.sweep();
        assert_eq!(hub.endpoint.sessions(), stay, "{pages} kinds of pages");
    }
}

/// Comes back to a stream.
async fn again(client: &Client, event: &str) -> crate::kit::Answer {
    client.clone().with("last-event-id", event).get().await
}

/// Sweeps until the stream is not kept any more. The call's task may take note of its end a little
/// later than its client does.
async fn goes(hub: &Hub, client: &Client, event: &str) {
    let gone = async {
        while again(client, event).await.status != 400 {
            hub.endpoint.sweep();
        }
    };
    assert!(timeout(LIMIT, gone).await.is_ok(), "it is kept for ever");
}

#[tokio::test]
async fn streams_of_calls_that_are_over() {
    let (hub, _) = hub().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    // One that was read to its end.
    let mut read = client.post(&call(1, "alpha__progress", json!({}))).await;
    let (event, _) = read.event().await.unwrap();
    assert_eq!(read.all().await.len(), 4);
    for _ in 0..4 {
        hub.endpoint.sweep();
    }
    let mut kept = again(&client, &event).await;
    assert_eq!((kept.status, kept.all().await.len()), (200, 4), "all of it, once more");
    drop((read, kept));
    goes(&hub, &client, &event).await;
    // One whose answer nobody has.
    let mut lost = client.post(&call(2, "alpha__wait", json!({}))).await;
    let (event, _) = lost.event().await.unwrap();
    drop(lost);
    until("the client is gone", || hub.servers.count(&hub.served.open) == 0).await;
    hub.servers.release.notify_one();
    until("it ends", || hub.servers.count(&hub.servers.ended) == 2).await;
    for _ in 0..20 {
        hub.endpoint.sweep();
    }
    let mut kept = again(&client, &event).await;
    assert_eq!((kept.status, kept.all().await.len()), (200, 1));
    goes(&hub, &client, &event).await;
}

#[tokio::test]
async fn subscriptions_of_who_is_gone() {
    let (hub, _) = hub().await;
    let told = |method: &str| {
        let seen = hub.servers.seen.lock().unwrap();
        seen.iter().filter(|(server, of, _)| server == "alpha" && of == method).count()
    };
    let subscribe = request(1, "resources/subscribe", json!({"uri": "mcp://alpha/test://alpha"}));
    let mut clients = Vec::new();
    for _ in 0..2 {
        let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
        assert!(client.post(&subscribe).await.json().await["result"].is_object());
        clients.push(client);
    }
    assert_eq!(told("resources/subscribe"), 1, "they share it");
    assert_eq!(clients[0].send("DELETE", b"").await.status, 204);
    hub.endpoint.sweep();
    assert_eq!(hub.endpoint.watched().len(), 1, "one still wants to hear");
    assert_eq!(clients[1].send("DELETE", b"").await.status, 204);
    until("nobody does", || {
        hub.endpoint.sweep();
        hub.endpoint.watched().is_empty()
    })
    .await;
    until("the server is told off", || told("resources/unsubscribe") == 1).await;
}

#[tokio::test]
async fn results_that_nobody_reads() {
    let (hub, clock) = hub().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let long = client.post(&call(1, "alpha__large", json!({}))).await.json().await;
    assert!(long["result"].is_object(), "{long}");
    assert_eq!(hub.results.bytes(), 150_000);
    let time = switchboard_core::results::Bounds::default().time;
    clock.advance(time - Duration::from_secs(1));
    hub.endpoint.sweep();
    assert_eq!(hub.results.bytes(), 150_000);
    clock.advance(Duration::from_secs(1));
    hub.endpoint.sweep();
    assert_eq!(hub.results.bytes(), 0);
}
