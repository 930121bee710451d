//! The endpoint on pipes, in both eras.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_mcp::stdio;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::time::timeout;

use crate::kit::{Hub, LIMIT, call, key, principal, request, stateless, until};

struct Pipe {
    lines: Lines<BufReader<DuplexStream>>,
    input: Option<DuplexStream>,
    served: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Pipe {
    #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
    fn open(hub: &Hub) -> Self {
        let (input, theirs) = tokio::io::duplex(1 << 16);
        let (output, ours) = tokio::io::duplex(1 << 16);
        let endpoint = hub.endpoint.clone();
        let who = Arc::new(principal("token-cto").unwrap());
        let served =
            tokio::spawn(async move { stdio::serve(&endpoint, who, theirs, output).await });
        Self { lines: BufReader::new(ours).lines(), input: Some(input), served }
    }

    async fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Option<Value> {
        let line = timeout(LIMIT, self.lines.next_line()).await.unwrap().unwrap()?;
        Some(serde_json::from_str(&line.replace(r"\ud800", "")).unwrap())
    }

    async fn ask(&mut self, line: &str) -> Value {
        self.say(line).await;
        self.next().await.unwrap()
    }
}

#[tokio::test]
async fn a_session_on_pipes() {
    let hub = Hub::start().await;
    let mut pipe = Pipe::open(&hub);
    assert_eq!(pipe.ask("{").await["error"]["code"], -32700);
    assert_eq!(pipe.ask(&request(1, "tools/list", json!({}))).await["error"]["code"], -32600);
    assert_eq!(pipe.ask(&request(1, "ping", json!({}))).await["result"], json!({}));
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {}});
    let hello = pipe.ask(&request(2, "initialize", params.clone())).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(pipe.ask(&request(3, "initialize", params)).await["error"]["code"], -32601);
    pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let list = pipe.ask(&request(4, "tools/list", json!({}))).await;
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 32);
    pipe.say(&call(5, "alpha__roots", json!({}))).await;
    for _ in 0..2 {
        let asked = pipe.next().await.unwrap();
        assert_eq!(asked["method"], "roots/list");
        pipe.say(
            &json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}).to_string(),
        )
        .await;
    }
    assert_eq!(pipe.next().await.unwrap()["id"], 5);
    // Cancelled: no answer comes.
    pipe.say(&call(6, "alpha__wait", json!({}))).await;
    until("it begins", || hub.servers.last().2.contains("wait")).await;
    pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}"#)
        .await;
    until("it is dropped", || hub.servers.count(&hub.servers.dropped) == 1).await;
    // What is under way when the input ends is still answered.
    pipe.say(&call(7, "alpha__wait", json!({}))).await;
    until("it begins", || hub.servers.count(&hub.servers.begun) == 3).await;
    pipe.input = None;
    hub.servers.release.notify_one();
    assert_eq!(pipe.next().await.unwrap()["id"], 7);
    assert_eq!(pipe.next().await, None);
    pipe.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn calls_of_the_stateless_era_are_bounded_too() {
    let hub = Hub::with(|options| options.limits.calls = 3).await;
    let mut pipe = Pipe::open(&hub);
    let wait = |id: u64| {
        let params = json!({"name": "alpha__wait", "_meta": stateless(json!({}))});
        request(id, "tools/call", params)
    };
    pipe.say(&wait(1)).await;
    pipe.say(&wait(2)).await;
    until("two begin", || hub.servers.count(&hub.servers.begun) == 2).await;
    let again = pipe.ask(&wait(2)).await;
    assert_eq!((&again["id"], &again["error"]["code"]), (&json!(2), &json!(-32600)), "{again}");
    pipe.say(&wait(3)).await;
    until("three begin", || hub.servers.count(&hub.servers.begun) == 3).await;
    let refused = pipe.ask(&wait(4)).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("too many"), "{refused}");
    hub.servers.release.notify_waiters();
    for _ in 0..3 {
        assert!(pipe.next().await.unwrap()["result"].is_object());
    }
    pipe.say(&wait(4)).await;
    until("there is room again", || hub.servers.count(&hub.servers.begun) == 4).await;
}

