//! A hub that is told to stop while calls are under way, as the real program: they are let finish, whoever asks.

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::agents::INITIALIZE;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, entry, status, wait};
use crate::rejoin::Agent;

const SLOW: &str = "delay:ms=1500,method=tools/call";

#[test]
fn calls_under_way_are_answered() {
    let slow = entry("slow", &Script::new().fault(SLOW));
    let agent = "[agents.cto]\nservers = [\"slow\"]\n";
    let context = Context::new().with("switchboard.toml", &format!("{slow}\n{agent}"));
    let made = context.json(&["token", "create", "--agent", "cto"]);
    let token = made["token"].as_str().unwrap();
    let hub = Hub::start(&context);
    connected(&context, &["slow"]);
    let mut pipe = Agent::start(&context, &[]);
    pipe.say(INITIALIZE);
    pipe.answer(1);
    let params = || json!({"name": "slow__echo", "arguments": {"text": "late"}});
    let begin = |client: Client| client.begin("tools/call", params());
    let session = begin(Client::session(&hub, "/mcp", token));
    let stateless = begin(Client::stateless(&hub, "/mcp", token));
    pipe.call(7, "slow__echo", json!({"text": "late"}));
    wait("all are under way", || status(&context)[0]["in_flight"] == 3);
    hub.stop();
    let is_late =
        |answer: &Value| assert_eq!(answer["result"]["content"][0]["text"], "late", "{answer}");
    is_late(&session.next());
    is_late(&stateless.next());
    is_late(&pipe.answer(7));
}
