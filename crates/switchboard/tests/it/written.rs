//! What is written down of changes that come from files and commands, and what a command does before it answers.

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::context::Context;
use crate::hub::{Hub, connected, declared, entry, wait};

/// The acts of this name, oldest first.
fn acts(context: &Context, action: &str) -> Vec<Value> {
    let rows = context.json(&["audit", "--action", action, "--limit", "1000"]);
    let mut rows = rows["items"].as_array().unwrap().clone();
    rows.sort_by_key(|row| row["seq"].as_i64());
    rows
}

#[test]
fn what_files_change_is_written_down_by_name() {
    const SECRET: &str = "a value that nobody reads";
    let first = entry("a", &Script::new());
    let context = Context::new().with("switchboard.toml", &first);
    let file = context.work().join("switchboard.toml");
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    assert!(acts(&context, "config.change").is_empty(), "the first start changes nothing");

    // By an editor.
    let with = |value: &str| {
        format!(
            "{first}env = {{ KEY = {value:?} }}\n[servers.b]\nurl = \"http://127.0.0.1:9/\"\nenabled = false\n"
        )
    };
    context.write("switchboard.toml", &with(SECRET));
    wait("it is written down", || acts(&context, "config.change").len() == 1);
    let told = acts(&context, "config.change").remove(0);
    let detail = json!({"found": "running", "files": [file], "added": ["server b"], "removed": [],
        "changed": ["server a"]});
    assert_eq!((&told["detail"], &told["user"]), (&detail, &Value::Null), "{told}");
    assert!(context.ok(&["audit"]).out.contains("+ server b, ~ server a"));
    // Another value is a change too, even where both are masked.
    context.write("switchboard.toml", &with("another value that nobody reads"));
    wait("it is written down", || acts(&context, "config.change").len() == 2);
    assert_eq!(acts(&context, "config.change")[1]["detail"]["changed"], json!(["server a"]));

    // By commands, of which it is known who ran them.
    context.ok(&["disable", "a"]);
    context.ok(&["remove", "b"]);
    let edits = acts(&context, "config.edit");
    for (act, command, server) in [(0, "disable", "a"), (1, "remove", "b")] {
        let told = &edits[act];
        let detail = json!({"command": command, "files": [file]});
        assert_eq!(told["detail"], detail, "{told}");
        assert_eq!([&told["user"], &told["origin"]], ["admin", "cli"], "{told}");
        assert!(told["server"].as_str().unwrap().contains(server), "{told}");
    }
    let changes = acts(&context, "config.change");
    assert_eq!(changes.len(), 4, "{changes:#?}");
    assert_eq!(changes[3]["detail"]["removed"], json!(["server b"]));

    // While nothing ran, and then not again.
    hub.stop();
    context.write("switchboard.toml", &format!("{}[agents.cto]\n", with(SECRET)));
    for _ in 0..2 {
        let hub = Hub::start(&context);
        declared(&context, 2, 0);
        let changes = acts(&context, "config.change");
        assert_eq!(changes.len(), 5, "{changes:#?}");
        let detail = &changes[4]["detail"];
        assert_eq!(detail["added"], json!(["agent cto", "server b"]), "{detail}");
        assert_eq!(detail["found"], "start");
        hub.stop();
    }
    assert!(!context.ok(&["audit", "--json", "--limit", "1000"]).out.contains("nobody reads"));
}

#[test]
fn an_agent_counts_when_the_command_answers() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let _hub = Hub::start(&context);
    connected(&context, &["a"]);
    let users = || context.json(&["list"])[0]["agents"].clone();
    let has = |id: &str| users().as_array().unwrap().iter().any(|agent| agent == id);
    for nr in 0..5 {
        let id = format!("agent-{nr}");
        context.ok(&["agent", "add", &id, "--server", "a"]);
        assert!(has(&id), "{}", users());
        context.ok(&["agent", "remove", &id]);
        assert!(!has(&id), "{}", users());
    }
}

#[test]
fn without_a_hub_the_status_is_what_is_declared() {
    let text = "[servers.filed]\ncommand = \"true\"\n[servers.off]\nurl = \"http://127.0.0.1:9/\"\nenabled = false\n";
    let context = Context::new().with("switchboard.toml", text);
    assert_eq!(context.run(&["status"]).code, 1);
    context.ok(&["add", "--user", "admin", "kept", "--url", "http://127.0.0.1:9/"]);
    context.write("switchboard.json", "{");
    let told = context.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((told.code, &status["running"]), (1, &json!(false)), "{told:?}");
    let states = |status: &Value| -> Vec<(String, String)> {
        let servers = status["servers"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        servers.map(|server| (text(&server["server"]), text(&server["state"]))).collect()
    };
    let one = |name: &str, state: &str| (name.to_owned(), state.to_owned());
    let files = [one("filed", "not_running"), one("off", "disabled")];
    let both = [files[0].clone(), one("kept", "not_running"), files[1].clone()];
    assert_eq!(states(&status), both, "{status}");
    assert_eq!(status["problems"].as_array().unwrap().len(), 1, "{status}");
    let told = context.run(&["status"]);
    for words in ["filed", "kept", "No hub runs.", "switchboard up"] {
        assert!(told.out.contains(words), "{words}: {told:?}");
    }
    assert!(told.err.contains("switchboard.json"), "{told:?}");

    // Of a store that cannot be read, that much is said, and the files are shown.
    let key = context.home().join(".local/share/switchboard/master.key");
    std::fs::write(&key, "not a key").unwrap();
    let told = context.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((told.code, states(&status)), (1, files.to_vec()), "{told:?}");
    assert!(status["store_unread"].is_string(), "{status}");
    assert!(context.run(&["status"]).err.contains("the store cannot be read"));
}
