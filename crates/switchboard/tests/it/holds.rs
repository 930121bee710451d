//! How long lists hold, as clients of the stateless era are told: never longer than their server says, nor
//! than until the hub looks again.

use serde_json::json;
use switchboard_testkit::script::{Rule, Script, Scripted};

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, wait};

/// An agent's client, of a hub whose only server is this one.
struct Asker {
    context: Context,
    token: String,
}

impl Asker {
    fn new(server: &Scripted) -> Self {
        let url = server.url();
        let text = format!("[servers.a]\nurl = {url:?}\n\n[agents.cto]\nservers = [\"a\"]\n");
        let context = Context::new().with("switchboard.toml", &text);
        let (token, _) = token(&context, "cto");
        Self { context, token }
    }

    fn client(&self, hub: &Hub) -> Client {
        Client::stateless(hub, "/mcp", &self.token)
    }
}

/// Waits until every list says so.
fn say(client: &Client, expected: u64) {
    for list in ["tools/list", "resources/list", "prompts/list", "server/discover"] {
        wait(&format!("{list} says {expected}"), || {
            client.ask(list, json!({}))["result"]["ttlMs"] == expected
        });
    }
}

/// What the lists of an agent say, whose server is this one.
fn check(script: &Script, expected: u64) {
    let server = Scripted::http(script);
    let asker = Asker::new(&server);
    let hub = Hub::start(&asker.context);
    connected(&asker.context, &["a"]);
    say(&asker.client(&hub), expected);
}

#[test]
fn of_a_server_that_tells_of_changes() {
    for (says, expected) in [(0, 0), (20_000, 20_000), (100_000, 60_000)] {
        check(&Script::new().only("2026-07-28").holds(says), expected);
    }
    // It has no way to say anything of it.
    check(&Script::new().only("2025-06-18"), 60_000);
}

/// It is looked at when what it said itself has passed, though not all the time; that it says less is
/// passed on.
#[test]
fn of_a_server_that_cannot_be_listened_to() {
    for (says, expected) in [(1_000, 1_000), (7_000, 7_000), (600_000, 60_000)] {
        let refuses = Rule::parse("status:status=404,method=subscriptions/listen").unwrap();
        check(&Script::new().only("2026-07-28").holds(says).fault(refuses), expected);
    }
}

/// What is only remembered of a server may not be so any more, whatever it said.
#[test]
fn of_a_server_that_is_not_back_after_a_restart() {
    let mut server = Scripted::http(&Script::new().only("2026-07-28").holds(20_000));
    let asker = Asker::new(&server);
    let hub = Hub::start(&asker.context);
    connected(&asker.context, &["a"]);
    say(&asker.client(&hub), 20_000);
    hub.stop();
    server.kill();
    let hub = Hub::start(&asker.context);
    let client = asker.client(&hub);
    assert!(client.tools().contains(&"a__echo".to_owned()), "it is remembered");
    say(&client, 0);
    server.restart_same();
    say(&client, 20_000);
}
