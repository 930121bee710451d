//! Agents and their tokens, and what they see: over HTTP and over a pipe.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::context::Context;
use crate::hub::{Hub, connected, entry, sent, wait};
use crate::rest::person;

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

/// What an endpoint answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Hub {
    /// Asks the endpoint something in the stateless era.
    pub(crate) fn ask(
        &self,
        path: &str,
        token: Option<&str>,
        method: &str,
        params: Value,
    ) -> Answer {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params["name"].as_str().map(|name| format!("Mcp-Name: {name}\r\n"));
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let body = body.to_string();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{}{}\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            name.unwrap_or_default(),
            token.unwrap_or_default(),
            body.len(),
        );
        let mut text = String::new();
        sent(&self.address, &request).read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        let body = text.split_once("\r\n\r\n").unwrap().1;
        Answer { status, body: serde_json::from_str(body).unwrap_or_default() }
    }

    pub(crate) fn tools(&self, path: &str, token: &str) -> Vec<String> {
        let answer = self.ask(path, Some(token), "tools/list", json!({}));
        let tools = answer.body["result"]["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) fn declared() -> Context {
    let text = format!(
        "{}{}\n[agents.cto]\nservers = [\"a\"]\n\n[agents.dev]\nservers = [\"b\"]\n",
        entry("a", &Script::new()),
        entry("b", &Script::new()),
    );
    Context::new().with("switchboard.toml", &text)
}

/// A new token of an agent, and its id.
pub(crate) fn token(context: &Context, agent: &str) -> (String, String) {
    let made = context.json(&["token", "create", "--agent", agent, "--name", "test"]);
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    (text("token"), text("id"))
}

#[test]
fn who_has_no_token_gets_no_answer() {
    let context = declared();
    // Made without a hub, in its store alone.
    let (early, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    for bad in [None, Some("swb_none"), Some("")] {
        assert_eq!(hub.ask("/mcp", bad, "tools/list", json!({})).status, 401, "{bad:?}");
    }
    let names = hub.tools("/mcp", &early);
    assert!(names.contains(&"a__echo".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("b__")), "{names:?}");
    assert!(names.contains(&"system_health_check".to_owned()), "{names:?}");

    let (late, id) = token(&context, "dev");
    wait("the new token is known", || hub.tools("/mcp", &late).contains(&"b__echo".to_owned()));
    let echo = json!({"name": "b__echo", "arguments": {"text": "x"}});
    let said = hub.ask("/mcp", Some(&late), "tools/call", echo).body;
    assert_eq!(said["result"]["content"][0]["text"], "x", "{said}");
    let other = json!({"name": "a__echo", "arguments": {"text": "x"}});
    let refused = hub.ask("/mcp", Some(&late), "tools/call", other).body;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");

    // Another's door is no door.
    assert_eq!(hub.ask("/mcp/agents/dev", Some(&early), "tools/list", json!({})).status, 404);
    assert_eq!(hub.ask("/mcp/agents/cto", Some(&early), "tools/list", json!({})).status, 200);
    assert_eq!(hub.ask("/mcp/servers/b", Some(&early), "tools/list", json!({})).status, 404);

    context.ok(&["token", "revoke", &id]);
    wait("the token is worth nothing", || {
        hub.ask("/mcp", Some(&late), "tools/list", json!({})).status == 401
    });
    let listed = context.json(&["token", "list"]);
    let states: Vec<&str> =
        listed.as_array().unwrap().iter().map(|token| token["state"].as_str().unwrap()).collect();
    assert_eq!(states.len(), 2);
    assert!(states.contains(&"good") && states.contains(&"revoked"), "{states:?}");
}

#[test]
fn agents_of_the_store() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    context.ok(&["agent", "add", "reader", "--server", "a", "--description", "reads"]);
    let (token, _) = token(&context, "reader");
    wait("it sees its server", || hub.tools("/mcp", &token).contains(&"a__echo".to_owned()));
    let agents = context.json(&["agent", "list"]);
    assert_eq!(agents[0]["id"], "reader");
    assert_eq!(agents[0]["servers"], json!(["a"]));
    assert!(context.run(&["agent", "add", "reader"]).err.contains("reader"));
    assert!(context.run(&["agent", "add", "a b"]).err.contains("letters, digits"));
    context.ok(&["agent", "remove", "reader"]);
    wait("it is nobody", || hub.ask("/mcp", Some(&token), "tools/list", json!({})).status == 401);
}

/// An agent on a pipe; what it says is answered line by line.
fn on_a_pipe(
    context: &Context,
    args: &[&str],
    lines: &[&str],
) -> (Vec<Value>, Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_switchboard");
    let mut command = std::process::Command::new(program);
    let command = context.prepare(command.args(["mcp"]).args(args));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answers = Vec::new();
    for line in lines {
        if writeln!(stdin, "{line}").is_err() {
            break;
        }
        let Some(Ok(answer)) = out.next() else { break };
        answers.push(serde_json::from_str(&answer).unwrap());
    }
    drop(stdin);
    let code = child.wait().unwrap().code();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (answers, code, err)
}

#[test]
fn on_a_pipe_with_a_hub_and_without() {
    let context = declared();
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__echo","arguments":{"text":"1.0"}}}"#;
    let check = |way: &str| {
        let (answers, code, err) = on_a_pipe(&context, &["--agent", "cto"], &[INITIALIZE, call]);
        assert_eq!(code, Some(0), "{way}: {err}");
        assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18", "{way}");
        assert_eq!(answers[1]["result"]["content"][0]["text"], "1.0", "{way}: {answers:?}");
        let (_, code, err) = on_a_pipe(&context, &["--agent", "nobody"], &[INITIALIZE]);
        assert_eq!(code, Some(1), "{way}");
        assert!(err.contains("there is no agent `nobody`"), "{way}: {err}");
    };
    check("inside itself");
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    let before = connected(&context, &["a", "b"])[0]["pid"].clone();
    check("through the hub");
    assert_eq!(connected(&context, &["a", "b"])[0]["pid"], before, "no second process");
    drop(hub);
}

/// The first start of the day answers at once, from what was on offer when the hub last ran.
#[test]
fn tools_are_there_before_their_servers() {
    let context = Context::new();
    let gate = context.work().join("gate");
    let text =
        |script: &Script| format!("{}\n[agents.cto]\nservers = [\"a\"]\n", entry("a", script));
    context.write("switchboard.toml", &text(&Script::new()));
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let before = hub.tools("/mcp", &token);
    assert!(before.contains(&"a__echo".to_owned()));
    hub.stop();
    // From now on it hangs until the gate is gone.
    std::fs::write(&gate, "").unwrap();
    let slow = Script::new().fault("silent").while_file(&gate);
    context.write("switchboard.toml", &text(&slow));
    let hub = Hub::start(&context);
    assert_eq!(hub.tools("/mcp", &token), before, "at once");
    // A call waits for its server.
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let echo = json!({"name": "a__echo", "arguments": {"text": "late"}});
            hub.ask("/mcp", Some(&token), "tools/call", echo).body
        });
        std::thread::sleep(std::time::Duration::from_millis(300));
        std::fs::remove_file(&gate).unwrap();
        context.json(&["reconnect", "a"]);
        call.join().unwrap()
    });
    assert_eq!(answer["result"]["content"][0]["text"], "late", "{answer}");
}

