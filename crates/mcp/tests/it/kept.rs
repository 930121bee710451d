//! What is kept for clients that may come back: within bounds, whatever they leave unread.

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::kit::{Client, Hub, call, request};
use crate::limits::resident;

fn lists(count: u64) -> String {
    let all: Vec<String> = (0..count).map(|id| request(id, "tools/list", json!({}))).collect();
    format!("[{}]", all.join(","))
}

/// Sends a request and goes away.
async fn post_and_leave(client: &Client, body: &str) {
    let head = client.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    let head: String = head.collect();
    let length = body.len();
    let head = format!("POST /mcp HTTP/1.1\r\n{head}content-length: {length}\r\n\r\n");
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await.unwrap();
    // The answer has begun.
    stream.readable().await.unwrap();
}

#[tokio::test]
async fn batches_that_nobody_reads_leave_nothing() {
    let hub = Hub::start().await;
    let body = lists(100);
    let sessions = async |count: u32| {
        for _ in 0..count {
            let client = hub.client("token-cto").initialized("2025-03-26", json!({})).await;
            post_and_leave(&client, &body).await;
        }
    };
    sessions(10).await;
    let before = resident();
    sessions(100).await;
    if let (Some(before), Some(after)) = (before, resident()) {
        let grown = after.saturating_sub(before);
        assert!(grown < 24 << 20, "{grown} bytes more after 100 sessions");
    }
}

#[tokio::test]
async fn the_answers_to_a_batch_are_bounded() {
    let hub = Hub::with(|options| options.limits.batch = 50_000).await;
    let client = hub.client("token-cto").initialized("2025-03-26", json!({})).await;
    let large = json!({"text": "x".repeat(2_000)});
    let calls: Vec<String> = (0..50).map(|id| call(id, "alpha__raw", large.clone())).collect();
    let answers = client.post(&format!("[{}]", calls.join(","))).await.all().await;
    assert_eq!(answers.len(), 50, "every request is answered");
    let (good, bad): (Vec<_>, Vec<_>) =
        answers.iter().partition(|answer| answer["result"].is_object());
    assert!(!good.is_empty() && bad.len() > 20, "{} and {}", good.len(), bad.len());
    for answer in bad {
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains("ask for less"), "{answer}");
        assert!(answer["id"].is_u64(), "{answer}");
    }
}
