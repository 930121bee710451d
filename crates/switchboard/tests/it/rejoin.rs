//! An agent on a pipe whose hub is restarted: its session goes on, and only its calls under way fail.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_model::{Clock, SystemClock};
use switchboard_testkit::script::Script;

use crate::agents::{INITIALIZE, declared};
use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};

/// An agent on a pipe.
pub(crate) struct Agent {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) lines: Receiver<Value>,
}

impl Agent {
    pub(crate) fn start(context: &Context, more: &[&str]) -> Self {
        Self::start_as("cto", context, more)
    }

    pub(crate) fn start_as(agent: &str, context: &Context, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        let command = context.prepare(command.args(["mcp", "--agent", agent]).args(more));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        // It ends with the program.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        Self { child, input, lines }
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The message that answers this id.
    pub(crate) fn answer(&self, id: u64) -> Value {
        loop {
            let message = self.lines.recv_timeout(Duration::from_secs(60)).expect("an answer");
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
        }
    }

    pub(crate) fn call(&mut self, id: u64, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.say(&call.to_string());
    }

    /// How it ended, and what it said on standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (code, said)
    }
}

#[test]
fn the_session_goes_on_at_the_next_hub() {
    let context = declared();
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    let mut agent = Agent::start(&context, &[]);
    agent.say(INITIALIZE);
    assert_eq!(agent.answer(1)["result"]["protocolVersion"], "2025-06-18");
    agent.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    agent.call(2, "a__echo", json!({"text": "first"}));
    assert_eq!(agent.answer(2)["result"]["content"][0]["text"], "first");
    hub.stop();
    // What is asked meanwhile waits for the next hub.
    agent.call(3, "a__echo", json!({"text": "second"}));
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    assert_eq!(agent.answer(3)["result"]["content"][0]["text"], "second");
    // A hub that is killed leaves its call unanswered.
    drop(hub);
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    agent.call(4, "a__echo", json!({"text": "third"}));
    assert_eq!(agent.answer(4)["result"]["content"][0]["text"], "third");
    drop(agent.input.take());
    let (code, said) = agent.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("The hub is back").count(), 2, "{said}");
    drop(hub);
}

#[test]
fn a_hub_that_does_not_come_back_is_given_up() {
    let context = declared();
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    let mut agent = Agent::start(&context, &["--away", "2s"]);
    agent.say(INITIALIZE);
    agent.answer(1);
    agent.call(2, "a__sleep", json!({"ms": 600_000}));
    // The call is under way when the next one is answered.
    agent.call(3, "a__echo", json!({"text": "x"}));
    agent.answer(3);
    drop(hub);
    assert!(agent.answer(2)["error"].is_object(), "the call under way fails");
    let began = SystemClock.monotonic();
    // Its standard input stays open: it is the hub that it misses.
    let input = agent.input.take();
    let (code, said) = agent.end();
    let took = SystemClock.monotonic() - began;
    drop(input);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("did not come back within 2 s"), "{said}");
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn an_agent_that_leaves_while_the_hub_is_away_is_let_go() {
    let context = declared();
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    let mut agent = Agent::start(&context, &[]);
    agent.say(INITIALIZE);
    agent.answer(1);
    drop(hub);
    drop(agent.input.take());
    let began = SystemClock.monotonic();
    let (code, said) = agent.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(SystemClock.monotonic() - began < Duration::from_secs(30), "not after a minute");
}

/// An agent that is disabled or taken out is nobody: also on a pipe, which has no token, whichever era it speaks.
#[test]
fn an_agent_that_is_nobody_any_more_is_ended() {
    const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let about = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    for (hello, about) in [(INITIALIZE, json!({})), (DISCOVER, about)] {
        for taken in ["enabled = false\nservers", "servers"] {
            let context = Context::new();
            let record = context.work().join("record");
            let text = |agent: &str| entry("a", &Script::new().record(&record)) + agent;
            context.write("switchboard.toml", &text("[agents.cto]\nservers = [\"a\"]\n"));
            let hub = Hub::start(&context);
            connected(&context, &["a"]);
            let mut agent = Agent::start(&context, &["--away", "2s"]);
            agent.say(hello);
            assert!(agent.answer(1)["result"].is_object());
            let params = json!({"name": "a__sleep", "arguments": {"ms": 600_000}, "_meta": about});
            let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
            agent.say(&call.to_string());
            let told = |what: &str| {
                let text = std::fs::read_to_string(&record).unwrap_or_default();
                text.contains(what)
            };
            wait("the call is under way", || told("600000"));
            assert!(!told("notifications/cancelled"));
            let name = if taken == "servers" { "dev" } else { "cto" };
            context
                .write("switchboard.toml", &text(&format!("[agents.{name}]\n{taken} = [\"a\"]\n")));
            wait("the server is told", || told("notifications/cancelled"));
            let input = agent.input.take();
            let (code, said) = agent.end();
            drop(input);
            assert_eq!(code, Some(1), "{said}");
            assert!(said.contains("does not take this agent any more"), "{said}");
            drop(hub);
        }
    }
}

/// An agent that starts the hub itself gives up on a greeting long before a server is given up that says nothing.
#[test]
fn the_greeting_of_a_hub_inside_waits_for_no_server() {
    let mute = entry("mute", &Script::new().fault("silent"));
    let file = format!("{mute}\n[agents.cto]\nservers = [\"mute\"]\n");
    let context = Context::new().with("switchboard.toml", &file);
    let mut agent = Agent::start(&context, &[]);
    agent.say(INITIALIZE);
    agent.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    assert_eq!(agent.answer(1)["result"]["protocolVersion"], "2025-06-18");
    let greeted = SystemClock.monotonic();
    assert!(agent.answer(2)["result"]["tools"].is_array());
    let later = SystemClock.monotonic() - greeted;
    assert!(later > Duration::from_secs(3), "the list came {later:?} after the greeting");
    drop(agent.input.take());
    assert_eq!(agent.end().0, Some(0));
}
