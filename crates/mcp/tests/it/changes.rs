//! Who hears of which changes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_wire::types::{Capabilities, Entry as _, ToolEntry};

use crate::kit::{Answer, Hub, buffer, key, offer, request, until};

/// A tool more for one server.
fn grow(hub: &Hub, server: &str, tool: &str) {
    let mut more = offer(server);
    let text = format!(r#"{{"name":"{tool}","inputSchema":{{}}}}"#);
    more.tools.push(ToolEntry::read(buffer(&text)).unwrap());
    hub.registry.publish(&key(server), Arc::new(more));
}

async fn method(answer: &mut Answer) -> String {
    answer.next().await.unwrap().1["method"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_session_hears_of_what_it_sees() {
    let hub = Hub::start().await;
    let cto = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let dev = hub.client("token-dev").initialized("2025-06-18", json!({})).await;
    let (mut cto_stream, mut dev_stream) = (cto.get().await, dev.get().await);
    // Only the first sees alpha; a storm is told once; then something that both see.
    for tool in ["a", "b", "c"] {
        grow(&hub, "alpha", tool);
    }
    assert_eq!(method(&mut cto_stream).await, "notifications/tools/list_changed");
    let mut less = offer("beta");
    less.prompts.clear();
    hub.registry.publish(&key("beta"), Arc::new(less));
    assert_eq!(method(&mut cto_stream).await, "notifications/prompts/list_changed");
    assert_eq!(method(&mut dev_stream).await, "notifications/prompts/list_changed");
}

#[tokio::test]
async fn what_changed_before_the_stream_was_opened_is_told_at_once() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    grow(&hub, "alpha", "later");
    let mut stream = client.get().await;
    assert_eq!(method(&mut stream).await, "notifications/tools/list_changed");
    drop(stream);
    // Who has listed since knows it already.
    grow(&hub, "alpha", "still-later");
    client.post(&request(1, "tools/list", json!({}))).await;
    let mut stream = client.get().await;
    let mut less = offer("beta");
    less.resources.clear();
    hub.registry.publish(&key("beta"), Arc::new(less));
    assert_eq!(method(&mut stream).await, "notifications/resources/list_changed");
}

#[tokio::test]
async fn listening_is_acknowledged_and_stamped() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let uri = "mcp://alpha/test://alpha";
    let wanted = json!({
        "toolsListChanged": true,
        "resourceSubscriptions": [uri, "mcp://nobody/x"],
        "taskIds": ["t"],
    });
    let params = json!({"notifications": wanted});
    let refused = client.ask(76, "subscriptions/listen", params.clone(), json!({})).await;
    assert_eq!(refused.status, 400);
    let able = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let refused = refused.json().await;
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["data"]["requiredCapabilities"]),
        (&json!(-32021), &able)
    );
    let mut stream = client.ask(77, "subscriptions/listen", params, able).await;
    assert!(stream.is_stream());
    let stamp = |message: &Value| {
        message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone()
    };
    let (id, first) = stream.next().await.unwrap();
    assert_eq!(id, "", "the stateless era has no event ids");
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        first["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": [uri]})
    );
    assert_eq!(stamp(&first), 77);
    // Prompts were not asked for.
    let mut less = offer("beta");
    less.prompts.clear();
    hub.registry.publish(&key("beta"), Arc::new(less));
    hub.endpoint.resource_updated(&key("beta"), "test://alpha");
    hub.endpoint.resource_updated(&key("alpha"), "test://other");
    hub.endpoint.resource_updated(&key("alpha"), "test://alpha");
    let (_, second) = stream.next().await.unwrap();
    assert_eq!(second["method"], "notifications/resources/updated");
    assert_eq!((&second["params"]["uri"], stamp(&second)), (&json!(uri), json!(77)));
    grow(&hub, "alpha", "new");
    let (_, third) = stream.next().await.unwrap();
    assert_eq!(third["method"], "notifications/tools/list_changed");
    assert_eq!(stamp(&third), 77);
    // A hub that ends says so with the request's result.
    hub.endpoint.shutdown().await;
    let (_, last) = stream.next().await.unwrap();
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(77), &json!("complete")));
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn subscribers_and_nobody_else_hear_of_a_resource() {
    let hub = Hub::start().await;
    let uri = "mcp://beta/test://beta";
    let one = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let two = hub.client("token-dev").initialized("2025-11-25", json!({})).await;
    let other = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let (mut a, mut b, mut c) = (one.get().await, two.get().await, other.get().await);
    let subscribe = request(1, "resources/subscribe", json!({"uri": uri}));
    for client in [&one, &two, &one] {
        let answer = client.post(&subscribe).await.json().await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    let asked = |method: &str| {
        let seen = hub.servers.seen.lock().unwrap();
        seen.iter().filter(|(_, asked, _)| asked == method).count()
    };
    assert_eq!(asked("resources/subscribe"), 1, "a server that many share is asked once");
    assert_eq!(hub.endpoint.watched(), [(key("beta"), "test://beta".to_owned())]);
    hub.endpoint.resource_updated(&key("beta"), "test://beta");
    for stream in [&mut a, &mut b] {
        let (_, told) = stream.next().await.unwrap();
        assert_eq!(told["method"], "notifications/resources/updated");
        assert_eq!(told["params"], json!({"uri": uri}));
    }
    let unsubscribe = request(2, "resources/unsubscribe", json!({"uri": uri}));
    assert_eq!(one.post(&unsubscribe).await.json().await["result"], json!({}));
    assert_eq!(asked("resources/unsubscribe"), 0, "somebody still listens");
    assert_eq!(two.post(&unsubscribe).await.json().await["result"], json!({}));
    assert_eq!(asked("resources/unsubscribe"), 1);
    hub.endpoint.resource_updated(&key("beta"), "test://beta");
    grow(&hub, "beta", "x");
    for stream in [&mut a, &mut b, &mut c] {
        assert_eq!(method(stream).await, "notifications/tools/list_changed");
    }
    let nobody = request(3, "resources/subscribe", json!({"uri": "mcp://gamma/x"}));
    assert_eq!(one.post(&nobody).await.json().await["error"]["code"], -32002);
}

#[tokio::test]
async fn what_a_server_refused_is_not_promised() {
    let hub = Hub::start().await;
    let uri = "mcp://alpha/test://alpha/refused";
    let begun = |count| move |hub: &Hub| hub.servers.count(&hub.servers.begun) == count;
    let subscribe = request(1, "resources/subscribe", json!({"uri": uri}));
    let one = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let two = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    // The second comes later, and is refused anew.
    for (nth, client) in [(1, &one), (2, &two)] {
        let (answer, ()) = tokio::join!(client.post(&subscribe), async {
            until("the server is asked", || begun(nth)(&hub)).await;
            hub.servers.release.notify_one();
        });
        assert_eq!(answer.json().await["error"]["code"], -32601);
    }
    assert_eq!(hub.endpoint.watched(), []);
    // A stream is promised the rest, and hears of nothing before that.
    let good = "mcp://alpha/test://alpha/good";
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": [uri, good]});
    let params = json!({"notifications": wanted});
    let mut stream =
        hub.client("token-cto").ask(7, "subscriptions/listen", params, json!({})).await;
    until("both are asked for", || begun(4)(&hub)).await;
    grow(&hub, "alpha", "early");
    hub.endpoint.resource_updated(&key("alpha"), "test://alpha/good");
    hub.servers.release.notify_one();
    let (_, first) = stream.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let honoured = json!({"toolsListChanged": true, "resourceSubscriptions": [good]});
    assert_eq!(first["params"]["notifications"], honoured);
    assert_eq!(method(&mut stream).await, "notifications/tools/list_changed");
    hub.endpoint.resource_updated(&key("alpha"), "test://alpha/refused");
    hub.endpoint.resource_updated(&key("alpha"), "test://alpha/good");
    assert_eq!(stream.next().await.unwrap().1["params"]["uri"], good);
}

#[tokio::test]
async fn a_server_that_is_told_off_is_asked_anew_only_after_that() {
    let hub = Hub::start().await;
    let params = json!({"uri": "mcp://alpha/test://alpha/slow"});
    let [subscribe, unsubscribe] =
        ["resources/subscribe", "resources/unsubscribe"].map(|act| request(1, act, params.clone()));
    let one = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let two = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    assert_eq!(one.post(&subscribe).await.json().await["result"], json!({}));
    let begun = |count| hub.servers.count(&hub.servers.begun) == count;
    let second = async {
        until("the server is told off", || begun(2)).await;
        tokio::join!(two.post(&subscribe), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            assert!(begun(2), "it is not asked before it has answered that");
            hub.servers.release.notify_one();
        })
    };
    let (first, (second, ())) = tokio::join!(one.post(&unsubscribe), second);
    for answer in [first, second] {
        assert_eq!(answer.json().await["result"], json!({}));
    }
    let seen = hub.servers.seen.lock().unwrap().clone();
    let acts: Vec<&str> = seen.iter().map(|(_, act, _)| act.as_str()).collect();
    assert_eq!(acts, ["resources/subscribe", "resources/unsubscribe", "resources/subscribe"]);
    assert_eq!(hub.endpoint.watched(), [(key("alpha"), "test://alpha/slow".to_owned())]);
}

#[tokio::test]
async fn a_server_that_cannot_tell_is_not_asked() {
    let hub = Hub::start().await;
    let mut silent = offer("alpha");
    silent.capabilities = Capabilities::read(Some(crate::kit::json(r#"{"resources":{}}"#)));
    hub.registry.publish(&key("alpha"), Arc::new(silent));
    let uri = "mcp://alpha/test://alpha";
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let answer = client.post(&request(1, "resources/subscribe", json!({"uri": uri}))).await;
    assert_eq!(answer.json().await["error"]["code"], -32602);
    let params = json!({"notifications": {"resourceSubscriptions": [uri]}});
    let mut stream =
        hub.client("token-cto").ask(7, "subscriptions/listen", params, json!({})).await;
    assert_eq!(stream.next().await.unwrap().1["params"]["notifications"], json!({}));
    assert_eq!(hub.servers.count(&hub.servers.begun), 0);
}
