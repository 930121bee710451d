//! How much is taken: bodies, headers, depth, time, calls; and what a session costs.

use std::time::Duration;

use serde_json::json;
use switchboard_testkit::data::repetitions;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::kit::{Answer, Client, Hub, LIMIT, call, request, stateless, until};

#[tokio::test]
async fn bodies_and_headers_are_bounded() {
    let hub = Hub::with(|options| {
        options.limits.message.max_bytes = 10_000;
        options.limits.headers = 5_000;
    })
    .await;
    let client = hub.client("token-cto").initialized("2025-03-26", json!({})).await;
    let padded =
        |size| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","x":"{}"}}"#, "x".repeat(size));
    assert_eq!(client.post(&padded(9_000)).await.status, 200);
    assert_eq!(client.post(&padded(20_000)).await.status, 413);
    let large = client.clone().with("x-large", &"x".repeat(6_000));
    assert_eq!(large.post(&padded(10)).await.status, 431);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","x":{}{}}}"#,
        "[".repeat(500),
        "]".repeat(500)
    );
    assert_eq!(client.post(&deep).await.status, 400);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let batch = format!("[{}]", vec![ping; 200].join(","));
    assert_eq!(client.post(&batch).await.status, 400);
    // In chunks, nothing is said of the size beforehand.
    let mut stream = TcpStream::connect(hub.address).await.unwrap();
    let head = client.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    let head: String = head.collect();
    let head = format!("POST /mcp HTTP/1.1\r\n{head}transfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..20 {
        let _ = stream.write_all(format!("3e8\r\n{}\r\n", " ".repeat(1000)).as_bytes()).await;
    }
    assert_eq!(Answer::read(stream).await.status, 413);
}

/// What is named is recorded and kept with subscriptions: in every era and by every method it is bounded.
#[tokio::test]
async fn names_are_bounded() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let long = format!("mcp://alpha/{}", "x".repeat(9_000));
    let family = json!({"ref": {"type": "ref/resource", "uri": long}});
    for (method, params) in [
        ("resources/read", json!({"uri": long})),
        ("resources/subscribe", json!({"uri": long})),
        ("tools/call", json!({"name": long})),
        ("prompts/get", json!({"name": long})),
        ("completion/complete", family),
    ] {
        let answer = client.post(&request(1, method, params)).await.json().await;
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains("at most 8192 are taken"), "{method}: {text}");
    }
    assert_eq!(hub.servers.count(&hub.servers.begun), 0, "no server was asked");
    assert_eq!(hub.endpoint.watched(), []);
}

/// A session keeps them for as long as it lasts, and so does a request that waits for something.
#[tokio::test]
async fn capabilities_are_bounded() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let able = |bytes: usize| json!({"experimental": {"x": "x".repeat(bytes)}});
    let greeting = |bytes| json!({"protocolVersion": "2025-11-25", "capabilities": able(bytes), "clientInfo": {}});
    let stateless = |bytes| json!({"_meta": stateless(able(bytes))});
    for (method, params) in [("initialize", greeting(8_200)), ("server/discover", stateless(8_200))]
    {
        let client = client.clone().with("mcp-method", method);
        let client = match method {
            "initialize" => client,
            _ => client.with("mcp-protocol-version", "2026-07-28"),
        };
        let answer = client.post(&request(1, method, params)).await.json().await;
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains("at most 8192 are taken: declare less"), "{method}: {text}");
    }
    assert_eq!(hub.endpoint.sessions(), 0);
    client.initialized("2025-11-25", able(8_000)).await;
    assert_eq!(hub.endpoint.sessions(), 1);
}

#[tokio::test]
async fn slow_senders_are_not_waited_for() {
    let hub = Hub::with(|options| options.limits.read = Duration::from_millis(100)).await;
    let client = hub.client("token-cto");
    let head: String =
        client.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let mut stream = TcpStream::connect(hub.address).await.unwrap();
    let head = format!("POST /mcp HTTP/1.1\r\n{head}content-length: 100\r\n\r\n{{\"json");
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(Answer::read(stream).await.status, 408);
}

#[tokio::test]
async fn calls_of_a_session_are_bounded() {
    let hub = Hub::with(|options| options.limits.calls = 3).await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let waits: Vec<_> = (0..3)
        .map(|id| {
            let (client, body) = (client.clone(), call(id, "alpha__wait", json!({})));
            async move { client.post(&body).await.json().await }
        })
        .collect();
    let rest = async {
        until("three begin", || hub.servers.count(&hub.servers.begun) == 3).await;
        let answer = client.post(&call(9, "alpha__wait", json!({}))).await.json().await;
        assert!(answer["error"]["message"].as_str().unwrap().contains("too many"), "{answer}");
        for _ in 0..3 {
            hub.servers.release.notify_one();
            tokio::task::yield_now().await;
        }
        hub.servers.release.notify_waiters();
    };
    let [a, b, c] = <[_; 3]>::try_from(waits).unwrap_or_else(|_| panic!("three"));
    let (a, b, c, ()) = tokio::join!(a, b, c, rest);
    for answer in [a, b, c] {
        assert_eq!(answer["result"]["content"][0]["text"], "done");
    }
    let answer = client.post(&call(10, "alpha__echo", json!({}))).await.json().await;
    assert!(answer["result"].is_object());
}

