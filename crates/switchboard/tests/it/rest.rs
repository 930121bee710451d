//! The API of the real hub: one state, whichever door; nothing starts that nobody approved; what is
//! secret stays so.

use std::io::Read;

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};

use crate::context::Context;
use crate::hub::{Hub, connected, entry, sent, status, wait};

/// What the API answered.
pub(crate) struct Rest {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Value,
    /// The body as it came.
    pub(crate) text: String,
}

impl Hub {
    /// One request to the API.
    pub(crate) fn rest(&self, method: &str, path: &str, token: &str, body: Option<&Value>) -> Rest {
        self.rest_with(method, path, &format!("Authorization: Bearer {token}\r\n"), body)
    }

    /// One request to the API, with these headers.
    pub(crate) fn rest_with(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: Option<&Value>,
    ) -> Rest {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             {headers}Content-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len(),
        );
        let mut text = String::new();
        sent(&self.address, &request).read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let (head, text) = (head.to_owned(), body.to_owned());
        Rest { status, head, body: serde_json::from_str(&text).unwrap_or_default(), text }
    }
}

/// A token of a person, who is added if need be.
pub(crate) fn person(context: &Context, id: &str) -> String {
    if id != "admin" {
        context.ok(&["user", "add", id]);
    }
    let made = context.json(&["token", "create", "--user", id]);
    made["secret"].as_str().unwrap().to_owned()
}

/// An entry for the API that serves the script.
pub(crate) fn served(script: &Script) -> Value {
    let (command, arguments) = Scripted::stdio(script);
    json!({"command": command, "args": arguments})
}

#[test]
fn a_server_of_the_store_runs_once_it_is_approved_and_lasts() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let (admin, anna) = (person(&context, "admin"), person(&context, "anna"));
    let new = json!({"name": "own", "entry": served(&Script::new().tools(3))});
    let made = hub.rest("POST", "/api/v1/servers", &anna, Some(&new));
    assert_eq!((made.status, &made.body["state"]["code"]), (201, &json!("needs_approval")));
    // Its maker cannot approve it, nor start it in any other way.
    let (id, hash) = (made.body["id"].as_str().unwrap(), made.body["approval"]["hash"].clone());
    let path = |act: &str| format!("/api/v1/servers/{id}{act}");
    let approve = json!({"hash": hash});
    assert_eq!(hub.rest("POST", &path("/approve"), &anna, Some(&approve)).status, 403);
    for act in ["/reconnect", "/test", "/enable"] {
        let tried = hub.rest("POST", &path(act), &anna, None);
        assert_eq!(tried.status, 200, "{act}: {}", tried.body);
    }
    let own = |server: &Value| server["server"] == "own";
    assert_eq!(status(&context).iter().find(|s| own(s)).unwrap()["state"], "needs_approval");

    let approved = hub.rest("POST", &path("/approve"), &admin, Some(&approve));
    assert_eq!(approved.body["state"]["code"], "connected", "{}", approved.body);
    assert!(approved.body["state"]["tools"].as_u64().unwrap() > 3);
    // An edit withdraws it.
    let edited = json!({"entry": served(&Script::new().tools(4))});
    let edited = hub.rest("PUT", &path(""), &anna, Some(&edited));
    assert_eq!(edited.body["state"]["code"], "needs_approval", "{}", edited.body);
    context.ok(&["approve", id, "--yes"]);
    wait("it runs", || status(&context).iter().find(|s| own(s)).unwrap()["ok"] == true);

    // A file's server is the file's.
    let refused = hub.rest("DELETE", "/api/v1/servers/a", &admin, None);
    assert_eq!(refused.status, 409);
    assert!(refused.body["detail"].as_str().unwrap().contains("switchboard.toml"));

    hub.stop();
    let hub = Hub::start(&context);
    wait("it runs again", || {
        status(&context).iter().find(|s| own(s)).is_some_and(|server| server["ok"] == true)
    });
    // With its owner goes what is theirs.
    context.ok(&["user", "remove", "anna"]);
    assert!(!status(&context).iter().any(own));
    assert_eq!(hub.rest("GET", "/api/v1/me", &anna, None).status, 401);
}

