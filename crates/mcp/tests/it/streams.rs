//! Streams: from the moment that something is said before the answer, with ids to come back to.

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::{Hub, call, request, until};

fn tokens(messages: &[Value]) -> Vec<&Value> {
    messages
        .iter()
        .filter(|one| one["method"] == "notifications/progress")
        .map(|one| &one["params"]["progressToken"])
        .collect()
}

#[tokio::test]
async fn progress_comes_under_the_callers_own_token() {
    let hub = Hub::start().await;
    for token in [json!("p-1"), json!(17)] {
        let params = json!({"name": "alpha__progress", "_meta": {"progressToken": token}});
        let client = hub.client("token-cto");
        let session = client.clone().initialized("2025-06-18", json!({})).await;
        let mut old = session.post(&request(5, "tools/call", params.clone())).await;
        let mut new = client.ask(5, "tools/call", params, json!({})).await;
        for answer in [&mut old, &mut new] {
            assert!(answer.is_stream());
            assert_eq!(answer.header("x-accel-buffering").unwrap(), "no");
            let messages = answer.all().await;
            assert_eq!(tokens(&messages), [&token; 3]);
            assert_eq!(messages[3]["id"], 5);
            assert_eq!(messages[3]["result"]["content"][0]["text"], "done");
            assert_eq!(messages.len(), 4);
        }
    }
}

#[tokio::test]
async fn a_plain_answer_is_json() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let answer = client.post(&call(1, "alpha__echo", json!({}))).await;
    assert_eq!(answer.header("content-type").unwrap(), "application/json");
    assert!(answer.header("content-length").is_some());
}

#[tokio::test]
async fn a_long_silence_becomes_a_stream() {
    let hub = Hub::with(|options| {
        options.limits.plain = Duration::from_millis(20);
        options.limits.keep_alive = Duration::from_millis(20);
    })
    .await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let mut answer = client.post(&call(1, "alpha__wait", json!({}))).await;
    assert!(answer.is_stream());
    let (id, first) = answer.event().await.unwrap();
    assert!(!id.is_empty() && first.is_empty(), "what to come back to is said at once");
    hub.servers.release.notify_one();
    assert_eq!(answer.next().await.unwrap().1["id"], 1);
    assert_eq!(answer.next().await, None);
}

/// Who stands in between, or waits, would take a long silence for the end.
#[tokio::test]
async fn a_silent_stream_says_again_and_again_that_it_is_alive() {
    let hub = Hub::with(|options| options.limits.keep_alive = Duration::from_millis(20)).await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let mut own = client.get().await;
    let mut older = hub.client("token-cto").at("/sse").get().await;
    for stream in [&mut own, &mut older] {
        let first = stream.piece().await;
        let mut comments = usize::from(first.starts_with(':'));
        while comments < 3 {
            let piece = stream.piece().await;
            assert!(piece.starts_with(':') && piece.ends_with("\n\n"), "{piece:?}");
            comments += 1;
        }
    }
}

#[tokio::test]
async fn a_lost_stream_is_come_back_to() {
    let hub = Hub::with(|options| options.limits.plain = Duration::from_millis(20)).await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let mut answer = client.post(&call(1, "alpha__wait", json!({}))).await;
    let (id, _) = answer.event().await.unwrap();
    drop(answer);
    let thief = client.clone().with("authorization", "Bearer token-dev");
    assert_eq!(thief.with("last-event-id", &id).get().await.status, 404);
    hub.servers.release.notify_one();
    until("it ends", || hub.servers.count(&hub.servers.ended) == 1).await;
    let back = client.clone().with("last-event-id", &id);
    for _ in 0..2 {
        let mut stream = back.get().await;
        let (last, message) = stream.next().await.unwrap();
        assert_eq!(message["result"]["content"][0]["text"], "done");
        assert_eq!(stream.next().await, None, "the stream of a call ends with its answer");
        let mut nothing = client.clone().with("last-event-id", &last).get().await;
        assert_eq!(nothing.next().await, None, "it was read to its end");
    }
}

#[tokio::test]
async fn progress_is_replayed_from_where_it_was_lost() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let params = json!({"name": "alpha__progress", "_meta": {"progressToken": 1}});
    let mut answer = client.post(&request(5, "tools/call", params)).await;
    let mut ids = Vec::new();
    let mut all = Vec::new();
    while let Some((id, message)) = answer.next().await {
        ids.push(id);
        all.push(message);
    }
    assert_eq!(all.len(), 4);
    for (at, id) in ids.iter().enumerate() {
        let mut again = client.clone().with("last-event-id", id).get().await;
        assert_eq!(again.all().await, all[at + 1..], "after {id}");
    }
}

#[tokio::test]
async fn a_flood_is_bounded_and_ends_with_the_answer() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let messages = client.post(&call(1, "alpha__many", json!({}))).await.all().await;
    assert!(messages.len() <= 258, "{}", messages.len());
    assert_eq!(messages.last().unwrap()["result"]["content"][0]["text"], "done");
    let steps = messages.iter().filter_map(|one| one["params"]["progress"].as_u64());
    assert_eq!(steps.max(), Some(4_999), "the newest are kept");
}

