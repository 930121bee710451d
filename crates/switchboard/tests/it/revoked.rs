//! What was opened by a token ends with it, in the real program, whatever way it is taken away: its
//! sessions, its streams, its calls under way and those that wait for inputs.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_model::{Clock, SystemClock};
use switchboard_testkit::script::{Script, Scripted, Speaks};
use switchboard_wire::Era;

use crate::agents::token;
use crate::client::{Client, Stream};
use crate::context::Context;
use crate::hub::{Hub, connected, wait};
use crate::rest::person;

/// A machine with a server that writes down what it is told, and an agent of a file.
fn machine() -> (Context, Scripted, PathBuf) {
    let context = Context::new();
    let record = context.work().join("record");
    // It asks by requests of its own, so that a stateless client's call has to wait; over HTTP, where it
    // says for which call.
    let server = Scripted::http(&Script::new().speaks(Speaks::Era(Era::Session)).record(&record));
    let text = format!(
        "[servers.a]\nurl = {:?}\ncall_timeout = \"10m\"\n\n[agents.cto]\nservers = [\"a\"]\n",
        server.url()
    );
    (context.with("switchboard.toml", &text), server, record)
}

/// Soon, and not only when the endpoint looks by itself, twice a minute.
const PROMPT: Duration = Duration::from_secs(8);

