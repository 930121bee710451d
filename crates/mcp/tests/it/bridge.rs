//! What servers ask back, towards clients of either era.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_mcp::Limits;

use crate::kit::{Client, Hub, call, request, until};

fn all_abilities() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

#[tokio::test]
async fn a_session_is_asked_on_the_stream_of_the_call() {
    let hub = Hub::start().await;
    let methods = [
        ("elicit", "elicitation/create"),
        ("sample", "sampling/createMessage"),
        ("roots", "roots/list"),
    ];
    for (tool, method) in methods {
        let client = hub.client("token-cto").initialized("2025-11-25", all_abilities()).await;
        let mut stream = client.post(&call(1, &format!("alpha__{tool}"), json!({}))).await;
        for round in 1..=2 {
            let (_, asked) = stream.next().await.unwrap();
            assert_eq!(asked["method"], method);
            let id = &asked["id"];
            // Neither another session of the same agent nor another id can answer.
            let other = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
            let wrong = json!({"jsonrpc": "2.0", "id": id, "result": {"wrong": true}});
            assert_eq!(other.post(&wrong.to_string()).await.status, 202);
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"round": round}});
            assert_eq!(client.post(&answer.to_string()).await.status, 202);
            assert_eq!(client.post(&wrong.to_string()).await.status, 202);
        }
        let (_, result) = stream.next().await.unwrap();
        assert_eq!(result["result"]["answers"], r#"{"round":1}{"round":2}"#);
        assert_eq!(stream.next().await, None);
    }
}

#[tokio::test]
async fn a_sessions_refusal_reaches_the_server() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-06-18", all_abilities()).await;
    let mut stream = client.post(&call(1, "alpha__sample", json!({}))).await;
    let (_, asked) = stream.next().await.unwrap();
    let refusal = json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "no", "data": 1}});
    client.post(&refusal.to_string()).await;
    let (_, result) = stream.next().await.unwrap();
    assert_eq!(result["result"]["why"], json!({"code": -1, "message": "no", "data": 1}));
}

#[tokio::test]
async fn nobody_is_asked_for_what_they_cannot_do() {
    let hub = Hub::start().await;
    for tool in ["elicit", "sample", "roots"] {
        let client = hub.client("token-cto");
        let session = client.clone().initialized("2025-11-25", json!({})).await;
        let answer = session.post(&call(1, &format!("alpha__{tool}"), json!({}))).await;
        assert!(!answer.is_stream());
        assert_eq!(answer.json().await["result"]["why"]["code"], -32601);
        let params = json!({"name": format!("alpha__{tool}")});
        let answer = client.ask(2, "tools/call", params, json!({})).await;
        assert_eq!(answer.status, 400);
        let body = answer.json().await;
        assert_eq!((&body["error"]["code"], &body["id"]), (&json!(-32021), &json!(2)));
        let needed = match tool {
            "elicit" => json!({"elicitation": {}}),
            "sample" => json!({"sampling": {}}),
            _ => json!({"roots": {}}),
        };
        assert_eq!(body["error"]["data"]["requiredCapabilities"], needed);
    }
}

#[tokio::test]
async fn a_model_with_tools_has_to_be_declared() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let body = call(1, "alpha__sample", json!({"tools": true}));
    let session = client.clone().initialized("2025-11-25", json!({"sampling": {}})).await;
    let answer = session.post(&body).await;
    assert!(!answer.is_stream(), "nothing is asked");
    assert_eq!(answer.json().await["result"]["why"]["code"], -32601);
    let params = json!({"name": "alpha__sample", "arguments": {"tools": true}});
    let body_of = client.ask(2, "tools/call", params, json!({"sampling": {}})).await.json().await;
    let needed = &body_of["error"]["data"]["requiredCapabilities"];
    assert_eq!(*needed, json!({"sampling": {"tools": {}}}), "{body_of}");
    let able = json!({"sampling": {"tools": {}}});
    let session = client.initialized("2025-11-25", able).await;
    let mut stream = session.post(&body).await;
    assert_eq!(stream.next().await.unwrap().1["method"], "sampling/createMessage");
}

async fn ask(client: &Client, id: u64, tool: &str, more: Value) -> Value {
    let mut params = json!({"name": tool, "arguments": {"a": 1}});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.ask(id, "tools/call", params, all_abilities()).await.json().await
}

