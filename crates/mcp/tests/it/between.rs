//! What one revision says and another cannot: how it is said to clients of either.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_core::Offer;
use switchboard_wire::types::{Entry, ToolEntry};

use crate::kit::{Hub, buffer, call, key, offer, request};

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
