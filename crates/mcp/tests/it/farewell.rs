//! The end of the hub, with calls under way: what becomes of their answers.

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::{Answer, Client, Hub, call, request, stateless, until};
use crate::legacy;
use crate::pipes::Pipe;

/// Whether the server answers while the hub waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    Answers,
    Hangs,
}

async fn hub(server: Server, plain: Duration) -> Hub {
    Hub::with(|options| {
        options.limits.plain = plain;
        options.limits.farewell = match server {
            Server::Answers => Duration::from_secs(60),
            Server::Hangs => Duration::from_millis(200),
        };
    })
    .await
}

/// Ends the hub while a call waits for its server.
async fn end(hub: &Hub, server: Server) {
    until("it begins", || hub.servers.count(&hub.servers.begun) == 1).await;
    let ending = hub.endpoint.shutdown();
    let release = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if server == Server::Answers {
            hub.servers.release.notify_one();
        }
    };
    tokio::join!(ending, release);
}

/// The answer that a client gets to the call 7.
fn check(server: Server, answer: &Value) {
    assert_eq!(answer["id"], 7, "{server:?}: {answer}");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    match server {
        Server::Answers => assert_eq!(text, "done"),
        Server::Hangs => {
            assert!(text.contains("check before you repeat it"), "{answer}");
            assert_eq!(answer["result"]["isError"], true);
        }
    }
}

/// The message that answers the call 7, in whatever form.
async fn answered(mut answer: Answer) -> Value {
    assert_eq!(answer.status, 200);
    if !answer.is_stream() {
        return answer.json().await;
    }
    answer.all().await.into_iter().find(|message| message["id"] == 7).unwrap()
}

async fn session(hub: &Hub, revision: &str) -> Client {
    hub.client("token-cto").initialized(revision, json!({})).await
}

const LONG: Duration = Duration::from_secs(60);
const AT_ONCE: Duration = Duration::from_millis(1);
const BOTH: [Server; 2] = [Server::Answers, Server::Hangs];

// On several threads: the end must not overtake an answer on its way to its stream.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_sessions_are_answered() {
    for (server, plain) in BOTH.into_iter().flat_map(|it| [(it, LONG), (it, AT_ONCE)]) {
        let hub = hub(server, plain).await;
        let client = session(&hub, "2025-11-25").await;
        let body = call(7, "alpha__wait", json!({}));
        let asked = async { answered(client.post(&body).await).await };
        let (answer, ()) = tokio::join!(asked, end(&hub, server));
        check(server, &answer);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_batches_are_answered() {
    for server in BOTH {
        let hub = hub(server, LONG).await;
        let client = session(&hub, "2025-03-26").await;
        let body = format!("[{}]", call(7, "alpha__wait", json!({})));
        let asked = async { answered(client.post(&body).await).await };
        let (answer, ()) = tokio::join!(asked, end(&hub, server));
        check(server, &answer);
    }
}

#[tokio::test]
async fn calls_of_the_stateless_era_are_answered() {
    for (server, plain) in BOTH.into_iter().flat_map(|it| [(it, LONG), (it, AT_ONCE)]) {
        let hub = hub(server, plain).await;
        let client = hub.client("token-cto");
        let params = json!({"name": "alpha__wait"});
        let asked = async { answered(client.ask(7, "tools/call", params, json!({})).await).await };
        let (answer, ()) = tokio::join!(asked, end(&hub, server));
        check(server, &answer);
    }
}

/// Whoever subscribes hears of the end, too.
#[tokio::test]
async fn subscriptions_are_answered() {
    let hub = hub(Server::Hangs, LONG).await;
    let client = session(&hub, "2025-11-25").await;
    let uri = "mcp://alpha/test://alpha/later";
    let subscribe = request(7, "resources/subscribe", json!({"uri": uri}));
    let (answer, ()) = tokio::join!(client.post(&subscribe), end(&hub, Server::Hangs));
    let answer = answered(answer).await;
    assert!(answer["error"]["message"].is_string(), "{answer}");
}

#[tokio::test]
async fn calls_on_pipes_are_answered() {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}});
    let meta = json!({"name": "alpha__wait", "_meta": stateless(json!({}))});
    let calls = [call(7, "alpha__wait", json!({})), request(7, "tools/call", meta)];
    for (server, body) in BOTH.into_iter().flat_map(|it| calls.iter().map(move |call| (it, call))) {
        let hub = hub(server, LONG).await;
        let mut pipe = Pipe::open(&hub);
        pipe.ask(&request(0, "initialize", params.clone())).await;
        pipe.say(body).await;
        let (answer, ()) = tokio::join!(pipe.next(), end(&hub, server));
        check(server, &answer.unwrap());
        assert_eq!(pipe.next().await, None, "the pipe ends behind it");
    }
}

