//! Clients of every revision before servers of every revision: calls, progress, logs, changes, and what a server asks
//! back.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};

use crate::agents::{declared, token};
use crate::client::{Client, Stream};
use crate::context::Context;
use crate::hub::{Hub, connected, entry};
use crate::rejoin::Agent;

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/// The revision that has no sessions.
const STATELESS: &str = "2026-07-28";
/// The first revision in which a server may ask the user something.
const ELICITS: &str = "2025-06-18";

/// How the hub reaches a server.
#[derive(Clone, Copy)]
enum Way {
    Pipe,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, which the hub is told.
    Sse,
    /// HTTP+SSE, which the hub has to find out.
    OnlySse,
}

/// The servers behind the hub, in the order in which it names them.
const SERVERS: [(&str, &str, Way); 7] = [
    ("h20250326", "2025-03-26", Way::Http),
    ("h20251125", "2025-11-25", Way::Http),
    ("h20260728", "2026-07-28", Way::Http),
    ("p20241105", "2024-11-05", Way::Pipe),
    ("p20250618", "2025-06-18", Way::Pipe),
    ("s20241105", "2024-11-05", Way::OnlySse),
    ("s20251125", "2025-11-25", Way::Sse),
];

/// A client before a server.
struct Pair<'p> {
    client: &'p Client,
    ours: &'p str,
    server: &'p str,
    theirs: &'p str,
    /// Where the client hears of its resource.
    stream: &'p Stream,
}

/// A request that makes a server ask: the method, its params, the question, and what the client says to it.
type Asks = (&'static str, Value, &'static str, Value);

