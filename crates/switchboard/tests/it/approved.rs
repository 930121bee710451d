//! In the real hub: what an administrator approved runs, and no member makes anything else of it, by any route.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use switchboard_rest::ROUTES;
use switchboard_testkit::script::{Script, Scripted};

use crate::context::Context;
use crate::hub::Hub;
use crate::rest::person;

/// A machine with a program `helper` beside those that everybody has; it leaves a mark.
struct Machine {
    context: Context,
    hub: Hub,
    admin: String,
    anna: String,
    annas: String,
}

impl Machine {
    fn new() -> Self {
        let context = Context::new();
        let helper = context.work().join("evil/helper");
        let mark = context.work().join("mark");
        context.write_at(&helper, &format!("#!/bin/sh\n/usr/bin/touch {}\n", mark.display()));
        std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o755)).unwrap();
        let hub = Hub::start(&context);
        let (admin, anna) = (person(&context, "admin"), person(&context, "anna"));
        let made = hub.rest("POST", "/api/v1/agents", &anna, Some(&json!({"id": "annas"})));
        assert_eq!(made.status, 201, "{}", made.body);
        let new = json!({"name": "test"});
        let made = hub.rest("POST", "/api/v1/agents/annas/tokens", &anna, Some(&new));
        let annas = made.body["secret"].as_str().unwrap().to_owned();
        Self { context, hub, admin, anna, annas }
    }

    /// Where `helper` is found first.
    fn elsewhere(&self) -> String {
        format!("{}:/usr/bin:/bin", self.context.work().join("evil").display())
    }

    /// Anna's server of this entry, approved and running; its path.
    fn approved(&self, entry: &Value) -> String {
        let new = json!({"name": "cmd", "entry": entry});
        let made = self.hub.rest("POST", "/api/v1/servers", &self.anna, Some(&new));
        assert_eq!(made.body["state"]["code"], "needs_approval", "{}", made.body);
        let path = format!("/api/v1/servers/{}", made.body["id"].as_str().unwrap());
        self.restore(&path, entry);
        path
    }

    /// As it was approved, whatever Anna made of it.
    fn restore(&self, path: &str, entry: &Value) {
        let now = self.hub.rest("GET", path, &self.admin, None).body;
        if now["state"]["code"] != "connected" {
            let agreed = json!({"entry": entry, "approve": true});
            self.hub.rest("PUT", path, &self.admin, Some(&agreed));
            let now = self.hub.rest("POST", &format!("{path}/enable"), &self.admin, None).body;
            assert_eq!(now["state"]["code"], "connected", "{now}");
        }
    }

    fn nothing_else_ran(&self, why: &str) {
        assert!(!self.context.work().join("mark").exists(), "{why}: other code ran");
    }
}

/// Serves, after a program that is looked for.
fn entry() -> Value {
    let (program, arguments) = Scripted::stdio(&Script::new());
    let mut args = vec![json!("-c"), json!("helper; exec \"$@\""), json!("sh"), json!(program)];
    args.extend(arguments.into_iter().map(Value::from));
    json!({"command": "/bin/sh", "args": args})
}

/// The entry with something added to it.
fn with(entry: &Value, part: &str, value: Value) -> Value {
    let mut entry = entry.clone();
    entry[part] = value;
    entry
}

#[test]
fn a_member_changes_nothing_of_what_runs() {
    let machine = Machine::new();
    let (entry, elsewhere) = (entry(), machine.elsewhere());
    let path = machine.approved(&entry);
    let key = |name: &str| json!({"type": "api_key", "variable": name, "key": elsewhere});
    let kept = |name: &str| json!({"type": "api_key", "variable": name});
    for (what, edit, status) in [
        ("its key in a variable", with(&entry, "auth", key("KEY")), 200),
        ("its key where programs are found", with(&entry, "auth", key("PATH")), 422),
        ("the store's key there", with(&entry, "auth", kept("PATH")), 422),
        ("where programs are found", with(&entry, "env", json!({"PATH": elsewhere})), 200),
        ("a variable more", with(&entry, "env", json!({"A": "b"})), 200),
        ("another directory", with(&entry, "cwd", json!("/tmp")), 200),
    ] {
        let edited = machine.hub.rest("PUT", &path, &machine.anna, Some(&json!({"entry": edit})));
        assert_eq!(edited.status, status, "{what}: {}", edited.body);
        for act in ["enable", "reconnect", "test"] {
            machine.hub.rest("POST", &format!("{path}/{act}"), &machine.anna, None);
        }
        let now = machine.hub.rest("GET", &path, &machine.anna, None).body;
        let state = if status == 200 { "needs_approval" } else { "connected" };
        assert_eq!(now["state"]["code"], state, "{what}: {now}");
        machine.nothing_else_ran(what);
        if what == "where programs are found" {
            // Whoever is to approve it sees it; there is nobody to ask here.
            let id = now["id"].as_str().unwrap();
            let shown = machine.context.run(&["approve", id]);
            assert!(shown.err.contains(&format!("PATH = {elsewhere}")), "{shown:?}");
        }
        machine.restore(&path, &entry);
    }
    // That it would have run is no wonder: an administrator may.
    let agreed = json!({"entry": with(&entry, "env", json!({"PATH": elsewhere})), "approve": true});
    let now = machine.hub.rest("PUT", &path, &machine.admin, Some(&agreed)).body;
    assert_eq!(now["state"]["code"], "connected", "{now}");
    assert!(machine.context.work().join("mark").exists());
}

#[test]
fn no_route_starts_what_was_not_approved() {
    let machine = Machine::new();
    let (entry, elsewhere) = (entry(), machine.elsewhere());
    let path = machine.approved(&entry);
    let id = path.rsplit('/').next().unwrap();
    let (command, args) = (&entry["command"], &entry["args"]);
    let (env, auth) = (
        json!({"PATH": elsewhere}),
        json!({"type": "api_key", "variable": "PATH", "key": elsewhere}),
    );
    let steered = with(&entry, "env", env.clone());
    let text = json!({"mcpServers": {"pasted": steered}}).to_string();
    let bodies = [
        json!({"entry": steered}),
        json!({"entry": with(&entry, "auth", auth)}),
        json!({"entry": steered, "approve": true}),
        json!({"name": "another", "entry": steered}),
        json!({"config": text}),
        json!({"kind": "api_key", "value": elsewhere}),
        json!({"name": "cmd", "transport": "stdio", "command": command, "args": args, "env": env}),
        json!({"name": "third", "serverType": "custom", "transportType": "stdio",
            "command": command, "commandArgs": args, "commandEnv": env}),
        json!({"commandEnv": env, "isEnabled": true}),
        json!({"server_name": "cmd"}),
        json!({"name": "mcp__cmd__echo", "arguments": {"text": "x"}}),
        json!({}),
    ];
    for route in ROUTES.iter().filter(|route| ["POST", "PUT"].contains(&route.method)) {
        let at = route.path.replace("{id}", id);
        for body in &bodies {
            for token in [&machine.anna, &machine.annas] {
                machine.hub.rest(route.method, &at, token, Some(body));
            }
            machine.nothing_else_ran(&format!("{} {at} {body}", route.method));
        }
        let hash =
            machine.hub.rest("GET", &path, &machine.anna, None).body["approval"]["hash"].clone();
        machine.hub.rest(route.method, &at, &machine.anna, Some(&json!({"hash": hash})));
        machine.nothing_else_ran(&format!("{} {at}", route.method));
        machine.restore(&path, &entry);
    }
}
