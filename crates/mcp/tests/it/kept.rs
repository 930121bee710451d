//! What is kept for clients that may come back: within bounds, whatever they leave unread.

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::kit::{Client, Hub, call, request, until};
use crate::legacy;
use crate::limits::resident;
use crate::pipes::Pipe;

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

/// Some of them are good, and the rest says what to do.
fn check_bounded(way: &str, answers: &[Value]) {
    assert_eq!(answers.len(), 50, "{way}: every request is answered");
    let (good, bad): (Vec<_>, Vec<_>) =
        answers.iter().partition(|answer| answer["result"].is_object());
    assert!(!good.is_empty() && bad.len() > 20, "{way}: {} and {}", good.len(), bad.len());
    for answer in bad {
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains("ask for less"), "{way}: {answer}");
        assert!(answer["id"].is_u64(), "{way}: {answer}");
    }
}

#[tokio::test]
async fn the_answers_to_a_batch_are_bounded() {
    let large = json!({"text": "x".repeat(2_000)});
    let all = |one: &dyn Fn(u64) -> String| {
        let all: Vec<String> = (0..50).map(one).collect();
        format!("[{}]", all.join(","))
    };
    // Answers that take a moment, and answers that are there at once.
    for (most, batch) in [
        (50_000, all(&|id| call(id, "alpha__raw", large.clone()))),
        (2_000, all(&|id| request(id, "prompts/list", json!({})))),
    ] {
        let hub = Hub::with(|options| options.limits.batch = most).await;
        let client = hub.client("token-cto").initialized("2025-03-26", json!({})).await;
        check_bounded("HTTP", &client.post(&batch).await.all().await);

        let (mut stream, poster) = legacy::open(&hub.client("token-cto").at("/sse")).await;
        poster.post(&legacy::greeting("2025-03-26")).await;
        stream.next().await.unwrap();
        assert_eq!(poster.post(&batch).await.status, 202);
        let mut answers = Vec::new();
        for _ in 0..50 {
            answers.push(stream.next().await.unwrap().1);
        }
        check_bounded("HTTP+SSE", &answers);

        let mut pipe = Pipe::open(&hub);
        pipe.ask(&legacy::greeting("2025-03-26")).await;
        pipe.say(&batch).await;
        let mut answers = Vec::new();
        for _ in 0..50 {
            answers.push(pipe.next().await.unwrap());
        }
        check_bounded("a pipe", &answers);
    }
}

/// What one of a caller's streams leaves unread counts for all of them.
#[tokio::test]
async fn channels_that_nobody_reads_are_bounded_together() {
    let hub = Hub::with(|options| options.limits.kept_each = 100_000).await;
    let client = hub.client("token-cto").at("/sse");
    let (mut stream, poster) = legacy::open(&client).await;
    poster.post(&legacy::greeting("2025-03-26")).await;
    stream.next().await.unwrap();
    let (mut other, another) = legacy::open(&client).await;
    legacy::greet(&mut other, &another).await;
    // The sockets take some of it.
    let (body, mut refused) = (lists(100), None);
    for _ in 0..200 {
        let mut answer = poster.post(&body).await;
        if answer.status != 202 {
            refused = Some((answer.status, answer.text().await));
            break;
        }
    }
    let (status, text) = refused.expect("it is refused");
    assert!(status == 429 && text.contains("waits on your streams"), "{status}: {text}");
    let ping = request(1, "ping", json!({}));
    assert_eq!(another.post(&ping).await.status, 429);
    let theirs = client.clone().with("authorization", "Bearer token-dev");
    let (mut stranger, poster) = legacy::open(&theirs).await;
    legacy::greet(&mut stranger, &poster).await;
    assert_eq!(poster.post(&ping).await.status, 202, "nobody else is held up");
    drop(stream);
    until("what waited is gone", || hub.endpoint.sessions() == 2).await;
    assert_eq!(another.post(&ping).await.status, 202);
}
