//! An agent on a pipe, at hubs that stop or start at a bad moment, and what it had subscribed to.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::agents::{INITIALIZE, declared};
use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};
use crate::internal::part;
use crate::rejoin::Agent;

const SOON: Duration = Duration::from_secs(60);
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// What a hub keeps of its state on this machine.
fn state(context: &Context, name: &str) -> PathBuf {
    let place = context.home().join(".local/state/switchboard");
    std::fs::create_dir_all(&place).unwrap();
    place.join(name)
}

/// One agent that comes in at the socket, as a hub sees it: welcome, with what it says from then on.
fn welcomed(socket: UnixListener) -> (UnixStream, impl Iterator<Item = Value>) {
    let (mut stream, _) = socket.accept().unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    lines.next().unwrap().unwrap();
    writeln!(stream, r#"{{"error":null}}"#).unwrap();
    let said = lines.map_while(Result::ok);
    (stream, said.map(|line| serde_json::from_str(&line).unwrap()))
}

/// What the agent hears next of resources.
fn updated(agent: &Agent) -> String {
    loop {
        let message = agent.lines.recv_timeout(SOON).expect("a message");
        if message["method"] == "notifications/resources/updated" {
            return message["params"]["uri"].as_str().unwrap().to_owned();
        }
    }
}

#[test]
fn a_subscription_holds_up_nobody_and_what_it_missed_is_looked_at() {
    let file = |a: Script| {
        let b = Script::new().only("2025-06-18");
        let servers = entry("a", &a.only("2025-06-18")) + &entry("b", &b);
        format!("{servers}\n[agents.cto]\nservers = [\"a\", \"b\"]\n")
    };
    let context = Context::new().with("switchboard.toml", &file(Script::new()));
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    let mut agent = Agent::start(&context, &[]);
    agent.say(INITIALIZE);
    agent.answer(1);
    agent.say(READY);
    for (id, server) in [(2, "a"), (3, "b")] {
        let uri = format!("mcp://{server}/scripted://static/text");
        let params = json!({"uri": uri});
        let subscribe =
            json!({"jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": params});
        agent.say(&subscribe.to_string());
        assert_eq!(agent.answer(id)["result"], json!({}));
    }
    hub.stop();
    // At the next hub one of the servers never answers that.
    context
        .write("switchboard.toml", &file(Script::new().fault("silent:method=resources/subscribe")));
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    assert_eq!(updated(&agent), "mcp://b/scripted://static/text");
    agent.call(4, "a__echo", json!({"text": "x"}));
    assert_eq!(agent.answer(4)["result"]["content"][0]["text"], "x");
    // What the other one says from then on is heard.
    agent.call(5, "b__touch", json!({"uri": "scripted://static/text"}));
    assert_eq!(updated(&agent), "mcp://b/scripted://static/text");
    let _ = agent.child.kill();
    drop(hub);
}

#[test]
fn a_hub_that_stops_again_at_once_is_waited_for_again() {
    let context = declared();
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    let mut agent = Agent::start(&context, &[]);
    agent.say(INITIALIZE);
    agent.answer(1);
    hub.stop();
    let path = state(&context, "mcp.sock");
    let _ = std::fs::remove_file(&path);
    let socket = UnixListener::bind(&path).unwrap();
    let (stream, mut said) = welcomed(socket);
    assert_eq!(said.next().unwrap()["method"], "initialize");
    drop((stream, said));
    std::fs::remove_file(&path).unwrap();
    let hub = Hub::start(&context);
    connected(&context, &["a", "b"]);
    agent.call(2, "a__echo", json!({"text": "x"}));
    assert_eq!(agent.answer(2)["result"]["content"][0]["text"], "x");
    drop(agent.input.take());
    let (code, said) = agent.end();
    assert_eq!((code, said.matches("The hub is back").count()), (Some(0), 1), "{said}");
    drop(hub);
}

/// A server may be away when the hub comes back, or be busy: what was subscribed to there is asked for until it agrees.
#[test]
fn a_subscription_that_the_next_hub_refuses_is_asked_for_again() {
    let context = Context::new();
    let path = state(&context, "mcp.sock");
    let socket = UnixListener::bind(&path).unwrap();
    let mut agent = Agent::start(&context, &[]);
    let (stream, mut said) = welcomed(socket);
    let answer = |mut stream: &UnixStream, asked: &Value, what: Value| {
        let mut answer = json!({"jsonrpc": "2.0", "id": asked["id"]});
        answer.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
        writeln!(stream, "{answer}").unwrap();
    };
    let (good, bad) = (json!({"result": {}}), json!({"error": {"code": -32002, "message": "no"}}));
    let uri = "mcp://a/x";
    let params = json!({"uri": uri});
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": params});
    for (line, id) in [(INITIALIZE, 1), (&*subscribe.to_string(), 2)] {
        agent.say(line);
        answer(&stream, &said.next().unwrap(), good.clone());
        agent.answer(id);
    }
    std::fs::remove_file(&path).unwrap();
    let socket = UnixListener::bind(&path).unwrap();
    drop((stream, said));
    let (stream, mut said) = welcomed(socket);
    answer(&stream, &said.next().unwrap(), good.clone());
    let asked = said.next().unwrap();
    assert_eq!((&asked["id"], &asked["params"]), (&json!(2), &params));
    answer(&stream, &asked, bad.clone());
    assert_eq!(updated(&agent), uri);
    for what in [bad, good] {
        let asked = said.next().unwrap();
        assert_eq!((&asked["method"], &asked["params"]), (&subscribe["method"], &params));
        assert_ne!(asked["id"], 2);
        answer(&stream, &asked, what);
    }
    let told = agent.lines.recv_timeout(SOON).unwrap();
    assert_eq!(
        (&told["method"], &told["id"]),
        (&json!("notifications/resources/updated"), &Value::Null)
    );
    // Meanwhile and afterwards the agent is served.
    agent.say(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
    answer(&stream, &said.next().unwrap(), json!({"result": {}}));
    agent.answer(3);
    let _ = agent.child.kill();
}

/// A hub that is killed while it writes leaves half a line; to the agent that would be no message.
#[test]
fn half_a_line_of_a_hub_that_is_killed_is_not_passed_on() {
    let context = Context::new();
    let socket = UnixListener::bind(state(&context, "mcp.sock")).unwrap();
    let mut agent = Agent::start(&context, &["--away", "2s"]);
    let (mut stream, mut said) = welcomed(socket);
    agent.say(INITIALIZE);
    assert_eq!(said.next().unwrap()["id"], 1);
    write!(
        stream,
        "{}\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"resu",
        json!({"jsonrpc": "2.0", "method": "x"})
    )
    .unwrap();
    drop((stream, said));
    assert_eq!(agent.lines.recv_timeout(SOON).unwrap()["method"], "x");
    let failed = agent.lines.recv_timeout(SOON).unwrap();
    assert_eq!((&failed["id"], failed["error"].is_object()), (&json!(1), true), "{failed}");
    let input = agent.input.take();
    assert_eq!(agent.end().0, Some(1));
    drop(input);
}

/// Before its required servers are there, a hub has no socket: whoever came then would have one of its own.
#[test]
fn a_hub_that_is_being_started_is_joined() {
    let context = Context::new().with("switchboard.toml", "[internal]\n\n");
    let slow = Script::new().fault("slow_start:ms=2000");
    part(&context, "guardian", &slow, json!({"required": true}));
    let starting = context.start(&["up", "--listen", "127.0.0.1:0", "--json"]);
    let lock = state(&context, "hub.lock");
    wait("it has the lock", || std::fs::read_to_string(&lock).is_ok_and(|said| !said.is_empty()));
    let mut agent = Agent::start_as("local", &context, &["--away", "1s"]);
    agent.say(INITIALIZE);
    let hub = Hub::greeted(starting);
    agent.answer(1);
    drop(hub);
    wait("it misses the hub", || agent.child.try_wait().unwrap().is_some());
    assert!(agent.end().1.contains("did not come back"));
}
