//! The endpoint on pipes, in both eras.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_mcp::stdio;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::kit::{Hub, LIMIT, call, key, principal, request, stateless, until};

pub(crate) struct Pipe {
    lines: Lines<BufReader<DuplexStream>>,
    input: Option<DuplexStream>,
    served: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Pipe {
    pub(crate) fn open(hub: &Hub) -> Self {
        Self::open_when(hub, ready(()))
    }

    #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
    fn open_when(hub: &Hub, known: impl Future<Output = ()> + Send + 'static) -> Self {
        let (input, theirs) = tokio::io::duplex(1 << 16);
        let (output, ours) = tokio::io::duplex(1 << 16);
        let endpoint = hub.endpoint.clone();
        let who = Arc::new(principal("token-cto").unwrap());
        let served =
            tokio::spawn(
                async move { stdio::serve_when(&endpoint, who, theirs, output, known).await },
            );
        Self { lines: BufReader::new(ours).lines(), input: Some(input), served }
    }

    pub(crate) async fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = timeout(LIMIT, self.lines.next_line()).await.unwrap().unwrap()?;
        Some(serde_json::from_str(&line.replace(r"\ud800", "")).unwrap())
    }

    pub(crate) async fn ask(&mut self, line: &str) -> Value {
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
async fn long_messages_are_bounded_too() {
    let hub = Hub::with(|options| options.limits.taken_each = 100_000).await;
    let mut pipe = Pipe::open(&hub);
    let long = |id: u64, tool: &str| {
        let arguments = json!({"text": "x".repeat(60_000)});
        let params = json!({"name": tool, "arguments": arguments, "_meta": stateless(json!({}))});
        request(id, "tools/call", params)
    };
    pipe.say(&long(1, "beta__wait")).await;
    until("it begins", || hub.servers.count(&hub.servers.begun) == 1).await;
    let refused = pipe.ask(&long(2, "beta__echo")).await;
    assert_eq!(refused["id"], 2);
    let text = refused["error"]["message"].to_string();
    assert!(text.contains("too many long messages"), "{refused}");
    hub.servers.release.notify_one();
    assert!(pipe.next().await.unwrap()["result"].is_object());
    assert!(pipe.ask(&long(3, "beta__echo")).await["result"].is_object());
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

/// A pipe that is opened before all is known; what tells it that all is.
fn early(hub: &Hub) -> (Pipe, oneshot::Sender<()>) {
    let (tell, told) = oneshot::channel();
    let known = async {
        let _ = told.await;
    };
    (Pipe::open_when(hub, known), tell)
}

#[tokio::test]
async fn a_greeting_does_not_wait_for_servers_and_the_rest_keeps_its_order() {
    let hub = Hub::start().await;
    let (mut pipe, tell) = early(&hub);
    pipe.say(&request(1, "tools/list", json!({}))).await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}});
    assert_eq!(pipe.ask(&request(2, "initialize", params)).await["id"], 2);
    pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    for id in [3, 4] {
        pipe.say(&call(id, "alpha__echo", json!({}))).await;
    }
    let about = json!({"_meta": stateless(json!({}))});
    assert_eq!(pipe.ask(&request(5, "server/discover", about)).await["id"], 5);
    let level = json!({"level": "info"});
    assert_eq!(pipe.ask(&request(6, "logging/setLevel", level)).await["result"], json!({}));
    assert_eq!(pipe.ask("{").await["error"]["code"], -32700);
    // What is called off before it began is never answered.
    pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#)
        .await;
    assert_eq!(pipe.ask(&request(7, "ping", json!({}))).await["id"], 7);
    assert_eq!(hub.servers.count(&hub.servers.begun), 0, "no server was asked");
    tell.send(()).unwrap();
    for id in [1, 4] {
        assert_eq!(pipe.next().await.unwrap()["id"], id);
    }
    assert_eq!(pipe.ask(&request(8, "tools/list", json!({}))).await["id"], 8);
    pipe.input = None;
    assert_eq!(pipe.next().await, None);
    assert_eq!(hub.servers.count(&hub.servers.begun), 1);
}

#[tokio::test]
async fn what_waits_when_the_input_ends_is_still_answered() {
    let hub = Hub::start().await;
    let (mut pipe, tell) = early(&hub);
    let about = json!({"_meta": stateless(json!({}))});
    pipe.say(&request(1, "tools/list", about)).await;
    pipe.input = None;
    tokio::time::sleep(Duration::from_millis(100)).await;
    tell.send(()).unwrap();
    assert_eq!(pipe.next().await.unwrap()["id"], 1);
    assert_eq!(pipe.next().await, None);
    // With nothing that waits there is nothing to wait for.
    let (mut pipe, _tell) = early(&hub);
    pipe.say(&request(2, "ping", json!({}))).await;
    pipe.input = None;
    assert_eq!(pipe.next().await.unwrap()["id"], 2);
    assert_eq!(pipe.next().await, None);
}

/// What waits counts as unread: no more of it is taken in than of what a client does not read.
#[tokio::test]
async fn what_waits_is_bounded() {
    let hub = Hub::with(|options| options.limits.unread = 100_000).await;
    let (mut pipe, tell) = early(&hub);
    let long = "x".repeat(40_000);
    let calls = (1..=20).map(|id| call(id, "alpha__echo", json!({"text": long})) + "\n");
    let calls: String = calls.collect();
    let mut input = pipe.input.take().unwrap();
    let sent = timeout(Duration::from_millis(500), input.write_all(calls.as_bytes())).await;
    assert!(sent.is_err(), "all was taken in");
    tell.send(()).unwrap();
    assert!(pipe.next().await.unwrap()["id"].is_number());
}

#[tokio::test]
async fn changes_come_on_the_pipe() {
    let hub = Hub::start().await;
    let mut pipe = Pipe::open(&hub);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}});
    assert!(pipe.ask(&request(0, "initialize", params)).await["result"].is_object());
    let uri = json!({"uri": "mcp://beta/test://beta"});
    let subscribed = pipe.ask(&request(1, "resources/subscribe", uri.clone())).await;
    assert_eq!(subscribed["result"], json!({}));
    hub.endpoint.resource_updated(&key("beta"), "test://beta");
    let told = pipe.next().await.unwrap();
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"], uri);
    hub.registry.withdraw(&key("beta"));
    for list in ["tools", "resources", "prompts"] {
        let told = pipe.next().await.unwrap();
        assert_eq!(told["method"], format!("notifications/{list}/list_changed"));
    }
}