#[tokio::test]
async fn log_messages_by_level() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let session = client.clone().initialized("2025-11-25", json!({})).await;
    let levels = |messages: &[Value]| {
        let logs = messages.iter().filter(|one| one["method"] == "notifications/message");
        logs.map(|one| one["params"]["level"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let messages = session.post(&call(1, "alpha__log", json!({}))).await.all().await;
    assert_eq!(levels(&messages), ["debug", "warning"]);
    session.post(&request(2, "logging/setLevel", json!({"level": "warning"}))).await;
    let messages = session.post(&call(3, "alpha__log", json!({}))).await.all().await;
    assert_eq!(levels(&messages), ["warning"]);
    let (_, _, params) = hub.servers.last();
    assert!(params.contains(r#""io.modelcontextprotocol/logLevel":"warning""#), "{params}");
    let params = json!({"name": "alpha__log"});
    let answer = client.ask(4, "tools/call", params, json!({})).await;
    assert!(!answer.is_stream(), "nobody asked for log messages");
    let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
    let params = json!({"name": "alpha__log", "_meta": meta});
    let messages = client.ask(5, "tools/call", params, json!({})).await.all().await;
    assert_eq!(levels(&messages), ["debug", "warning"]);
}

#[tokio::test]
async fn batches_where_the_revision_has_them() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-03-26", json!({})).await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "alpha__progress"}},
        {"jsonrpc": "2.0", "id": 3, "method": "no/such"},
        {"jsonrpc": "2.0", "id": 4, "method": "initialize", "params": {}},
        {"id": 5},
    ]);
    let mut answer = client.post(&batch.to_string()).await;
    let messages = answer.all().await;
    let of = |id: u64| messages.iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(of(1)["result"], json!({}));
    assert_eq!(of(2)["result"]["content"][0]["text"], "done");
    assert_eq!(of(3)["error"]["code"], -32601);
    assert_eq!(of(4)["error"]["code"], -32601);
    assert_eq!(of(5)["error"]["code"], -32600);
    let note = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    assert_eq!(client.post(&note.to_string()).await.status, 202);
    let other = hub.client("token-cto").initialized("2025-06-18", json!({})).await;
    assert_eq!(other.post(&batch.to_string()).await.status, 400);
}

#[tokio::test]
async fn a_newer_stream_ends_the_older() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let mut first = client.get().await;
    let second = client.get().await;
    assert_eq!(second.status, 200);
    assert_eq!(first.next().await, None);
}

#[tokio::test]
async fn a_stream_that_nobody_knows_takes_nothing_from_the_sessions_own() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let mut own = client.get().await;
    for unknown in ["deadbeef-7-3", "0-1-0", "nonsense", "-", "1-2"] {
        let answer = client.clone().with("last-event-id", unknown).get().await;
        assert_eq!(answer.status, 400, "{unknown}");
    }
    let mut less = crate::kit::offer("beta");
    less.prompts.clear();
    hub.registry.publish(&crate::kit::key("beta"), std::sync::Arc::new(less));
    let (_, told) = own.next().await.expect("it is still open");
    assert_eq!(told["method"], "notifications/prompts/list_changed");
    // Its own stream of an earlier life is the one that there is now.
    assert_eq!(client.with("last-event-id", "deadbeef-0-3").get().await.status, 200);
}

/// What a server logs when no call is under way comes on the session's own stream, where a level was chosen.
#[tokio::test]
async fn what_is_logged_later_reaches_whoever_chose_a_level() {
    let rows = [(None, 0), (Some("debug"), 2), (Some("warning"), 1), (Some("error"), 0)];
    for (level, expected) in rows {
        let hub = Hub::start().await;
        let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
        let mut own = client.get().await;
        if let Some(level) = level {
            let set = request(2, "logging/setLevel", json!({"level": level}));
            assert_eq!(client.post(&set).await.json().await["result"], json!({}));
        }
        let uri = "mcp://alpha/test://alpha/1";
        let subscribe = request(3, "resources/subscribe", json!({"uri": uri}));
        assert_eq!(client.post(&subscribe).await.json().await["result"], json!({}));
        let mut answer = client.post(&call(4, "alpha__log", json!({}))).await;
        match answer.is_stream() {
            true => drop(answer.all().await),
            false => drop(answer.json().await),
        }
        let beyond = hub.servers.beyond.lock().unwrap().take().unwrap();
        for level in ["debug", "warning"] {
            let said = json!({"level": level, "data": "x"}).to_string();
            beyond.notify("notifications/message", crate::kit::buffer(&said));
        }
        hub.endpoint.resource_updated(&crate::kit::key("alpha"), "test://alpha/1");
        let mut logged = 0;
        loop {
            let (_, message) = own.next().await.unwrap();
            match message["method"].as_str().unwrap() {
                "notifications/message" => logged += 1,
                "notifications/resources/updated" => break,
                _ => {}
            }
        }
        assert_eq!(logged, expected, "{level:?}");
    }
}