#[test]
fn everybody_has_their_own_and_nobody_elses() {
    let context = Context::new();
    let hub = Hub::start(&context);
    let admin = person(&context, "admin");
    let (anna, bob) = (person(&context, "anna"), person(&context, "bob"));
    let mut ids = Vec::new();
    for (who, tools) in [(&anna, 1), (&bob, 2)] {
        let new = json!({"name": "same", "entry": served(&Script::new().tools(tools))});
        let made = hub.rest("POST", "/api/v1/servers", who, Some(&new));
        assert_eq!(made.status, 201, "{}", made.body);
        let id = made.body["id"].as_str().unwrap().to_owned();
        let approve = json!({"hash": made.body["approval"]["hash"]});
        let path = format!("/api/v1/servers/{id}/approve");
        assert_eq!(
            hub.rest("POST", &path, &admin, Some(&approve)).body["state"]["code"],
            "connected"
        );
        ids.push(id);
    }
    for (who, own, other) in [(&anna, 0, 1), (&bob, 1, 0)] {
        let list = hub.rest("GET", "/api/v1/servers", who, None).body;
        let seen: Vec<&str> =
            list["items"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect();
        assert_eq!(seen, [&ids[own]]);
        for (method, act) in [("GET", ""), ("DELETE", ""), ("POST", "/disable"), ("GET", "/logs")] {
            let path = format!("/api/v1/servers/{}{act}", ids[other]);
            assert_eq!(hub.rest(method, &path, who, None).status, 404, "{method} {act}");
        }
        let tools = hub.rest("GET", "/api/v1/tools?limit=1000", who, None).body;
        let names = tools["items"].as_array().unwrap().iter();
        assert_eq!(names.filter(|tool| tool["name"] == "mcp__same__echo").count(), 1, "{tools}");
    }
}

#[test]
fn acts_and_calls_are_written_down_and_the_log_is_whole() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let admin = person(&context, "admin");
    let call = json!({"name": "mcp__a__echo", "arguments": {"text": "for nobody's eyes"}});
    let answer = hub.rest("POST", "/api/v1/tools/call", &admin, Some(&call));
    assert_eq!(answer.body["content"][0]["text"], "for nobody's eyes", "{}", answer.body);
    context.ok(&["user", "add", "anna"]);
    let link = context.json(&["user", "link", "anna"]);
    let at = format!("http://{}/sign-in?link=", hub.address);
    assert!(link["url"].as_str().unwrap().starts_with(&at), "{link}");
    let mut rows = Value::Null;
    wait("the call is in the log", || {
        rows = context.json(&["audit", "--action", "mcp_tool_call"]);
        rows["items"].as_array().is_some_and(|rows| !rows.is_empty())
    });
    let row = &rows["items"][0];
    let told = ["source", "tool", "origin", "decision", "outcome", "user"].map(|name| &row[name]);
    assert_eq!(told, ["mcp:a", "echo", "rest", "allow", "done", "admin"], "{row}");
    assert!(!rows.to_string().contains("nobody's eyes"), "{rows}");
    let acts = context.json(&["audit", "--action", "user.create"]);
    assert_eq!(acts["items"][0]["detail"]["user"], "anna", "{acts}");
    assert!(context.ok(&["usage"]).out.contains("echo"));
    assert_eq!(context.json(&["audit", "verify"])["whole"], true);
    hub.stop();
    // The same without a hub.
    assert_eq!(context.json(&["audit", "verify"])["whole"], true);
    assert_eq!(context.json(&["user", "list"]).as_array().unwrap().len(), 2);
    context.ok(&["vault", "rotate"]);
    let hub = Hub::start(&context);
    assert_eq!(hub.rest("GET", "/api/v1/me", &admin, None).status, 200);
}

