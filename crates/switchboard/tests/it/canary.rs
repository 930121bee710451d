//! A canary for every kind of secret that the hub is given; afterwards it is found nowhere: not in the
//! database, its log, the state directory, what the hub wrote, nor in any answer.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};

use crate::context::Context;
use crate::hub::{Hub, wait};
use crate::rest::person;
use crate::sqlite;

/// Every kind of secret, each with its own bird.
const BIRDS: [&str; 7] = [
    "canary-in-the-environment-7f3a",
    "canary-in-the-env-of-a-file-91bc",
    "canary-in-an-env-value-22de",
    "canary-in-a-header-5e0f",
    "canary-as-an-api-key-c4d1",
    "canary-as-a-credential-8a76",
    "canary-as-a-password-0b3e",
];

/// Every file below a directory that holds a bird.
fn found(directory: &Path, said: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found(&path, said);
        } else if let Ok(bytes) = std::fs::read(&path) {
            said.extend(heard(&path.display().to_string(), &bytes));
        }
    }
}

fn heard(place: &str, bytes: &[u8]) -> Vec<String> {
    let sings = |bird: &&&str| bytes.windows(bird.len()).any(|window| window == bird.as_bytes());
    BIRDS.iter().filter(sings).map(|bird| format!("{bird} in {place}")).collect()
}

/// A hub that knows one secret of each kind from its file and its environment.
fn scene() -> (Context, Value) {
    let (command, arguments) = Scripted::stdio(&Script::new());
    let command = command.to_str().unwrap();
    let text = format!(
        "[servers.filed]\ncommand = {command:?}\nargs = {arguments:?}\n\
         env = {{ API_TOKEN = \"${{CANARY}}\", OTHER_TOKEN = {:?} }}\n\
         [servers.away]\nurl = \"http://127.0.0.1:9/mcp\"\nheaders = {{ authorization = \"Bearer ${{CANARY}}\" }}\n",
        BIRDS[1]
    );
    let context = Context::new()
        .with("switchboard.toml", &text)
        .variable("CANARY", BIRDS[0])
        .variable("SWITCHBOARD_LOG", "debug,sqlx=debug,hyper=debug");
    (context, json!({"command": command, "args": arguments, "env": {"KEY": BIRDS[2]}}))
}

/// Gives the hub the others, looks at everything there is to see, and returns what it said.
fn sung(hub: &Hub, admin: &str, kept: Value) -> String {
    let mut answers = String::new();
    let mut ask = |method: &str, path: &str, body: Option<Value>| {
        let answer = hub.rest(method, path, admin, body.as_ref());
        assert!(answer.status < 400, "{method} {path}: {}", answer.body);
        answers.push_str(&answer.head);
        answers.push_str(&answer.body.to_string());
    };
    let far = json!({"url": "http://127.0.0.1:9/mcp", "headers": {"x-key": BIRDS[3]}});
    let lent = json!({"url": "http://127.0.0.1:9/mcp", "auth": "bearer"});
    for (name, entry) in [("kept", kept), ("far", far), ("lent", lent)] {
        let new = json!({"name": name, "scope": "global", "entry": entry, "approve": true});
        ask("POST", "/api/v1/servers", Some(new));
    }
    let known = json!({"catalog": "linear", "scope": "global", "apiKey": BIRDS[4]});
    ask("POST", "/api/v1/servers", Some(known));
    let credential = json!({"kind": "bearer", "value": BIRDS[5]});
    ask("PUT", "/api/v1/servers/global:lent/credential", Some(credential));
    ask("POST", "/api/v1/users", Some(json!({"id": "anna", "password": BIRDS[6]})));
    for name in ["filed", "away", "kept", "far", "lent", "linear"] {
        for (method, act) in [("GET", ""), ("POST", "/test"), ("GET", "/logs")] {
            ask(method, &format!("/api/v1/servers/global:{name}{act}"), None);
        }
    }
    let call = json!({"name": "mcp__kept__echo", "arguments": {"text": "x"}});
    ask("POST", "/api/v1/tools/call", Some(call));
    for path in ["servers", "tools", "audit", "usage/totals", "agents", "tokens", "users"] {
        ask("GET", &format!("/api/v1/{path}"), None);
    }
    ask("GET", "/metrics", None);
    answers
}

#[test]
fn no_secret_is_found_anywhere() {
    let (context, kept) = scene();
    let hub = Hub::start_logging(&context, &context.home().join("hub.log"));
    let admin = person(&context, "admin");
    let mut answers = sung(&hub, &admin, kept);
    for args in [&["status"][..], &["list"], &["logs"], &["audit"], &["check"]] {
        let ran = context.run(args);
        answers.push_str(&ran.out);
        answers.push_str(&ran.err);
    }
    wait("the call is in the log", || {
        let rows = context.json(&["audit", "--action", "mcp_tool_call"]);
        rows["items"].as_array().is_some_and(|rows| !rows.is_empty())
    });
    let mut said = heard("an answer", answers.as_bytes());
    // While it runs, with the write-ahead log beside the database and a backup that somebody made.
    let database = context.home().join(".local/share/switchboard/switchboard.db");
    let backup = context.home().join("backup.db");
    sqlite::back_up(&database, &backup);
    assert!(sqlite::is_sound(&backup));
    assert!(std::fs::read(&backup).unwrap().windows(6).any(|text| text == b"linear"));
    found(&context.home(), &mut said);
    hub.stop();
    found(&context.home(), &mut said);
    assert!(said.is_empty(), "{said:#?}");

    // An edit of the file, which may hold what its owner wrote, leaves no copy of it.
    context.ok(&["add", "extra", "true"]);
    context.ok(&["remove", "extra"]);
    found(&context.work(), &mut said);
    let file = context.work().join("switchboard.toml");
    assert_eq!(said, [format!("{} in {}", BIRDS[1], file.display())]);
}
