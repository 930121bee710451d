//! Sessions: bound to their caller and door, ended for good, taken over by another instance.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use switchboard_mcp::Remember;
use switchboard_testkit::clock::ManualClock;

use crate::kit::{Hub, call, principal, request, until};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn a_session_of_one_agent_is_useless_to_another() {
    let hub = Hub::start().await;
    let cto = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    assert_eq!(cto.post(PING).await.status, 200);
    for token in ["token-dev", "token-boss"] {
        let thief = cto.clone().with("authorization", &format!("Bearer {token}"));
        assert_eq!(thief.post(PING).await.status, 404, "{token}");
        assert_eq!(thief.get().await.status, 404, "{token}");
        assert_eq!(thief.send("DELETE", b"").await.status, 404, "{token}");
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        assert_eq!(thief.post(answer).await.status, 404, "{token}");
    }
    for door in ["/mcp/agents/cto", "/mcp/servers/alpha"] {
        assert_eq!(cto.clone().at(door).post(PING).await.status, 404, "{door}");
    }
    assert_eq!(cto.post(PING).await.status, 200, "and its owner still has it");
}

#[tokio::test]
async fn an_id_cannot_be_made_up() {
    let hub = Hub::start().await;
    let cto = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let id = cto.headers.iter().find(|(name, _)| name == "mcp-session-id").unwrap().1.clone();
    for at in [0, 10, id.len() / 2, id.len() - 1] {
        let mut bent = id.clone().into_bytes();
        bent[at] = if bent[at] == b'A' { b'B' } else { b'A' };
        let bent = String::from_utf8(bent).unwrap();
        assert_eq!(cto.clone().with("mcp-session-id", &bent).post(PING).await.status, 404);
    }
    for other in ["x", &id[1..], &format!("{id}A"), &format!("A{id}")] {
        assert_eq!(cto.clone().with("mcp-session-id", other).post(PING).await.status, 404);
    }
}

#[tokio::test]
async fn an_ended_session_stays_ended() {
    let hub = Hub::start().await;
    let cto = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let mut stream = cto.get().await;
    assert_eq!(stream.status, 200);
    assert_eq!(cto.send("DELETE", b"").await.status, 204);
    assert_eq!(stream.next().await, None, "its stream ends");
    assert_eq!(cto.post(PING).await.status, 404);
    assert_eq!(cto.send("DELETE", b"").await.status, 404);
    assert_eq!(hub.endpoint.sessions(), 0);
}

#[tokio::test]
async fn whoever_is_dismissed_has_nothing_left() {
    let hub = Hub::start().await;
    let cto = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let dev = hub.client("token-dev").initialized("2025-11-25", json!({})).await;
    let mut stream = cto.get().await;
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let client = hub.client("token-cto");
    let mut listening = client.ask(1, "subscriptions/listen", wanted, json!({})).await;
    let params = json!({"name": "alpha__elicit"});
    client.ask(2, "tools/call", params, json!({"elicitation": {}})).await;
    hub.endpoint.dismiss(&principal("token-cto").unwrap().who);
    assert_eq!(stream.next().await, None);
    assert_eq!(listening.all().await.last().unwrap()["id"], 1);
    assert_eq!(cto.post(PING).await.status, 404);
    assert_eq!(dev.post(PING).await.status, 200, "others keep theirs");
    until("the call that waits is given up", || hub.servers.count(&hub.servers.dropped) == 1).await;
}

#[tokio::test]
async fn another_instance_takes_over() {
    let (one, two) = (Hub::start().await, Hub::start().await);
    let mut client = one.client("token-cto").initialized("2025-06-18", json!({"roots": {}})).await;
    client.address = two.address;
    let answer = client.post(&call(1, "alpha__echo", json!({}))).await.json().await;
    // What the client can do is known there too.
    assert_eq!(answer["result"]["content"][0]["text"], "alpha echo 12");
    let thief = client.clone().with("authorization", "Bearer token-dev");
    assert_eq!(thief.post(PING).await.status, 404);
    let other = Hub::with(|options| options.key = [1; 32]).await;
    client.address = other.address;
    assert_eq!(client.post(PING).await.status, 404, "another key is another hub");
}

#[tokio::test]
async fn sessions_are_bounded_and_come_back() {
    let hub = Hub::with(|options| {
        options.limits.sessions_each = 8;
        options.limits.sessions = 12;
    })
    .await;
    let mut clients = Vec::new();
    for _ in 0..40 {
        clients.push(hub.client("token-cto").initialized("2025-11-25", json!({})).await);
        assert!(hub.endpoint.sessions() <= 8);
    }
    for client in &clients {
        assert_eq!(client.post(PING).await.status, 200, "what was let go comes back by its id");
        assert!(hub.endpoint.sessions() <= 8);
    }
    // Those in use are not let go; when all are, there is no room.
    let mut streams = Vec::new();
    for client in &clients[..8] {
        streams.push(client.get().await);
    }
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}});
    let full = hub.client("token-cto").post(&request(1, "initialize", params)).await;
    assert_eq!(full.status, 429);
    assert_eq!(
        hub.client("token-dev").initialized("2025-11-25", json!({})).await.post(PING).await.status,
        200
    );
}

