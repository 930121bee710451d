//! A hub that is told to stop while calls are under way, as the real program: they are let finish, whoever asks.

use std::net::TcpStream;

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::agents::INITIALIZE;
use crate::client::Client;
use crate::context::{Context, Ran};
use crate::hub::{Hub, connected, entry, signal, status, wait};
use crate::rejoin::Agent;

#[test]
fn calls_under_way_are_answered() {
    let slow = entry("slow", &Script::new());
    let agent = "[agents.cto]\nservers = [\"slow\"]\n";
    let context = Context::new().with("switchboard.toml", &format!("{slow}\n{agent}"));
    let made = context.json(&["token", "create", "--agent", "cto"]);
    let token = made["token"].as_str().unwrap();
    let mut hub = Hub::start(&context);
    let server = connected(&context, &["slow"])[0]["pid"].clone();
    let mut pipe = Agent::start(&context, &[]);
    pipe.say(INITIALIZE);
    pipe.answer(1);
    // It answers nothing before the hub is ending, however long that takes.
    signal(&server, "-STOP");
    let params = || json!({"name": "slow__echo", "arguments": {"text": "late"}});
    let begin = |client: Client| client.begin("tools/call", params());
    let session = begin(Client::session(&hub, "/mcp", token));
    let stateless = begin(Client::stateless(&hub, "/mcp", token));
    pipe.call(7, "slow__echo", json!({"text": "late"}));
    let command = context.start(&["call", "slow", "echo", "--args", r#"{"text": "late"}"#]);
    wait("all are under way", || status(&context)[0]["in_flight"] == 4);
    hub.signal("-TERM");
    wait("nobody new is let in", || TcpStream::connect(&hub.address).is_err());
    signal(&server, "-CONT");
    assert!(hub.child.wait().unwrap().success());
    let is_late =
        |answer: &Value| assert_eq!(answer["result"]["content"][0]["text"], "late", "{answer}");
    is_late(&session.next());
    is_late(&stateless.next());
    is_late(&pipe.answer(7));
    let printed = Ran::new(&command.wait_with_output().unwrap());
    assert_eq!((printed.code, printed.out.trim()), (0, "late"), "{printed:?}");
}

#[test]
fn a_command_whose_call_takes_too_long_is_told() {
    let mute = entry("mute", &Script::new().fault("silent:tool=echo"));
    let context = Context::new().with("switchboard.toml", &mute);
    let hub = Hub::start(&context);
    connected(&context, &["mute"]);
    let command = context.start(&["call", "mute", "echo"]);
    wait("it is under way", || status(&context)[0]["in_flight"] == 1);
    hub.stop();
    let printed = Ran::new(&command.wait_with_output().unwrap());
    assert_eq!(printed.code, 1, "{printed:?}");
    // Its server is stopped after as long a time, and may be first to say so.
    assert!(printed.err.contains("stopped"), "{printed:?}");
}

/// The same where the agent's own program is the hub.
#[test]
fn a_call_of_an_agent_without_a_hub_is_answered() {
    let context = Context::new();
    let record = context.work().join("record");
    let slow = entry("slow", &Script::new().record(&record));
    let agent = "[agents.cto]\nservers = [\"slow\"]\n";
    let context = context.with("switchboard.toml", &format!("{slow}\n{agent}"));
    let mut pipe = Agent::start(&context, &[]);
    pipe.say(INITIALIZE);
    pipe.answer(1);
    pipe.call(7, "slow__sleep", json!({"ms": 1_000}));
    wait("it is under way", || {
        std::fs::read_to_string(&record).is_ok_and(|all| all.contains("tools/call"))
    });
    signal(pipe.child.id(), "-TERM");
    let answer = pipe.answer(7);
    assert!(answer["result"]["content"].is_array(), "{answer}");
    assert_eq!(pipe.end().0, Some(0));
}
