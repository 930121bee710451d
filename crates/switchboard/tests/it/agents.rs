//! Agents and their tokens, and what they see: over HTTP and over a pipe.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

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
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{}{}\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            name.unwrap_or_default(),
            token.unwrap_or_default(),
            body.len(),
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        let body = text.split_once("\r\n\r\n").unwrap().1;
        Answer { status, body: serde_json::from_str(body).unwrap_or_default() }
    }

    fn tools(&self, path: &str, token: &str) -> Vec<String> {
        let answer = self.ask(path, Some(token), "tools/list", json!({}));
        let tools = answer.body["result"]["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn declared() -> Context {
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