#[tokio::test]
async fn a_session_that_is_used_grows_old_too() {
    let clock = Arc::new(ManualClock::new());
    let hour = Duration::from_secs(60 * 60);
    let start = async || {
        Hub::with(|options| {
            options.limits.session_life = 48 * hour;
            options.clock = clock.clone();
        })
        .await
    };
    let (hub, other) = (start().await, start().await);
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let mut moved = client.clone();
    moved.address = other.address;
    let mut stream = client.get().await;
    for used in 1..=49 {
        clock.advance(hour);
        let status = if used < 48 { 200 } else { 404 };
        assert_eq!(client.post(PING).await.status, status, "after {used} hours");
        // Taken over half way, it is not younger for that.
        if used >= 24 {
            assert_eq!(moved.post(PING).await.status, status, "after {used} hours, elsewhere");
        }
    }
    assert_eq!(stream.next().await, None, "its stream ends with it");
}

/// What was ended, kept by the test.
#[derive(Default)]
struct Kept(Mutex<Vec<([u8; 16], SystemTime)>>);

impl Remember for Kept {
    fn recall(&self) -> Vec<([u8; 16], SystemTime)> {
        self.0.lock().unwrap().clone()
    }

    fn note(&self, id: [u8; 16], until: SystemTime) {
        self.0.lock().unwrap().push((id, until));
    }
}

#[tokio::test]
async fn an_ended_session_stays_ended_after_a_restart() {
    let kept = Arc::new(Kept::default());
    let keep = kept.clone();
    let hub = Hub::with(|options| options.ended = Some(keep)).await;
    let ended = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let going_on = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    assert_eq!(ended.send("DELETE", b"").await.status, 204);
    // One that lives on a connection cannot come back, and is not worth keeping.
    drop(hub.client("token-cto").at("/sse").get().await);
    let again = kept.clone();
    let hub = Hub::with(|options| options.ended = Some(again)).await;
    for (client, status) in [(ended, 404), (going_on, 200)] {
        let mut client = client;
        client.address = hub.address;
        assert_eq!(client.post(PING).await.status, status);
    }
    assert_eq!(kept.recall().len(), 1);
}

#[tokio::test]
async fn an_old_id_is_no_id() {
    let hub = Hub::with(|options| options.limits.session_life = Duration::from_secs(3600)).await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let other = Hub::with(|options| options.limits.session_life = Duration::ZERO).await;
    let mut late = client.clone();
    late.address = other.address;
    assert_eq!(late.post(PING).await.status, 404);
}

#[tokio::test]
async fn a_client_that_goes_away_has_not_cancelled() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let (servers, body) = (hub.servers.clone(), call(1, "alpha__wait", json!({})));
    tokio::select! {
        _ = client.post(&body) => panic!("it waits"),
        () = until("it begins", || servers.count(&servers.begun) == 1) => {}
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(hub.servers.count(&hub.servers.dropped), 0);
    hub.servers.release.notify_one();
    until("it ends", || hub.servers.count(&hub.servers.ended) == 1).await;
}

#[tokio::test]
async fn a_stateless_client_that_goes_away_has_cancelled() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let servers = hub.servers.clone();
    tokio::select! {
        _ = client.ask(1, "tools/call", json!({"name": "alpha__wait"}), json!({})) => panic!("it waits"),
        () = until("it begins", || servers.count(&servers.begun) == 1) => {}
    }
    until("it is dropped", || hub.servers.count(&hub.servers.dropped) == 1).await;
}

#[tokio::test]
async fn a_call_can_be_cancelled() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let cancel = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )
    };
    let waiting = client.post(
        r#"{"jsonrpc":"2.0","id":"w\u0031","method":"tools/call","params":{"name":"alpha__wait"}}"#,
    );
    let cancelling = async {
        until("it begins", || hub.servers.count(&hub.servers.begun) == 1).await;
        let other = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
        assert_eq!(other.post(&cancel("\"w1\"")).await.status, 202);
        assert_eq!(client.post(&cancel("\"w2\"")).await.status, 202);
        assert_eq!(hub.servers.count(&hub.servers.dropped), 0, "another's call, or no call");
        assert_eq!(client.post(&cancel("\"w1\"")).await.status, 202);
    };
    let (mut answer, ()) = tokio::join!(waiting, cancelling);
    assert_eq!(answer.status, 202);
    assert_eq!(answer.text().await, "");
    until("it is dropped", || hub.servers.count(&hub.servers.dropped) == 1).await;
}