/// The pipe ends before others' calls do, which are waited for.
#[tokio::test]
async fn streams_of_changes_on_pipes_are_answered() {
    let hub = hub(Server::Hangs, LONG).await;
    let mut pipe = Pipe::open(&hub);
    let params =
        json!({"notifications": {"toolsListChanged": true}, "_meta": stateless(json!({}))});
    let first = pipe.ask(&request(3, "subscriptions/listen", params)).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let other = session(&hub, "2025-11-25").await;
    let body = call(7, "alpha__wait", json!({}));
    let (_, last, ()) = tokio::join!(other.post(&body), pipe.next(), end(&hub, Server::Hangs));
    let last = last.unwrap();
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(3), &json!("complete")));
    assert_eq!(pipe.next().await, None);
}

#[tokio::test]
async fn calls_of_the_older_transport_are_answered() {
    for server in BOTH {
        let hub = hub(server, LONG).await;
        let (mut stream, poster) = legacy::open(&hub.client("token-cto").at("/sse")).await;
        legacy::greet(&mut stream, &poster).await;
        poster.post(&call(7, "alpha__wait", json!({}))).await;
        let (answer, ()) = tokio::join!(stream.next(), end(&hub, server));
        check(server, &answer.unwrap().1);
    }
}

/// Nobody waits for these.
#[tokio::test]
async fn what_nobody_waits_for_holds_nothing_up() {
    let hub = hub(Server::Answers, LONG).await;
    let client = session(&hub, "2025-11-25").await;
    let body = call(7, "alpha__wait", json!({}));
    tokio::select! {
        _ = client.post(&body) => panic!("it waits"),
        () = until("it begins", || hub.servers.count(&hub.servers.begun) == 1) => {}
    }
    until("the client is gone", || hub.servers.count(&hub.served.open) == 0).await;
    let parked = hub.client("token-cto");
    let params = json!({"name": "alpha__elicit"});
    let asked = parked.ask(8, "tools/call", params, json!({"elicitation": {}})).await.json().await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    tokio::time::timeout(Duration::from_secs(30), hub.endpoint.shutdown()).await.unwrap();
    assert_eq!(hub.servers.count(&hub.servers.dropped), 2);
}

/// Whoever ends a session is told of the calls that end with it.
#[tokio::test]
async fn a_session_that_is_ended_answers_its_calls() {
    let one = call(7, "alpha__wait", json!({}));
    let batch = format!("[{one}]");
    let rows =
        [("2025-11-25", LONG, &one), ("2025-11-25", AT_ONCE, &one), ("2025-03-26", LONG, &batch)];
    for (revision, plain, body) in rows {
        let hub = hub(Server::Answers, plain).await;
        let client = session(&hub, revision).await;
        let asked = async { answered(client.post(body).await).await };
        let over = async {
            until("it begins", || hub.servers.count(&hub.servers.begun) == 1).await;
            // Behind the moment in which it becomes a stream.
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert_eq!(client.send("DELETE", b"").await.status, 204);
        };
        let (answer, ()) = tokio::join!(asked, over);
        check(Server::Hangs, &answer);
    }
}