/// What a file declares of an agent counts, whatever tokens the store keeps for it.
#[test]
fn a_files_agent_has_what_the_file_says_and_nothing_without_it() {
    let context = declared();
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    let admin = person(&context, "admin");
    let (token, _) = token(&context, "cto");
    let sees = |name: &str| hub.tools("/mcp", &token).contains(&name.to_owned());
    wait("it sees its server", || sees("a__echo"));
    let shown = hub.rest("GET", "/api/v1/agents/cto", &admin, None).body;
    assert_eq!((&shown["source"], &shown["servers"]), (&json!("file"), &json!(["a"])), "{shown}");
    let change = json!({"servers": ["b"]});
    let refused = hub.rest("PUT", "/api/v1/agents/cto", &admin, Some(&change));
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body["detail"].as_str().unwrap().contains("switchboard.toml"));

    for (args, words) in [
        (&["token", "create", "--agent", "ctoo"][..], &["`ctoo`", "`cto`", "agent add ctoo"][..]),
        (&["agent", "add", "cto"], &["switchboard.toml", "token create --agent cto"]),
        (&["agent", "add", "new", "--server", "aa"], &["no server `aa`", "switchboard list"]),
        (&["agent", "remove", "cto"], &["switchboard.toml"]),
    ] {
        let ran = context.run(args);
        assert_eq!(ran.code, 1, "{args:?}: {}", ran.out);
        assert!(words.iter().all(|word| ran.err.contains(word)), "{args:?}: {}", ran.err);
    }
    let listed = context.json(&["agent", "list"]);
    let ids: Vec<&str> =
        listed.as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["cto", "dev"], "{listed}");

    // One that was saved a moment ago is known at once.
    let text = context.read("switchboard.toml");
    context.write("switchboard.toml", &format!("{text}[agents.late]\nservers = [\"b\"]\n"));
    super::agents::token(&context, "late");

    let off = text.replace("[agents.cto]", "[agents.cto]\nenabled = false");
    context.write("switchboard.toml", &off);
    let me = || hub.rest("GET", "/api/v1/me", &token, None).status;
    wait("a disabled agent is nobody", || me() == 401);
    assert_eq!(hub.ask("/mcp", Some(&token), "tools/list", json!({})).status, 401);
    context.write("switchboard.toml", &text);
    wait("it is back", || me() == 200 && sees("a__echo"));
    let gone = text.replace("[agents.cto]\nservers = [\"a\"]\n", "");
    assert_ne!(gone, text);
    context.write("switchboard.toml", &gone);
    wait("an agent that no file declares any more is nobody", || me() == 401);
    assert_eq!(hub.ask("/mcp", Some(&token), "tools/list", json!({})).status, 401);
}

