//! What was opened by a token ends with it, and nothing else does.

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::{Hub, call, until};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn streams_and_sessions_end_with_their_token() {
    let hub = Hub::start().await;
    let cto = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let other = hub.client("token-cto-2").initialized("2025-11-25", json!({})).await;
    // By the second token on the first one's session, and the other way round.
    let mixed = other.clone().with("authorization", "Bearer token-cto");
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let client = hub.client("token-cto");
    let mut listening = client.ask(1, "subscriptions/listen", wanted, json!({})).await;
    assert_eq!(
        listening.next().await.unwrap().1["method"],
        "notifications/subscriptions/acknowledged"
    );
    let (mut own, mut kept) = (cto.get().await, mixed.get().await);
    let mut legacy = hub.client("token-cto").at("/sse").get().await;
    assert!(legacy.event().await.is_some());
    hub.endpoint.review();
    assert_eq!(cto.post(PING).await.status, 200, "it is good so far");
    hub.tokens.withdraw("token-cto");
    hub.endpoint.review();
    for (what, stream) in [
        ("the session's", &mut own),
        ("opened on another's session", &mut kept),
        ("of changes", &mut listening),
        ("of the older transport", &mut legacy),
    ] {
        assert_eq!(stream.event().await, None, "{what}");
    }
    assert_eq!(cto.post(PING).await.status, 401);
    let moved = cto.with("authorization", "Bearer token-cto-2");
    assert_eq!(moved.post(PING).await.status, 404, "the session is over");
    assert_eq!(other.post(PING).await.status, 200, "the other token's is not");
}

#[tokio::test]
async fn a_call_under_way_says_nothing_more() {
    let hub = Hub::with(|options| options.limits.plain = Duration::from_millis(200)).await;
    let client = hub.client("token-cto");
    let session = client.clone().initialized("2025-11-25", json!({})).await;
    // One that is a stream by now, of each era.
    let params = json!({"name": "alpha__wait"});
    let mut modern = client.ask(1, "tools/call", params.clone(), json!({})).await;
    let mut old = session.post(&call(2, "alpha__wait", json!({}))).await;
    assert!(modern.is_stream() && old.is_stream());
    // And one that is not yet.
    let begun = || hub.servers.count(&hub.servers.begun) == 3;
    let plain = client.ask(3, "tools/call", params, json!({}));
    let withdraw = async {
        until("it begins", begun).await;
        hub.tokens.withdraw("token-cto");
        hub.endpoint.review();
    };
    let (plain, ()) = tokio::join!(plain, withdraw);
    assert_eq!(plain.status, 401);
    assert_eq!(modern.next().await, None);
    assert_eq!(old.next().await, None);
    until("all are dropped", || hub.servers.count(&hub.servers.dropped) == 3).await;
}

/// Long before it becomes a stream, whether it has just begun or goes on for a while.
#[tokio::test]
async fn a_call_that_is_no_stream_ends_soon() {
    for after in [Duration::ZERO, Duration::from_millis(1_500)] {
        let hub = Hub::with(|options| options.limits.plain = Duration::from_secs(600)).await;
        let client = hub.client("token-cto");
        let waits = client.ask(1, "tools/call", json!({"name": "alpha__wait"}), json!({}));
        let withdraw = async {
            until("it begins", || hub.servers.count(&hub.servers.begun) == 1).await;
            tokio::time::sleep(after).await;
            hub.tokens.withdraw("token-cto");
            hub.endpoint.review();
        };
        let (answer, ()) = tokio::join!(waits, withdraw);
        assert_eq!(answer.status, 401, "{after:?}");
        until("it is dropped", || hub.servers.count(&hub.servers.dropped) == 1).await;
    }
}

/// Of another token, or of none that ended: it is answered when it is done.
#[tokio::test]
async fn a_call_that_takes_a_while_is_answered() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto-2");
    let waits = client.ask(1, "tools/call", json!({"name": "alpha__wait"}), json!({}));
    let meanwhile = async {
        until("it begins", || hub.servers.count(&hub.servers.begun) == 1).await;
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        hub.tokens.withdraw("token-cto");
        hub.endpoint.review();
        hub.servers.release.notify_one();
    };
    let (answer, ()) = tokio::join!(waits, meanwhile);
    assert!(!answer.is_stream());
    assert!(answer.json().await["result"].is_object());
}

#[tokio::test]
async fn a_call_that_waits_for_inputs_ends_with_its_token() {
    let hub = Hub::start().await;
    let able = json!({"elicitation": {}});
    let ask = async |token: &str, more: Value| {
        let mut params = json!({"name": "alpha__elicit"});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hub.client(token).ask(1, "tools/call", params, able.clone()).await
    };
    let mut states = Vec::new();
    for token in ["token-cto", "token-cto-2"] {
        let waits = ask(token, json!({})).await.json().await;
        let requests = waits["result"]["inputRequests"].as_object().unwrap();
        let key = requests.keys().next().unwrap();
        let state = &waits["result"]["requestState"];
        states.push(json!({"requestState": state, "inputResponses": {key: {"x": 1}}}));
    }
    hub.endpoint.review();
    assert_eq!(hub.servers.count(&hub.servers.dropped), 0, "it is good so far");
    hub.tokens.withdraw("token-cto");
    hub.endpoint.review();
    assert_eq!(hub.servers.count(&hub.servers.dropped), 1, "the server is told");
    assert_eq!(ask("token-cto", states[0].clone()).await.status, 401);
    // The same agent by its other token, which could have gone on with it.
    let over = ask("token-cto-2", states[0].clone()).await.json().await;
    assert_eq!(over["error"]["code"], -32602, "{over}");
    let other = ask("token-cto-2", states[1].clone()).await.json().await;
    assert_eq!(other["result"]["resultType"], "input_required", "it asks twice: {other}");
}

/// The token ends after its call has begun, and before that call begins to wait.
#[tokio::test]
async fn a_call_does_not_begin_to_wait_when_its_token_is_gone() {
    let hub = Hub::with(|options| options.limits.gather = Duration::from_millis(200)).await;
    let able = json!({"elicitation": {}});
    let client = hub.client("token-cto");
    let call = client.ask(1, "tools/call", json!({"name": "alpha__elicit"}), able);
    let withdraw = async {
        until("it begins", || hub.servers.count(&hub.servers.begun) == 1).await;
        hub.tokens.withdraw("token-cto");
        hub.endpoint.review();
    };
    let (call, ()) = tokio::join!(call, withdraw);
    assert_eq!(call.status, 401);
    assert_eq!(hub.servers.count(&hub.servers.dropped), 1, "the server is told");
}
