//! Clients of every revision before servers of every revision: calls, progress, and what a server asks back.

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, entry};

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/// The first revision in which a server may ask the user something.
const ELICITS: &str = "2025-06-18";

/// What a server asks in the course of a call: the tool, the method, and what the client says to it.
fn questions() -> [(&'static str, &'static str, Value); 3] {
    let content = json!({"type": "text", "text": "sampled"});
    [
        (
            "sample",
            "sampling/createMessage",
            json!({"role": "assistant", "content": content, "model": "m"}),
        ),
        ("roots", "roots/list", json!({"roots": [{"uri": "file:///here", "name": "here"}]})),
        ("elicit", "elicitation/create", json!({"action": "accept", "content": {"answer": "yes"}})),
    ]
}

/// A client of that revision, that can do what there is in it.
fn client(hub: &Hub, token: &str, revision: &str) -> Client {
    let mut able = json!({"sampling": {}, "roots": {}});
    if revision >= ELICITS {
        able["elicitation"] = json!({});
    }
    let client = Client::stateless(hub, "/mcp", token).able(able);
    match revision {
        "2026-07-28" => client,
        "2024-11-05" | "2025-03-26" => client.initialized(revision),
        _ => client.initialized(revision).with_header("MCP-Protocol-Version", revision),
    }
}

/// Calls a tool that asks, answers what is asked, and returns what was asked and the result.
fn asked(client: &Client, revision: &str, tool: &str, say: &Value) -> (Vec<Value>, Value) {
    let mut params = json!({"name": tool, "arguments": {"text": "Well?"}});
    let mut questions = Vec::new();
    if revision == "2026-07-28" {
        loop {
            let answer = client.ask("tools/call", params.clone());
            let Some(wanted) = answer["result"]["inputRequests"].as_object() else {
                return (questions, answer);
            };
            for (name, question) in wanted {
                questions.push(question.clone());
                params["inputResponses"][name] = say.clone();
            }
            params["requestState"] = answer["result"]["requestState"].clone();
        }
    }
    let call = client.begin("tools/call", params);
    loop {
        let message = call.next();
        if message["id"] == 7 && message["method"].is_null() {
            return (questions, message);
        }
        if message["id"].is_null() {
            continue;
        }
        client.tell(&json!({"jsonrpc": "2.0", "id": message["id"], "result": say}));
        questions.push(message);
    }
}

fn check(client: &Client, ours: &str, server: &str, theirs: &str) {
    let pair = format!("a client of {ours} before a server of {theirs}");
    let said = client.call(&format!("{server}__echo"), json!({"text": pair}));
    assert_eq!(said["content"][0]["text"], pair.as_str(), "{said}");

    let works = json!({
        "name": format!("{server}__progress"),
        "arguments": {"steps": 2, "ms": 1},
        "_meta": {"progressToken": "mine"},
    });
    let work = client.begin("tools/call", works);
    for step in 1..=2 {
        let told = work.next();
        assert_eq!(told["method"], "notifications/progress", "{pair}: {told}");
        assert_eq!(told["params"]["progressToken"], "mine", "{pair}: {told}");
        assert_eq!(told["params"]["progress"], step, "{pair}: {told}");
    }
    assert_eq!(work.next()["result"]["content"][0]["text"], "done", "{pair}");

    for (tool, method, say) in questions() {
        if tool == "elicit" && theirs < ELICITS {
            continue;
        }
        let (questions, answer) = asked(client, ours, &format!("{server}__{tool}"), &say);
        if tool == "elicit" && ours < ELICITS {
            // The client does not know it: nobody is asked, and the server or its caller hears so.
            assert!(questions.is_empty(), "{pair}: {questions:?}");
            let refused = answer["result"]["isError"] == true || answer["error"].is_object();
            assert!(refused, "{pair}: {answer}");
            continue;
        }
        assert_eq!(questions.len(), 1, "{pair}: {tool} {questions:?} {answer}");
        assert_eq!(questions[0]["method"], method, "{pair}");
        let heard = answer["result"]["content"][0]["text"].as_str();
        let heard: Option<Value> = heard.and_then(|text| serde_json::from_str(text).ok());
        assert_eq!(heard.as_ref(), Some(&say), "{pair}: {tool} {answer}");
    }
}

/// One hub, and a server of each revision behind it, some on pipes and some behind HTTP.
#[test]
fn any_client_before_any_server() {
    let script = |revision: &str| Script::new().only(revision);
    let remote = ["2025-03-26", "2025-11-25", "2026-07-28"];
    let remote = remote.map(|revision| (revision, Scripted::http(&script(revision))));
    let servers = REVISIONS.map(|revision| format!("s{}", revision.replace('-', "")));
    let mut text = format!("[agents.cto]\nservers = {servers:?}\n");
    for (name, revision) in servers.iter().zip(REVISIONS) {
        let far = remote.iter().find(|(far, _)| *far == revision);
        text.push_str(&match far {
            Some((_, far)) => format!("[servers.{name}]\nurl = {:?}\n", far.url()),
            None => entry(name, &script(revision)),
        });
    }
    let context = Context::new().with("switchboard.toml", &text);
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    let now = connected(&context, &servers.each_ref().map(String::as_str));
    for (server, revision) in now.iter().zip(REVISIONS) {
        assert!(server.to_string().contains(revision), "{server}");
    }
    for ours in REVISIONS {
        let client = client(&hub, &token, ours);
        for (server, theirs) in servers.iter().zip(REVISIONS) {
            check(&client, ours, server, theirs);
        }
    }
}