#[tokio::test]
async fn subscriptions_that_wait_are_bounded_and_can_be_called_off() {
    let hub = Hub::with(|options| options.limits.calls = 3).await;
    let mut pipe = Pipe::open(&hub);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}});
    assert!(pipe.ask(&request(0, "initialize", params)).await["result"].is_object());
    let uri = json!({"uri": "mcp://alpha/test://alpha/refused"});
    let subscribe = |id: u64| request(id, "resources/subscribe", uri.clone());
    for id in 1..=3 {
        pipe.say(&subscribe(id)).await;
    }
    let refused = pipe.ask(&subscribe(4)).await;
    assert_eq!(refused["id"], 4);
    assert!(refused["error"]["message"].as_str().unwrap().contains("too many"), "{refused}");
    until("the server is asked", || hub.servers.count(&hub.servers.begun) == 1).await;
    hub.servers.release.notify_one();
    for _ in 0..3 {
        assert_eq!(pipe.next().await.unwrap()["error"]["code"], -32601);
    }
    // There is room again; and for what is called off no answer comes.
    pipe.say(&subscribe(5)).await;
    until("the server is asked again", || hub.servers.count(&hub.servers.begun) == 2).await;
    pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#)
        .await;
    until("it is dropped", || hub.servers.count(&hub.servers.dropped) == 1).await;
    assert_eq!(pipe.ask(&request(6, "ping", json!({}))).await["id"], 6);
    assert_eq!(hub.endpoint.watched(), []);
}

#[tokio::test]
async fn the_stateless_era_on_pipes() {
    let hub = Hub::start().await;
    let mut pipe = Pipe::open(&hub);
    let with = |method: &str, params: Value, id: u64| {
        let mut params = params;
        params["_meta"] = stateless(json!({"elicitation": {}}));
        request(id, method, params)
    };
    let found = pipe.ask(&with("server/discover", json!({}), 1)).await;
    assert_eq!(found["result"]["supportedVersions"][0], "2026-07-28");
    assert_eq!(pipe.ask(&request(2, "server/discover", json!({}))).await["error"]["code"], -32602);
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let first = pipe.ask(&with("subscriptions/listen", listen, 3)).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let asked = pipe.ask(&with("tools/call", json!({"name": "alpha__elicit"}), 4)).await;
    let state = asked["result"]["requestState"].clone();
    let more = json!({"name": "alpha__elicit", "requestState": state, "inputResponses": {"input-1": {"a": 1}}});
    let asked = pipe.ask(&with("tools/call", more, 5)).await;
    assert_eq!(
        (&asked["id"], &asked["result"]["resultType"]),
        (&json!(5), &json!("input_required"))
    );
    pipe.say(&with("tools/call", json!({"name": "alpha__wait"}), 6)).await;
    until("it begins", || hub.servers.last().2.contains("wait")).await;
    pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}"#)
        .await;
    until("it is dropped", || hub.servers.count(&hub.servers.dropped) == 1).await;
    hub.endpoint.shutdown().await;
    assert_eq!(pipe.next().await.unwrap()["id"], 3, "listening ends with its result");
    assert_eq!(pipe.next().await, None);
    pipe.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_task_is_told_of_on_the_pipe_that_began_it() {
    let hub = Hub::start().await;
    let (mut pipe, mut other) = (Pipe::open(&hub), Pipe::open(&hub));
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}});
    for pipe in [&mut pipe, &mut other] {
        pipe.ask(&request(0, "initialize", params.clone())).await;
    }
    let task = json!({"task": {"taskId": "t", "status": "working"}});
    let begun = pipe.ask(&call(1, "alpha__raw", task)).await;
    let id = begun["result"]["task"]["taskId"].clone();
    assert_ne!(id, "t", "{begun}");
    hub.endpoint.task_changed(&key("alpha"), r#"{"taskId":"t","status":"completed","x":1.0}"#);
    let told = pipe.next().await.unwrap();
    assert_eq!(told["method"], "notifications/tasks/status", "{told}");
    assert_eq!(told["params"], json!({"taskId": id, "status": "completed", "x": 1.0}));
    let related = |id: &str| json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
    let progress =
        |id: &str| json!({"progressToken": "mine", "progress": 0.5, "_meta": related(id)});
    hub.endpoint.task_progressed(&key("alpha"), "t", &progress("t").to_string());
    let told = pipe.next().await.unwrap();
    assert_eq!(told["method"], "notifications/progress", "{told}");
    assert_eq!(told["params"], progress(id.as_str().unwrap()));
    assert_eq!(other.ask(&request(2, "ping", json!({}))).await["id"], 2, "nobody else is told");
}