/// What a client holds of long messages: while they arrive, and while their calls are under way.
#[tokio::test]
async fn long_messages_are_bounded() {
    let hub = Hub::with(|options| options.limits.taken_each = 100_000).await;
    let [cto, dev] = ["token-cto", "token-dev"].map(|token| hub.client(token));
    let cto = cto.initialized("2025-11-25", json!({})).await;
    let dev = dev.initialized("2025-11-25", json!({})).await;
    let long = |id, tool: &str| call(id, tool, json!({"text": "x".repeat(60_000)}));
    let (wait, echo) = (long(1, "beta__wait"), long(2, "beta__echo"));
    let rest = async {
        until("it begins", || hub.servers.count(&hub.servers.begun) == 1).await;
        let refused = cto.post(&echo).await;
        assert_eq!(refused.status, 429);
        let text = refused.json().await["error"]["message"].to_string();
        assert!(text.contains("wait for the answers"), "{text}");
        let short = cto.post(&call(3, "beta__echo", json!({}))).await;
        assert_eq!((short.status, dev.post(&echo).await.status), (200, 200));
        hub.servers.release.notify_one();
    };
    let (waited, ()) = tokio::join!(cto.post(&wait), rest);
    assert_eq!(waited.json().await["result"]["content"][0]["text"], "done");
    assert_eq!(cto.post(&echo).await.status, 200);
    // A call goes on without its client, here with params that were made anew.
    let level = request(4, "logging/setLevel", json!({"level": "info"}));
    assert_eq!(cto.post(&level).await.status, 200);
    tokio::select! {
        _ = cto.post(&wait) => panic!("it waits"),
        () = until("it begins again", || hub.servers.count(&hub.servers.begun) > 4) => {}
    }
    until("its client is gone", || hub.servers.count(&hub.served.open) == 0).await;
    assert_eq!(cto.post(&echo).await.status, 429);
    hub.servers.release.notify_one();
    answered(&cto, &echo, 200).await;
    // The same while it arrives.
    let mut slow = TcpStream::connect(hub.address).await.unwrap();
    let head = cto.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    let head: String = head.collect();
    let head = format!("POST /mcp HTTP/1.1\r\n{head}content-length: 90000\r\n\r\n");
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&[b' '; 70_000]).await.unwrap();
    answered(&cto, &echo, 429).await;
    drop(slow);
    answered(&cto, &echo, 200).await;
}

/// Waits until it is answered so.
async fn answered(client: &Client, body: &str, status: u16) {
    let asked = async { while client.post(body).await.status != status {} };
    tokio::time::timeout(LIMIT, asked).await.unwrap_or_else(|_| panic!("never {status}"));
}

/// Names that somebody is subscribed to are kept as long as that lasts.
#[tokio::test]
async fn subscriptions_are_bounded_in_number_and_in_bytes() {
    let hub = Hub::with(|options| {
        options.limits.subscriptions = 4;
        options.limits.subscribed_each = 40_000;
    })
    .await;
    let session = async |token| hub.client(token).initialized("2025-11-25", json!({})).await;
    let asked = async |client: &Client, method: &str, uri: &str| {
        let method = format!("resources/{method}");
        client.post(&request(1, &method, json!({"uri": uri}))).await.json().await
    };
    let uri =
        |number: usize, long: usize| format!("mcp://beta/test://beta/{number}{}", "x".repeat(long));
    let few = session("token-cto").await;
    for (number, fits) in [(1, true), (2, true), (3, true), (4, true), (5, false)] {
        let answer = asked(&few, "subscribe", &uri(number, 0)).await;
        assert_eq!(answer["result"].is_object(), fits, "{answer}");
    }
    asked(&few, "unsubscribe", &uri(1, 0)).await;
    assert!(
        asked(&few, "subscribe", &uri(5, 0)).await["result"].is_object(),
        "there is room again"
    );
    // Over several sessions, and streams.
    let (first, second) = (session("token-cto").await, session("token-cto").await);
    assert!(asked(&first, "subscribe", &uri(6, 5_000)).await["result"].is_object());
    let refused = asked(&second, "subscribe", &uri(7, 5_000)).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("unsubscribe"), "{refused}");
    let wanted = json!({"notifications": {"resourceSubscriptions": [uri(8, 5_000), uri(8, 0)]}});
    let mut stream =
        hub.client("token-cto").ask(9, "subscriptions/listen", wanted, json!({})).await;
    let (_, promised) = stream.next().await.unwrap();
    let promised = &promised["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*promised, json!([uri(8, 0)]), "what does not fit is not promised");
    let other = session("token-dev").await;
    let theirs = asked(&other, "subscribe", &uri(7, 5_000)).await;
    assert!(theirs["result"].is_object(), "nobody else has less room");
    asked(&first, "unsubscribe", &uri(6, 5_000)).await;
    assert!(asked(&second, "subscribe", &uri(7, 5_000)).await["result"].is_object());
}

/// Bytes of memory that the process has.
pub(crate) fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split(' ').nth(1)?.parse::<u64>().ok()? * 4096)
}

#[tokio::test]
async fn prove_an_open_session_is_cheap() {
    let hub = Hub::start().await;
    let abilities = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {"listChanged": true}});
    for _ in 0..100 {
        hub.client("token-cto").initialized("2025-11-25", abilities.clone()).await;
    }
    let (before, count) = (resident(), u64::from(repetitions(5_000)));
    let mut last = None;
    for _ in 0..count {
        let client = hub.client("token-cto").initialized("2025-11-25", abilities.clone()).await;
        client.post(&request(1, "tools/list", json!({}))).await;
        last = Some(client);
    }
    assert_eq!(hub.endpoint.sessions() as u64, count + 100);
    assert_eq!(last.unwrap().post(&call(1, "alpha__echo", json!({}))).await.status, 200);
    if let (Some(before), Some(after)) = (before, resident()) {
        let each = after.saturating_sub(before) / count;
        eprintln!("{each} bytes for each of {count} sessions");
        assert!(each < 20_000, "{each} bytes for each session");
    }
}
