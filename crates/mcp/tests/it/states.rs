//! That a `requestState`, a kept result and a task are of one caller, at one door and of one server,
//! and of nobody else, whoever owns whom.

use serde_json::{Value, json};
use switchboard_core::Audience;
use switchboard_model::{AgentId, Scope, ServerKey};

use crate::kit::{Client, Hub, call, key, offer, request};

async fn ask(client: &Client, tool: &str, more: Value) -> Value {
    let mut params = json!({"name": tool});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.ask(1, "tools/call", params, json!({"elicitation": {}})).await.json().await
}

/// A call that waits for inputs; what the client comes back with.
async fn waits(client: &Client, tool: &str) -> Value {
    let first = ask(client, tool, json!({})).await;
    let result = &first["result"];
    assert_eq!(result["resultType"], "input_required", "{first}");
    let key = result["inputRequests"].as_object().unwrap().keys().next().unwrap();
    json!({"requestState": result["requestState"], "inputResponses": {key: {"x": 1}}})
}

async fn refused(hub: &Hub, client: &Client, tool: &str, more: &Value) {
    let begun = hub.servers.count(&hub.servers.begun);
    let answer = ask(client, tool, more.clone()).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(hub.servers.count(&hub.servers.begun), begun, "no server hears of it");
}

async fn accepted(client: &Client, tool: &str, more: Value) {
    let answer = ask(client, tool, more).await;
    assert!(answer["result"].is_object(), "{answer}");
}

fn agent(id: &str) -> AgentId {
    AgentId::parse(id).unwrap()
}

/// One of a server that asks while it works, and one of a server that asks by its result.
const ASKS: [&str; 2] = ["elicit", "ask"];

#[tokio::test]
async fn a_state_of_one_server_is_none_at_anothers_door() {
    let hub = Hub::start().await;
    let at = |path: &str| hub.client("token-cto").at(path);
    for tool in ASKS {
        let more = waits(&at("/mcp/servers/alpha"), tool).await;
        refused(&hub, &at("/mcp/servers/beta"), tool, &more).await;
        accepted(&at("/mcp/servers/alpha"), tool, more).await;
        // The same agent and the same server, by another door.
        let tool = &format!("alpha__{tool}");
        let more = waits(&at("/mcp"), tool).await;
        refused(&hub, &at("/mcp/agents/cto"), tool, &more).await;
        accepted(&at("/mcp"), tool, more).await;
    }
}

#[tokio::test]
async fn a_state_is_none_where_its_name_leads_elsewhere() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let own = ServerKey { scope: Scope::Agent(agent("cto")), ..key("alpha") };
    let sees = |keys: &[ServerKey]| {
        hub.registry.set_audience(Audience::default().with_agent(agent("cto"), keys));
    };
    for tool in ["alpha__elicit", "alpha__ask"] {
        let more = waits(&client, tool).await;
        // A server of the agent's own comes before everybody's of the same name.
        hub.registry.publish(&own, offer("alpha").into());
        sees(&[own.clone(), key("beta")]);
        refused(&hub, &client, tool, &more).await;
        sees(&[key("alpha"), key("beta")]);
        accepted(&client, tool, more).await;
    }
}

#[tokio::test]
async fn a_call_that_waits_is_not_gone_on_with_by_who_may_not_use_its_server() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let sees = |keys: &[ServerKey]| {
        hub.registry.set_audience(Audience::default().with_agent(agent("cto"), keys));
    };
    for tool in ["alpha__elicit", "alpha__ask"] {
        let more = waits(&client, tool).await;
        sees(&[key("beta")]);
        refused(&hub, &client, tool, &more).await;
        sees(&[key("alpha"), key("beta")]);
        accepted(&client, tool, more).await;
    }
}

#[tokio::test]
async fn an_administrator_is_not_the_agent_whose_door_they_use() {
    let hub = Hub::start().await;
    let cto = hub.client("token-cto").at("/mcp/agents/cto");
    let boss = hub.client("token-boss").at("/mcp/agents/cto");
    for (one, other) in [(&cto, &boss), (&boss, &cto)] {
        for tool in ASKS {
            let tool = &format!("alpha__{tool}");
            let more = waits(one, tool).await;
            refused(&hub, other, tool, &more).await;
            accepted(one, tool, more).await;
        }
    }
}

#[tokio::test]
async fn nor_do_they_read_what_is_kept_for_each_other() {
    let hub = Hub::start().await;
    let open = async |token: &str| {
        let client = hub.client(token).at("/mcp/agents/cto");
        client.initialized("2025-11-25", json!({})).await
    };
    let (cto, boss) = (open("token-cto").await, open("token-boss").await);
    for (one, other) in [(&cto, &boss), (&boss, &cto)] {
        let long = one.post(&call(1, "alpha__large", json!({}))).await.json().await;
        let note = long["result"]["content"].as_array().unwrap().last().unwrap();
        let uri = note["text"].as_str().unwrap().rsplit_once("the resource ").unwrap().1;
        let uri = json!({"uri": uri.trim_end_matches(".]")});
        let read = request(2, "resources/read", uri);
        let theirs = other.post(&read).await.json().await;
        assert_eq!(theirs["error"]["code"], -32002, "{theirs}");
        let own = one.post(&read).await.json().await;
        assert_eq!(own["result"]["contents"][0]["text"].as_str().unwrap().len(), 150_000);
        // A task: `raw` answers with what it is given.
        let task = json!({"task": {"taskId": "7"}});
        let task = one.post(&call(3, "alpha__raw", task)).await.json().await;
        let look = request(4, "tasks/get", json!({"taskId": task["result"]["task"]["taskId"]}));
        let theirs = other.post(&look).await.json().await;
        assert_eq!(theirs["error"]["code"], -32602, "{theirs}");
        let own = one.post(&look).await.json().await;
        assert_eq!(own["error"]["code"], -32601, "the server itself answers: {own}");
    }
}