#[test]
fn what_went_wrong_last_is_known_of_a_server() {
    let script = Script::new().fault(r#"error:tool=add,code=-32000,message="no such bucket""#);
    let context = Context::new().with("switchboard.toml", &entry("a", &script));
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let admin = person(&context, "admin");
    for (tool, error) in [
        ("echo", None),
        ("fail", Some("the tool reported an error")),
        ("add", Some("no such bucket (-32000)")),
    ] {
        let call = json!({"name": format!("mcp__a__{tool}"), "arguments": {"text": "x"}});
        hub.rest("POST", "/api/v1/tools/call", &admin, Some(&call));
        let mut stats = Value::Null;
        wait("the call is counted", || {
            stats = hub.rest("GET", "/api/v1/servers/a", &admin, None).body["stats"].clone();
            stats["last_error"] == json!(error) && stats["use_count"].as_u64() > Some(0)
        });
    }
    context.ok(&["disable", "a"]);
    let tested = hub.rest("POST", "/api/v1/servers/a/test", &admin, None).body;
    assert_eq!(tested["server"]["stats"]["last_error"], "no such bucket (-32000)", "{tested}");
}

#[test]
fn what_is_only_recalled_is_marked() {
    let context = Context::new();
    let broken = context.work().join("broken");
    let script = Script::new().while_file(&broken).fault("crash_start");
    context.write("switchboard.toml", &entry("a", &script));
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    hub.stop();
    std::fs::write(&broken, "").unwrap();
    let hub = Hub::start(&context);
    let admin = person(&context, "admin");
    let stale = |context: &Context, hub: &Hub| {
        let tools = hub.rest("GET", "/api/v1/tools?server=a", &admin, None).body;
        let server = hub.rest("GET", "/api/v1/servers/a", &admin, None).body;
        let at = &status(context)[0];
        [tools["items"][0]["stale"].clone(), server["state"]["stale"].clone(), at["stale"].clone()]
    };
    assert_eq!(stale(&context, &hub), [true, true, true]);
    let listed = context.run(&["tools", "a"]);
    assert!(listed.out.contains("echo") && listed.out.contains("stale"), "{listed:?}");
    std::fs::remove_file(&broken).unwrap();
    connected(&context, &["a"]);
    assert_eq!(stale(&context, &hub), [false, false, false]);
}

#[test]
fn how_much_of_the_log_is_kept_is_a_setting() {
    let context = Context::new();
    let kept = |args: &[&str]| {
        let said = context.json(&[&["audit", "retention"], args].concat());
        (said["days"].clone(), said["rows"].clone())
    };
    // On the store alone, then through the hub.
    assert_eq!(kept(&[]), (json!(365), json!(10_000_000)));
    assert_eq!(kept(&["--days", "30"]), (json!(30), json!(10_000_000)));
    let hub = Hub::start(&context);
    assert_eq!(kept(&["--rows", "all"]), (json!(30), Value::Null));
    let size = context.json(&["audit", "retention", "--megabytes", "500"]);
    assert_eq!((&size["days"], &size["megabytes"]), (&json!(30), &json!(500)), "{size}");
    let told = context.ok(&["audit", "retention"]).out;
    assert_eq!(told, "Rows are kept for 30 days, and no more than what fits into 500 megabytes.\n");
    context.ok(&["audit", "retention", "--megabytes", "all"]);
    let ran = context.run(&["audit", "retention", "--days", "0"]);
    assert!(ran.code != 0 && ran.err.contains("a number above 0, or `all`"), "{ran:?}");
    hub.stop();
    assert_eq!(context.ok(&["audit", "retention"]).out, "Rows are kept for 30 days.\n");
    let acts = context.json(&["audit", "--action", "audit.retention"]);
    let origins: Vec<&Value> =
        acts["items"].as_array().unwrap().iter().map(|act| &act["origin"]).collect();
    assert_eq!(origins, ["cli"; 4], "{acts}");
}

#[test]
fn what_is_known_is_kept_for_the_next_start() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let hub = Hub::start(&context);
    let file = context.home().join(".local/state/switchboard/last-known-mcps.json");
    let known = || -> Value { serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap() };
    assert_eq!(known()["mcps"], json!([{"name": "a", "type": "external"}]));
    context.ok(&["disable", "a"]);
    assert_eq!(known()["mcps"], json!([]));
    assert_eq!(status(&context)[0]["state"], "disabled");
    context.ok(&["enable", "a"]);
    assert_eq!(known()["mcps"], json!([{"name": "a", "type": "external"}]));
    assert_eq!(status(&context)[0]["state"], "connected", "applied before the answer");
    // After every change, of whatever.
    let before = known()["timestamp"].clone();
    let text = format!("{}description = \"another\"\n", entry("a", &Script::new()));
    context.write("switchboard.toml", &text);
    wait("it is kept again", || known()["timestamp"] != before);
    // What could not be written is, as soon as it can be.
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    context.ok(&["disable", "a"]);
    std::fs::remove_dir(&file).unwrap();
    wait("it is written after all", || file.exists());
    assert_eq!(known()["mcps"], json!([]));
    drop(hub);
}
