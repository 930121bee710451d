//! The values of arguments in the audit log of the real hub: only where they are switched on, from then on, and
//! without what is secret in them.

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};
use crate::rest::{person, served};

const VALUES: &str = "audit_arguments = \"values\"";
const SHAPE: &str = "audit_arguments = \"shape\"";
const SENSITIVE: &str = "sensitive = true";

/// Two servers, and what the file says of the hub and of each.
fn file(hub: &str, a: &str, b: &str) -> String {
    let [one, other] = ["a", "b"].map(|name| entry(name, &Script::new()));
    format!("[hub]\n{hub}\n{one}{a}\n{other}{b}\n")
}

/// A hub, and how often its servers were called.
struct Scene {
    context: Context,
    hub: Hub,
    admin: String,
    calls: usize,
}

impl Scene {
    fn new(file: &str) -> Self {
        let context = Context::new().with("switchboard.toml", file);
        let hub = Hub::start(&context);
        connected(&context, &["a", "b"]);
        let admin = person(&context, "admin");
        Self { context, hub, admin, calls: 0 }
    }

    /// Returns when what the file says is so.
    fn apply(&self, file: &str) {
        self.context.write("switchboard.toml", file);
        self.context.ok(&["add", "extra", "--url", "http://127.0.0.1:9/mcp", "--disabled"]);
        self.context.ok(&["remove", "extra"]);
    }

    /// Calls a server, and returns the row of it.
    fn call(&mut self, server: &str) -> Value {
        let arguments = json!({"text": "harmless", "password": "hunter2", "n": [1, {"yes": true}]});
        let call = json!({"name": format!("mcp__{server}__pid"), "arguments": arguments});
        let answer = self.hub.rest("POST", "/api/v1/tools/call", &self.admin, Some(&call));
        assert_eq!(answer.status, 200, "{}", answer.body);
        self.calls += 1;
        let mut rows = Vec::new();
        wait("the call is in the log", || {
            let page = self.context.json(&["audit", "--action", "mcp_tool_call", "-n", "1000"]);
            rows = page["items"].as_array().unwrap().clone();
            rows.len() == self.calls
        });
        rows.swap_remove(0)
    }

    /// Whether the values are written down of a call; if so, they are as they should be.
    fn has_values(&mut self, server: &str) -> bool {
        let detail = &self.call(server)["detail"];
        assert_eq!(
            detail["shape"],
            json!({"text": "string", "password": "string", "n": ["number"]})
        );
        let values = &detail["arguments"];
        let expected =
            json!({"text": "harmless", "password": "[redacted]", "n": [1, {"yes": true}]});
        assert!(values.is_null() || *values == expected, "{values}");
        !values.is_null()
    }
}

#[test]
fn values_are_there_where_they_are_switched_on() {
    let mut scene = Scene::new(&file("", "", ""));
    let before = connected(&scene.context, &["a", "b"]);
    let itself = format!("{SENSITIVE}\n{VALUES}");
    for (hub, a, b, expected) in [
        ("", "", "", [false, false]),
        (VALUES, "", "", [true, true]),
        // A server's own word counts.
        (VALUES, SHAPE, "", [false, true]),
        ("", "", VALUES, [false, true]),
        // Of a sensitive one, no other does.
        (VALUES, SENSITIVE, "", [false, true]),
        (VALUES, &itself, SHAPE, [true, false]),
        (SHAPE, "", "", [false, false]),
    ] {
        scene.apply(&file(hub, a, b));
        let found = ["a", "b"].map(|server| scene.has_values(server));
        assert_eq!(found, expected, "hub: {hub}, a: {a}, b: {b}");
    }
    // Nobody has to say so: the file is watched.
    for (hub, expected) in [(VALUES, true), ("", false)] {
        scene.context.write("switchboard.toml", &file(hub, "", ""));
        wait("the file counts", || scene.has_values("a") == expected);
    }
    // It was only about the log.
    let after = connected(&scene.context, &["a", "b"]);
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(one["pid"], other["pid"]);
    }
}

#[test]
fn values_are_shown_to_people_and_only_to_those_who_see_the_row() {
    let mut scene = Scene::new(&file(VALUES, "", SHAPE));
    scene.call("b");
    // A page without values is as it always was.
    assert!(!scene.context.ok(&["audit"]).out.contains("WITH"));
    scene.call("a");
    let shown = scene.context.ok(&["audit", "--action", "mcp_tool_call"]).out;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].ends_with("WITH"), "{shown}");
    let values = r#"n=[1,{"yes":true}] password="[redacted]" text="harmless""#;
    let in_order = r#"text="harmless" password="[redacted]" n=[1,{"yes":true}]"#;
    assert!(lines[1].ends_with(values) || lines[1].ends_with(in_order), "{shown}");
    assert!(lines[2].ends_with("ms"), "{shown}");

    // A server of the store says it for itself; whose call it was not sees nothing of it.
    let (anna, bob) = (person(&scene.context, "anna"), person(&scene.context, "bob"));
    let mut own = served(&Script::new());
    own["audit_arguments"] = json!("values");
    let new =
        json!({"name": "own", "scope": "user", "owner": "anna", "entry": own, "approve": true});
    let made = scene.hub.rest("POST", "/api/v1/servers", &scene.admin, Some(&new));
    assert_eq!(made.status, 201, "{}", made.body);
    let call = json!({"name": "mcp__own__pid", "arguments": {"text": "of anna's"}});
    wait("it runs", || {
        scene.hub.rest("POST", "/api/v1/tools/call", &anna, Some(&call)).status == 200
    });
    let seen = |token: &str| {
        let page = scene.hub.rest("GET", "/api/v1/audit?action=mcp_tool_call", token, None).text;
        (page.contains("of anna's"), page.contains("harmless"))
    };
    wait("the call is in the log", || seen(&scene.admin) == (true, true));
    assert_eq!((seen(&anna), seen(&bob)), ((true, false), (false, false)));
}
