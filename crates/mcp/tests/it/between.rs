//! What one revision says and another cannot: how it is said to clients of either.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use switchboard_core::Offer;
use switchboard_wire::types::{Entry, ToolEntry};

use crate::kit::{Client, Hub, buffer, call, key, offer, request};

/// What servers of 2026-07-28 may have, and nobody before.
const SESSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// A hub one of whose servers has a tool with that output schema.
async fn with_schema(schema: &str) -> Hub {
    let hub = Hub::start().await;
    let odd =
        format!(r#"{{"name":"odd","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
    let mut offer: Offer = offer("beta");
    offer.tools.push(ToolEntry::read(buffer(&odd)).unwrap());
    hub.registry.publish(&key("beta"), Arc::new(offer));
    hub
}

/// A strict client takes nothing of a list in which one schema is none that it knows.
#[tokio::test]
async fn a_session_is_shown_output_schemas_of_objects_alone() {
    for (schema, shown) in [
        (r#"{"type":"array","items":{}}"#, false),
        (r#"{"anyOf":[{"type":"object"}]}"#, false),
        (r#"{"type":"object","n":1.0}"#, true),
    ] {
        let hub = with_schema(schema).await;
        let client = hub.client("token-cto");
        let schema_in = |body: &Value| {
            let tools = body["result"]["tools"].as_array().unwrap().clone();
            assert_eq!(tools.len(), 33);
            let odd = tools.into_iter().find(|tool| tool["name"] == "beta__odd").unwrap();
            odd.get("outputSchema").cloned()
        };
        let whole = serde_json::from_str(schema).unwrap();
        for revision in SESSIONS {
            let session = client.clone().initialized(revision, json!({})).await;
            let mut list = session.post(&request(1, "tools/list", json!({}))).await;
            let text = list.text().await.replace(r"\ud800", "");
            let seen = schema_in(&serde_json::from_str(&text).unwrap());
            assert_eq!(seen.as_ref(), shown.then_some(&whole), "{revision}");
        }
        let mut list = client.ask(1, "tools/list", json!({}), json!({})).await;
        let text = list.text().await.replace(r"\ud800", "");
        assert_eq!(schema_in(&serde_json::from_str(&text).unwrap()), Some(whole));
    }
}

#[tokio::test]
async fn a_session_is_given_structured_content_that_is_an_object_alone() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let wide = json!({"structuredContent": [1, 2]});
    let plain = json!({"content": [{"type": "text", "text": "[1,2]"}]});
    let object = json!({"content": [], "structuredContent": {"a": 1}});
    for revision in SESSIONS {
        let session = client.clone().initialized(revision, json!({})).await;
        for (given, expected) in [(&wide, &plain), (&plain, &plain), (&object, &object)] {
            let answer = session.post(&call(1, "alpha__raw", given.clone())).await.json().await;
            assert_eq!(answer["result"], *expected, "{revision}");
        }
    }
    let params = json!({"name": "alpha__raw", "arguments": wide});
    let answer = client.ask(1, "tools/call", params, json!({})).await.json().await;
    assert_eq!(answer["result"]["structuredContent"], json!([1, 2]));
}

/// A call that is answered by two pages that have to be opened first.
fn to_pages() -> Value {
    json!({"name": "beta__fail", "arguments": {"pages": true}})
}

fn more(state: &Value, actions: [&str; 2]) -> Value {
    let answers = json!({"input-1": {"action": actions[0]}, "input-2": {"action": actions[1]}});
    let mut params = to_pages();
    params["requestState"] = state.clone();
    params["inputResponses"] = answers;
    params
}

async fn ask(client: &Client, params: Value) -> Value {
    let able = json!({"elicitation": {"url": {}}});
    client.ask(1, "tools/call", params, able).await.json().await
}

#[tokio::test]
async fn a_stateless_client_is_sent_to_pages_by_a_question() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let first = ask(&client, to_pages()).await;
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let page = |url: &str| json!({"method": "elicitation/create", "params": {"mode": "url", "url": url, "message": "m", "n": 1}});
    let asked = json!({"input-1": page("https://a/"), "input-2": page("https://b/")});
    assert_eq!(first["result"]["inputRequests"], asked);
    let state = &first["result"]["requestState"];
    // The server alone knows whether the page is done with.
    let again = ask(&client, more(state, ["accept", "accept"])).await;
    assert_eq!(again["result"]["inputRequests"], asked, "{again}");
    hub.servers.opened.store(true, Ordering::SeqCst);
    let last = ask(&client, more(&again["result"]["requestState"], ["accept", "accept"])).await;
    assert_eq!(last["result"]["content"][0]["text"], "opened", "{last}");
    let (_, _, params) = hub.servers.last();
    assert!(!params.contains("inputResponses") && !params.contains("requestState"), "{params}");
    assert_eq!(hub.servers.count(&hub.servers.begun), 3);
}

#[tokio::test]
async fn who_does_not_open_a_page_is_not_sent_there_again() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let first = ask(&client, to_pages()).await;
    for actions in [["accept", "decline"], ["cancel", "accept"]] {
        let answer = ask(&client, more(&first["result"]["requestState"], actions)).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    assert_eq!(hub.servers.count(&hub.servers.begun), 1, "the server is not called again");
}

#[tokio::test]
async fn a_way_back_from_a_page_is_of_who_was_sent_there() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let first = ask(&client, to_pages()).await;
    let back = more(&first["result"]["requestState"], ["accept", "accept"]);
    let mut other = back.clone();
    other["arguments"]["more"] = json!(1);
    let mut tool = back.clone();
    tool["name"] = json!("alpha__fail");
    let mut tampered = back.clone();
    tampered["requestState"] = json!("A");
    for (client, params) in [
        (&hub.client("token-dev"), &back),
        (&client.clone().at("/mcp/agents/cto"), &back),
        (&client, &other),
        (&client, &tool),
        (&client, &tampered),
    ] {
        let answer = ask(client, params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert_eq!(hub.servers.count(&hub.servers.begun), 1, "no server hears of it");
}

#[tokio::test]
async fn who_cannot_be_sent_to_a_page_hears_what_is_missing() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    for able in [json!({}), json!({"elicitation": {}}), json!({"elicitation": {"form": {}}})] {
        let answer = client.ask(1, "tools/call", to_pages(), able.clone()).await;
        assert_eq!(answer.status, 400);
        let error = &answer.json().await["error"];
        assert_eq!(error["code"], -32021, "{able}");
        assert_eq!(error["data"]["requiredCapabilities"], json!({"elicitation": {"url": {}}}));
    }
    // An error that names no page leads nowhere.
    let none = ask(&client, json!({"name": "beta__fail"})).await;
    assert_eq!(none["error"]["code"], -32042, "{none}");
    let session = client.initialized("2025-11-25", json!({"elicitation": {"url": {}}})).await;
    let answer = session.post(&request(1, "tools/call", to_pages())).await.json().await;
    assert_eq!(answer["error"]["data"]["elicitations"][0]["elicitationId"], "1", "{answer}");
}