#[tokio::test]
async fn a_stateless_client_comes_back_to_a_call_that_waits() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let first = ask(&client, 1, "alpha__elicit", json!({})).await;
    let result = &first["result"];
    assert_eq!(result["resultType"], "input_required");
    let key = result["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    assert_eq!(result["inputRequests"][&key]["method"], "elicitation/create");
    assert_eq!(result["inputRequests"][&key]["params"]["message"], "who?");
    let state = result["requestState"].clone();
    // What is missing is asked for again, under a new state.
    let more = json!({"requestState": state, "inputResponses": {"other": {}}});
    let again = ask(&client, 2, "alpha__elicit", more).await;
    assert_eq!(again["result"]["resultType"], "input_required");
    let (state, old) = (again["result"]["requestState"].clone(), state);
    let more = json!({"requestState": old, "inputResponses": {&key: {"x": 1}}});
    assert_eq!(ask(&client, 3, "alpha__elicit", more).await["error"]["code"], -32602);
    let more = json!({"requestState": state, "inputResponses": {&key: {"x": 1.5}, "extra": {}}});
    let second = ask(&client, 4, "alpha__elicit", more).await;
    let key = second["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let more = json!({"requestState": second["result"]["requestState"], "inputResponses": {&key: {"y": 2}}});
    let last = ask(&client, 5, "alpha__elicit", more).await;
    assert_eq!(last["id"], 5);
    assert_eq!(last["result"]["answers"], r#"{"x":1.5}{"y":2}"#);
    assert_eq!(last["result"]["resultType"], "complete");
    assert_eq!(hub.servers.count(&hub.servers.begun), 1, "it was one call all the time");
}

/// Servers of the session era have a code of their own for it.
#[tokio::test]
async fn a_resource_that_is_not_there_is_said_as_the_era_says_it() {
    let hub = Hub::start().await;
    let gone = json!({"uri": "mcp://alpha/test://alpha/gone"});
    let stateless = hub.client("token-cto");
    let session = stateless.clone().initialized("2025-11-25", json!({})).await;
    let there = session.post(&request(1, "resources/read", gone.clone())).await.json().await;
    let here = stateless.ask(1, "resources/read", gone, json!({})).await.json().await;
    for (answer, code) in [(there, -32002), (here, -32602)] {
        let expected = json!({"code": code, "message": "gone", "data": {"uri": 1.0}});
        assert_eq!(answer["error"], expected);
    }
}

/// The gathering is long here, so that a busy machine cannot pull the questions apart.
async fn gathering() -> Hub {
    Hub::with(|options| options.limits.gather = Duration::from_millis(500)).await
}

#[tokio::test]
async fn what_is_asked_at_once_is_asked_at_once() {
    let hub = gathering().await;
    let client = hub.client("token-cto");
    let first = ask(&client, 1, "alpha__several", json!({})).await;
    let asked = first["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(asked.len(), 3, "{first}");
    assert_eq!(asked["user_name"]["method"], "elicitation/create");
    let answers: Value = asked.keys().map(|key| (key.clone(), json!({"for": key}))).collect();
    let state = &first["result"]["requestState"];
    let more = json!({"requestState": state, "inputResponses": answers});
    let last = ask(&client, 2, "alpha__several", more).await;
    let names: Vec<&Value> =
        last["result"]["answers"].as_array().unwrap().iter().map(|one| &one["for"]).collect();
    assert_eq!(names[0], "user_name", "{last}");
    assert_eq!(hub.servers.count(&hub.servers.begun), 1);
}

#[tokio::test]
async fn what_can_be_asked_comes_before_what_cannot() {
    let hub = gathering().await;
    let client = hub.client("token-cto");
    let able = json!({"sampling": {}});
    let call = async |id: u64, more: Value| {
        let mut params = json!({"name": "alpha__several"});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.ask(id, "tools/call", params, able.clone()).await.json().await
    };
    let first = call(1, json!({})).await;
    let asked = first["result"]["inputRequests"].as_object().unwrap();
    let methods: Vec<&Value> = asked.values().map(|one| &one["method"]).collect();
    assert_eq!(methods, ["sampling/createMessage"], "{first}");
    let key = asked.keys().next().unwrap();
    let state = &first["result"]["requestState"];
    let last = call(2, json!({"requestState": state, "inputResponses": {key: {"x": 1}}})).await;
    assert_eq!(last["result"]["answers"], json!([-32601, {"x": 1}, -32601]), "{last}");
}

#[tokio::test]
async fn what_is_answered_before_is_not_asked() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let given = |answer: Value| json!({"inputResponses": {"user_name": answer, "extra": {}}});
    let first = ask(&client, 1, "alpha__several", given(json!({"x": 1.5}))).await;
    let asked = first["result"]["inputRequests"].as_object().unwrap();
    assert!(!asked.is_empty() && !asked.contains_key("user_name"), "{first}");
    // What is no answer is none.
    for bad in [json!(12345), Value::Null] {
        let first = ask(&client, 2, "alpha__several", given(bad)).await;
        let asked = first["result"]["inputRequests"].as_object().unwrap();
        assert!(asked.contains_key("user_name"), "{first}");
    }
}

#[tokio::test]
async fn having_a_state_is_not_being_allowed_to_use_it() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    for tool in ["beta__elicit", "beta__ask"] {
        let first = ask(&client, 1, tool, json!({})).await;
        let state = first["result"]["requestState"].as_str().unwrap().to_owned();
        let key =
            first["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        let with = |state: &str| json!({"requestState": state, "inputResponses": {&key: {}}});
        let refused = async |client: &Client, tool: &str, more: Value| {
            let answer = ask(client, 2, tool, more).await;
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        };
        refused(&hub.client("token-dev"), tool, with(&state)).await;
        refused(&hub.client("token-boss").at("/mcp/agents/cto"), tool, with(&state)).await;
        refused(&client, tool, with(&format!("{state}-TAMPERED"))).await;
        refused(&client, tool, with("")).await;
        refused(&client, "beta__sample", with(&state)).await;
        let mut more = with(&state);
        more["arguments"] = json!({"a": 2});
        refused(&client, tool, more).await;
        let good = ask(&client, 3, tool, with(&state)).await;
        assert!(good["result"].is_object(), "{good}");
    }
}

#[tokio::test]
async fn a_stateless_servers_question_is_passed_on() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let first = ask(&client, 1, "alpha__ask", json!({})).await;
    let state = first["result"]["requestState"].clone();
    assert_ne!(state, "own é", "to the server all our callers are one");
    assert!(first["result"]["inputRequests"]["k"].is_object());
    let more = json!({"requestState": state, "inputResponses": {"k": {"n": 1}}});
    let last = ask(&client, 2, "alpha__ask", more).await;
    assert_eq!(last["result"]["got"], json!({"k": {"n": 1}}));
    assert!(hub.servers.last().2.contains(r#""requestState":"own \u00e9""#));
}

#[tokio::test]
async fn calls_that_wait_are_bounded_and_given_up() {
    let hub = Hub::with(|options| {
        options.limits.parked_each = 3;
        options.limits.input = Duration::from_millis(300);
    })
    .await;
    let client = hub.client("token-cto");
    for at in 0..5 {
        let answer = ask(&client, 1, "alpha__elicit", json!({})).await;
        let waits = answer["result"]["resultType"] == "input_required";
        assert_eq!(waits, at < 3, "{answer}");
    }
    until("the two without room are dropped", || hub.servers.count(&hub.servers.dropped) == 2)
        .await;
    let other = hub.client("token-dev");
    let answer = ask(&other, 1, "beta__elicit", json!({})).await;
    assert_eq!(answer["result"]["resultType"], "input_required");
    hub.endpoint.shutdown().await;
    until("all are given up", || hub.servers.count(&hub.servers.dropped) == 6).await;
}

#[tokio::test]
async fn calls_that_wait_are_bounded_in_bytes() {
    let check = async |change: fn(&mut Limits)| {
        let hub = Hub::with(|options| change(&mut options.limits)).await;
        let client = hub.client("token-cto");
        let large = json!({"arguments": {"text": "x".repeat(60_000)}});
        let first = ask(&client, 1, "alpha__elicit", large.clone()).await;
        assert_eq!(first["result"]["resultType"], "input_required", "{first}");
        let refused = ask(&client, 2, "alpha__elicit", large.clone()).await;
        let text = refused["error"]["message"].as_str().unwrap();
        assert!(text.contains("too large ones"), "{refused}");
        let small = ask(&client, 3, "alpha__elicit", json!({})).await;
        assert_eq!(small["result"]["resultType"], "input_required", "{small}");
        hub.endpoint.shutdown().await;
    };
    check(|limits| limits.parked_bytes_each = 100_000).await;
    check(|limits| limits.parked_bytes = 100_000).await;
}

/// A session's call whose client is gone before there was a stream to come back to.
async fn lost(hub: &Hub, client: &Client, left: usize) {
    let body = call(1, "alpha__ask_later", json!({}));
    tokio::select! {
        _ = client.post(&body) => panic!("it waits"),
        () = until("it begins", || hub.servers.count(&hub.servers.begun) == 1) => {}
    }
    until("the client is gone", || hub.servers.count(&hub.served.open) == left).await;
    hub.servers.release.notify_one();
}

#[tokio::test]
async fn who_is_gone_is_not_waited_for() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", all_abilities()).await;
    lost(&hub, &client, 0).await;
    until("the server hears at once", || hub.servers.count(&hub.servers.ended) == 1).await;
}

#[tokio::test]
async fn who_is_gone_is_asked_where_the_session_listens() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", all_abilities()).await;
    let mut own = client.get().await;
    lost(&hub, &client, 1).await;
    for _ in 0..2 {
        let (_, asked) = own.next().await.unwrap();
        assert_eq!(asked["method"], "elicitation/create");
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"x": 1}});
        assert_eq!(client.post(&answer.to_string()).await.status, 202);
    }
    until("it ends", || hub.servers.count(&hub.servers.ended) == 1).await;
}

#[tokio::test]
async fn a_session_that_never_answers_is_not_waited_for_for_ever() {
    let hub = Hub::with(|options| options.limits.input = Duration::from_millis(50)).await;
    let client = hub.client("token-cto").initialized("2025-11-25", all_abilities()).await;
    let mut stream = client.post(&call(1, "alpha__elicit", json!({}))).await;
    let asked = stream.next().await.unwrap().1;
    let called_off = stream.next().await.unwrap().1;
    assert_eq!(called_off["method"], "notifications/cancelled");
    assert_eq!(called_off["params"]["requestId"], asked["id"]);
    assert_eq!(stream.next().await.unwrap().1["result"]["isError"], true);
    assert_eq!(client.post(&request(2, "ping", json!({}))).await.status, 200);
}