impl Pair<'_> {
    fn name(&self) -> String {
        format!("a client of {} before {} of {}", self.ours, self.server, self.theirs)
    }

    fn check(&self) {
        let pair = self.name();
        let said = self.client.call(&self.tool("echo"), json!({"text": pair}));
        assert_eq!(said["content"][0]["text"], pair.as_str(), "{said}");
        self.tells_on_the_way();
        for asks in self.questions() {
            self.asks(&asks);
        }
        let touched = json!({"uri": own()});
        assert_eq!(self.client.call(&self.tool("touch"), touched)["content"][0]["text"], "touched");
        let told = self.stream.until("notifications/resources/updated");
        assert_eq!(told["params"]["uri"], uri(self.server), "{pair}");
    }

    fn tool(&self, name: &str) -> String {
        format!("{}__{name}", self.server)
    }

    /// What comes before the answer of a call.
    fn tells_on_the_way(&self) {
        let pair = self.name();
        let works = json!({
            "name": self.tool("progress"),
            "arguments": {"steps": 2, "ms": 1},
            "_meta": {"progressToken": "mine"},
        });
        let work = self.client.begin("tools/call", works);
        for step in 1..=2 {
            let told = work.next();
            assert_eq!(told["method"], "notifications/progress", "{pair}: {told}");
            assert_eq!(told["params"]["progressToken"], "mine", "{pair}: {told}");
            assert_eq!(told["params"]["progress"], step, "{pair}: {told}");
        }
        assert_eq!(work.next()["result"]["content"][0]["text"], "done", "{pair}");

        let mut logs = json!({
            "name": self.tool("log"),
            "arguments": {"level": "error", "text": pair},
        });
        if self.ours == STATELESS {
            logs["_meta"] = json!({"io.modelcontextprotocol/logLevel": "info"});
        }
        let work = self.client.begin("tools/call", logs);
        let told = work.next();
        assert_eq!(told["method"], "notifications/message", "{pair}: {told}");
        assert_eq!(told["params"]["level"], "error", "{pair}: {told}");
        assert_eq!(told["params"]["data"], pair.as_str(), "{told}");
        assert_eq!(work.next()["result"]["content"][0]["text"], "logged", "{pair}");
    }

    fn questions(&self) -> Vec<Asks> {
        let tool = |name| json!({"name": self.tool(name), "arguments": {"text": "Well?"}});
        let content = json!({"type": "text", "text": "sampled"});
        let sampled = json!({"role": "assistant", "content": content, "model": "m"});
        let roots = json!({"roots": [{"uri": "file:///here", "name": "here"}]});
        let accepted = json!({"action": "accept", "content": {"answer": "yes"}});
        let resource = json!({"uri": format!("mcp://{}/scripted://asks/elicit", self.server)});
        let mut all = vec![
            ("tools/call", tool("sample"), "sampling/createMessage", sampled),
            ("tools/call", tool("roots"), "roots/list", roots),
        ];
        if self.theirs >= ELICITS {
            all.push(("tools/call", tool("elicit"), "elicitation/create", accepted.clone()));
            all.push(("resources/read", resource, "elicitation/create", accepted));
        }
        all
    }

    fn asks(&self, asks: &Asks) {
        let (pair, (method, _, question, say)) = (self.name(), asks);
        let (asked, answer) = self.asked(asks);
        let result = &answer["result"];
        if *question == "elicitation/create" && self.ours < ELICITS {
            // The client does not know it: nobody is asked, and the server or its caller hears so.
            assert!(asked.is_empty(), "{pair}: {asked:?}");
            let refused = result["isError"] == true || answer["error"].is_object();
            assert!(refused, "{pair}: {answer}");
            return;
        }
        assert_eq!(asked.len(), 1, "{pair}: {method} {asked:?} {answer}");
        assert_eq!(asked[0]["method"], *question, "{pair}");
        let content = result.get("content").or(result.get("contents"));
        let heard = content.and_then(|content| content[0]["text"].as_str());
        let heard: Option<Value> = heard.and_then(|text| serde_json::from_str(text).ok());
        assert_eq!(heard.as_ref(), Some(say), "{pair}: {method} {answer}");
    }

    /// Makes the request, answers what is asked, and returns what was asked and the answer.
    fn asked(&self, (method, params, _, say): &Asks) -> (Vec<Value>, Value) {
        let (client, mut params) = (self.client, params.clone());
        let mut questions = Vec::new();
        if self.ours == STATELESS {
            loop {
                let answer = client.ask(method, params.clone());
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
        let call = client.begin(method, params);
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
}

/// A resource as its server calls it.
fn own() -> &'static str {
    "scripted://static/text"
}

/// The same as clients call it.
fn uri(server: &str) -> String {
    format!("mcp://{server}/{}", own())
}

/// A client of that revision, that can do what there is in it, and where it hears of changes.
fn client(hub: &Hub, token: &str, revision: &str) -> (Client, Stream) {
    let mut able = json!({"sampling": {}, "roots": {}});
    if revision >= ELICITS {
        able["elicitation"] = json!({});
    }
    let client = Client::stateless(hub, "/mcp", token).able(able);
    let uris = SERVERS.map(|(server, ..)| uri(server));
    if revision == STATELESS {
        let wanted = json!({"notifications": {"resourceSubscriptions": uris}});
        let stream = client.begin("subscriptions/listen", wanted);
        let told = stream.until("notifications/subscriptions/acknowledged");
        let honoured = &told["params"]["notifications"]["resourceSubscriptions"];
        assert_eq!(honoured.as_array().map(Vec::len), Some(uris.len()), "{told}");
        return (client, stream);
    }
    let client = client.initialized(revision);
    let client = match revision {
        "2024-11-05" | "2025-03-26" => client,
        _ => client.with_header("MCP-Protocol-Version", revision),
    };
    let level = client.ask("logging/setLevel", json!({"level": "info"}));
    assert!(level["result"].is_object(), "{level}");
    for uri in uris {
        let done = client.ask("resources/subscribe", json!({"uri": uri}));
        assert!(done["result"].is_object(), "{uri}: {done}");
    }
    let stream = client.hear();
    (client, stream)
}

/// One hub, and servers of every revision behind it, over every transport.
#[test]
fn any_client_before_any_server() {
    let names = SERVERS.map(|(server, ..)| server);
    let mut text = format!("[agents.cto]\nservers = {names:?}\n");
    let mut far = Vec::new();
    for (server, revision, way) in SERVERS {
        let script = Script::new().only(revision);
        let (running, more) = match way {
            Way::Pipe => {
                text.push_str(&entry(server, &script));
                continue;
            }
            Way::Http => (Scripted::http(&script), ""),
            Way::Sse => (Scripted::sse(&script), "transport = \"sse\"\n"),
            Way::OnlySse => (Scripted::sse(&script), ""),
        };
        text.push_str(&format!("[servers.{server}]\nurl = {:?}\n{more}", running.url()));
        far.push(running);
    }
    let context = Context::new().with("switchboard.toml", &text);
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    let now = connected(&context, &names);
    for (server, (_, revision, _)) in now.iter().zip(SERVERS) {
        assert!(server.to_string().contains(revision), "{server}");
    }
    for ours in REVISIONS {
        let (client, stream) = client(&hub, &token, ours);
        for (server, theirs, _) in SERVERS {
            Pair { client: &client, ours, server, theirs, stream: &stream }.check();
        }
    }
}

/// One of the oldest clients, which starts our program.
fn oldest(context: &Context, revision: &str, way: &str) {
    let what = format!("{revision}, {way}");
    let mut agent = Agent::start(context, &[]);
    let about = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": about});
    let say = |agent: &mut Agent, id: u64, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        agent.say(&message.to_string());
    };
    say(&mut agent, 1, "initialize", hello);
    assert_eq!(agent.answer(1)["result"]["protocolVersion"], revision, "{what}");
    agent.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    say(&mut agent, 2, "tools/list", json!({}));
    let listed = agent.answer(2);
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "a__progress"), "{what}: {listed}");
    agent.call(3, "a__echo", json!({"text": what}));
    assert_eq!(agent.answer(3)["result"]["content"][0]["text"], what.as_str());
    let works = json!({"steps": 2, "ms": 1});
    let works = json!({"name": "a__progress", "arguments": works, "_meta": {"progressToken": "p"}});
    say(&mut agent, 4, "tools/call", works);
    let mut steps = Vec::new();
    let done = loop {
        let message = agent.lines.recv_timeout(Duration::from_secs(60)).expect("a message");
        match message["method"].as_str() {
            Some("notifications/progress") => steps.push(message["params"].clone()),
            Some(_) => {}
            None => break message,
        }
    };
    assert_eq!(done["result"]["content"][0]["text"], "done", "{what}: {done}");
    let told: Vec<_> = steps.iter().map(|at| (&at["progressToken"], &at["progress"])).collect();
    assert_eq!(told, [(&json!("p"), &json!(1)), (&json!("p"), &json!(2))], "{what}: {steps:?}");
    drop(agent.input.take());
    let (code, said) = agent.end();
    assert_eq!(code, Some(0), "{what}: {said}");
}

#[test]
fn the_oldest_clients_on_a_pipe() {
    let context = declared();
    let oldest = |way: &str| ["2024-11-05", "2025-03-26"].map(|own| oldest(&context, own, way));
    oldest("with a hub inside");
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    oldest("through the hub");
    drop(hub);
}