/// What was opened by one token.
struct Opened {
    token: String,
    session: Client,
    streams: [(&'static str, Stream); 4],
    waiting: Value,
}

impl Opened {
    fn by(hub: &Hub, token: &str) -> Self {
        let uri = "mcp://a/none";
        let modern = Client::stateless(hub, "/mcp", token).able(json!({"elicitation": {}}));
        wait("it is known", || modern.status("tools/list", json!({})) == 200);
        let session = Client::session(hub, "/mcp", token);
        let asked = json!({"name": "a__elicit", "arguments": {"text": "who"}});
        let waiting = modern.ask("tools/call", asked)["result"].clone();
        assert_eq!(waiting["resultType"], "input_required", "{waiting}");
        let slow = json!({"name": "a__sleep", "arguments": {"ms": 600_000}, "_meta": {"progressToken": 1}});
        let streams = [
            ("the session's", session.general()),
            ("of changes", modern.listen(uri)),
            ("of a session's call", session.begin("tools/call", slow.clone())),
            ("of a call", modern.begin("tools/call", slow)),
        ];
        streams[1].1.until("notifications/subscriptions/acknowledged");
        Self { token: token.to_owned(), session, streams, waiting }
    }
}

/// Takes a token away while everything is open that it can open.
fn check(way: &str, made: impl Fn(&Context, &Hub) -> String, end: impl Fn(&Context, &Hub)) {
    let (context, _server, record) = machine();
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let (kept, _) = token(&context, "cto");
    let kept = Opened::by(&hub, &kept);
    let gone = Opened::by(&hub, &made(&context, &hub));
    wait("all calls have begun", || told(&record, "tools/call") == 6);
    for opened in [&kept, &gone] {
        assert_eq!(opened.session.status("ping", json!({})), 200, "{way}");
    }
    assert_eq!(told(&record, "notifications/cancelled"), 0, "{way}");
    end(&context, &hub);
    for (what, stream) in &gone.streams {
        stream.ended_within(PROMPT, &format!("{way}: {what}"));
    }
    // Also the one that waits, behind no stream at all.
    wait("the server hears of all three", || told(&record, "notifications/cancelled") == 3);
    let asks = |token: &str| hub.ask("/mcp", Some(token), "tools/list", json!({})).status;
    assert_eq!(asks(&gone.token), 401, "{way}");
    assert_eq!(gone.session.status("ping", json!({})), 401, "{way}");
    assert_eq!(asks(&kept.token), 200, "{way}");
    assert_eq!(kept.session.status("ping", json!({})), 200, "{way}");
    for (_, stream) in &kept.streams {
        stream.still_open();
    }
    assert_eq!(told(&record, "notifications/cancelled"), 3, "{way}: and of no other");
    let key = kept.waiting["inputRequests"].as_object().unwrap().keys().next().unwrap();
    let answer = json!({"action": "accept", "content": {"name": "Alice"}});
    let again = json!({
        "name": "a__elicit",
        "arguments": {"text": "who"},
        "requestState": kept.waiting["requestState"],
        "inputResponses": {key: answer},
    });
    let modern = Client::stateless(&hub, "/mcp", &kept.token).able(json!({"elicitation": {}}));
    let said = modern.ask("tools/call", again);
    assert_eq!(said["result"]["resultType"], "complete", "{way}: {said}");
}

/// How often the server was told that.
fn told(record: &Path, method: &str) -> usize {
    let text = std::fs::read_to_string(record).unwrap_or_default();
    text.matches(&format!("\"method\":\"{method}\"")).count()
}

/// A new agent of the store, with a token.
fn reader(context: &Context, _: &Hub) -> String {
    context.ok(&["agent", "add", "reader", "--server", "a"]);
    token(context, "reader").0
}

#[test]
fn a_token_that_is_revoked() {
    check("revoked", reader, |context, _| {
        let tokens = context.json(&["token", "list"]);
        let mut tokens = tokens.as_array().unwrap().iter();
        let theirs = tokens.find(|token| token["of"].as_str().unwrap().contains("reader"));
        context.ok(&["token", "revoke", theirs.unwrap()["id"].as_str().unwrap()]);
    });
}

#[test]
fn a_token_whose_agent_is_removed() {
    check("removed", reader, |context, _| drop(context.ok(&["agent", "remove", "reader"])));
}

#[test]
fn a_token_whose_agent_is_disabled() {
    check("disabled", reader, |context, hub| {
        let disabled = json!({"enabled": false, "servers": ["a"]});
        let admin = person(context, "admin");
        let done = hub.rest("PUT", "/api/v1/agents/reader", &admin, Some(&disabled));
        assert_eq!(done.status, 200, "{}", done.body);
    });
}

/// An agent that the file declares, beside `cto`.
fn of_the_file(context: &Context, _: &Hub) -> String {
    let text = context.read("switchboard.toml") + "\n[agents.dev]\nservers = [\"a\"]\n";
    context.write("switchboard.toml", &text);
    wait("it is declared", || context.ok(&["agent", "list"]).out.contains("dev"));
    token(context, "dev").0
}

#[test]
fn a_token_whose_agent_the_file_disables() {
    check("disabled in the file", of_the_file, |context, _| {
        let text = context.read("switchboard.toml");
        let text = text.replace("[agents.dev]\n", "[agents.dev]\nenabled = false\n");
        context.write("switchboard.toml", &text);
    });
}

#[test]
fn a_token_whose_agent_the_file_drops() {
    check("dropped from the file", of_the_file, |context, _| {
        let text = context.read("switchboard.toml");
        let (text, _) = text.split_once("\n[agents.dev]").unwrap();
        context.write("switchboard.toml", text);
    });
}

#[test]
fn a_token_whose_owner_is_removed() {
    let made = |context: &Context, hub: &Hub| {
        let anna = person(context, "anna");
        let agent = json!({"id": "hers", "servers": ["a"]});
        let made = hub.rest("POST", "/api/v1/agents", &anna, Some(&agent));
        assert_eq!(made.status, 201, "{}", made.body);
        token(context, "hers").0
    };
    check("owner removed", made, |context, _| drop(context.ok(&["user", "remove", "anna"])));
}

#[test]
fn a_token_of_a_user_who_is_removed() {
    let made = |context: &Context, _: &Hub| person(context, "anna");
    check("user removed", made, |context, _| drop(context.ok(&["user", "remove", "anna"])));
}

/// Long enough for everything to be opened on a busy machine.
const LASTS: Duration = Duration::from_secs(20);

#[test]
fn a_token_that_expires() {
    let began = Cell::new(SystemClock.monotonic());
    let made = |context: &Context, _: &Hub| {
        context.ok(&["agent", "add", "reader", "--server", "a"]);
        began.set(SystemClock.monotonic());
        let lasts = format!("{}s", LASTS.as_secs());
        let made = context.json(&["token", "create", "--agent", "reader", "--expires", &lasts]);
        made["token"].as_str().unwrap().to_owned()
    };
    check("expired", made, |_, _| {
        std::thread::sleep(LASTS.saturating_sub(began.get().elapsed()));
    });
}

/// The session itself is over, also for another token of the same agent.
#[test]
fn the_session_of_a_token_is_nobodys_afterwards() {
    let (context, _server, _) = machine();
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let ((gone, id), (other, _)) = (token(&context, "cto"), token(&context, "cto"));
    wait("it is known", || hub.ask("/mcp", Some(&other), "tools/list", json!({})).status == 200);
    let session = Client::session(&hub, "/mcp", &gone);
    assert_eq!(session.by(&other).status("ping", json!({})), 200, "the agent is the same");
    context.ok(&["token", "revoke", &id]);
    wait("the session ends", || session.by(&other).status("ping", json!({})) == 404);
}