/// Earlier versions kept the tokens of a file's agent in a row that had the defaults by itself.
#[test]
fn an_agent_that_only_a_file_declared_has_nothing_without_it() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    for id in ["old", "local"] {
        context.ok(&["agent", "add", id]);
    }
    let [old, local] = ["old", "local"].map(|id| token(&context, id).0);
    let sees = |token: &str| hub.tools("/mcp", token).contains(&"a__echo".to_owned());
    wait("both have the defaults", || sees(&old) && sees(&local));
    let text = context.read("switchboard.toml");
    let agents = "[agents.old]\nservers = []\n[agents.local]\nservers = []\n";
    context.write("switchboard.toml", &format!("{text}\n{agents}"));
    wait("the file's word counts", || !sees(&old) && !sees(&local));
    context.write("switchboard.toml", &text);
    // Whoever runs the hub has what they had.
    wait("the file is as it was", || sees(&local));
    assert_eq!(hub.ask("/mcp", Some(&old), "tools/list", json!({})).status, 401);
    let listed = context.json(&["agent", "list"]).to_string();
    assert!(listed.contains("\"old\""), "its tokens stay for the file's return: {listed}");
}

/// Who has an id first does not have what a file gives it later.
#[test]
fn nobody_takes_over_an_agent_before_a_file_declares_it() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let log = context.home().join("hub.log");
    let hub = Hub::start_logging(&context, &log);
    connected(&context, &["a"]);
    let (admin, bob) = (person(&context, "admin"), person(&context, "bob"));
    let new = json!({"id": "ops"});
    assert_eq!(hub.rest("POST", "/api/v1/agents", &bob, Some(&new)).status, 201);
    assert_eq!(hub.rest("POST", "/api/v1/agents", &bob, Some(&json!({"id": "local"}))).status, 403);
    let made =
        hub.rest("POST", "/api/v1/agents/ops/tokens", &bob, Some(&json!({"name": "x"}))).body;
    let token = made["secret"].as_str().unwrap();
    assert_eq!(hub.rest("GET", "/api/v1/me", token, None).status, 200);

    let own = entry("payroll", &Script::new()).replace("[servers.", "[agents.ops.own.");
    let text = context.read("switchboard.toml");
    context.write("switchboard.toml", &format!("{text}\n{own}"));
    wait("his token is worth nothing", || hub.rest("GET", "/api/v1/me", token, None).status == 401);
    assert_eq!(hub.ask("/mcp", Some(token), "tools/list", json!({})).status, 401);
    let path = "/api/v1/servers/agent:ops:payroll";
    wait("the file's server is there", || hub.rest("GET", path, &admin, None).status == 200);
    for act in ["", "/logs"] {
        assert_eq!(hub.rest("GET", &format!("{path}{act}"), &bob, None).status, 404, "{act}");
    }
    let credential = json!({"kind": "bearer", "value": "x"});
    assert_eq!(hub.rest("PUT", &format!("{path}/credential"), &bob, Some(&credential)).status, 404);

    // Everybody who could mend it is told, with both names.
    let both = |text: &str| {
        text.contains("`ops`") && text.contains("`bob`") && text.contains("switchboard.toml")
    };
    assert!(both(&context.json(&["status"])["problems"].to_string()));
    assert!(both(&hub.rest("GET", "/api/v1/agents/ops", &admin, None).body["problem"].to_string()));
    wait("the log says it", || both(&std::fs::read_to_string(&log).unwrap()));
    let refused = context.run(&["token", "create", "--agent", "ops"]);
    assert!(refused.code == 1 && both(&refused.err), "{}", refused.err);
    context.ok(&["agent", "remove", "ops"]);
    let (good, _) = super::agents::token(&context, "ops");
    wait("the file's agent has its server", || {
        hub.tools("/mcp", &good).contains(&"payroll__echo".to_owned())
    });
    wait("nothing is left to mend", || context.json(&["status"])["problems"] == json!([]));
}
