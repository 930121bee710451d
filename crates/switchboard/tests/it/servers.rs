//! `test`, `tools`, `call`, `logs`, `status`, `reconnect`: through the hub, and without one.

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::context::Context;
use crate::hub::{Hub, connected, entry, status, wait};

fn declared() -> Context {
    let text = format!(
        "{}{}\n[servers.gone]\ncommand = \"no-such-command\"\n\n[servers.off]\ncommand = \"x\"\nenabled = false\n\n\
         [servers.token]\nurl = \"http://127.0.0.1:9/mcp\"\nheaders = {{ Authorization = \"Bearer ${{NOT_SET}}\" }}\n\
         [servers.shut]\nurl = \"http://127.0.0.1:9/mcp\"\n",
        entry("good", &Script::new()),
        entry("crash", &Script::new().fault("crash_start")),
    );
    Context::new().with("switchboard.toml", &text)
}

/// Runs a check by a connection of the command's own, and through a hub.
fn both_ways(check: impl Fn(&Context, &str)) {
    let context = declared();
    check(&context, "own connection");
    let hub = Hub::start(&context);
    wait("the good one is connected", || {
        status(&context).iter().any(|server| server["server"] == "good" && server["ok"] == true)
    });
    check(&context, "through the hub");
    drop(hub);
}

fn by_name<'v>(reports: &'v Value, name: &str) -> &'v Value {
    reports.as_array().unwrap().iter().find(|report| report["server"] == name).unwrap()
}

#[test]
fn a_test_says_what_works_and_why_the_rest_does_not() {
    both_ways(|context, way| {
        let ran = context.run(&["test", "--all", "--json"]);
        assert_eq!(ran.code, 1, "{way}: {}", ran.err);
        let reports: Value = serde_json::from_str(&ran.out).unwrap();
        let good = by_name(&reports, "good");
        assert_eq!(good["state"], "connected", "{way}");
        assert_eq!((&good["era"], &good["revision"]), (&json!("stateless"), &json!("2026-07-28")));
        assert_eq!(good["title"], "scripted 0.1.0");
        assert_eq!(good["tools"].as_u64().unwrap() as usize, names(good).len());
        assert!(good["seconds"].as_f64().unwrap() < 60.0);
        for (name, state, words) in [
            ("gone", "failed", "`no-such-command` was not found in"),
            ("crash", "failed", "the server ended"),
            ("off", "disabled", "switched off"),
            ("token", "needs_setup", "NOT_SET is not set"),
        ] {
            let report = by_name(&reports, name);
            assert_eq!(report["state"], state, "{way}: {report}");
            assert!(report["sentence"].as_str().unwrap().contains(words), "{way}: {report}");
        }
        for (name, words) in [("gone", "install it"), ("shut", "check that it runs")] {
            let remedy = by_name(&reports, name)["remedy"].as_str().unwrap();
            assert!(remedy.contains(words), "{way}: {name}: {remedy}");
        }
        let people = context.run(&["test", "good"]);
        assert!(
            people.out.contains("✓ good  scripted 0.1.0, 2026-07-28 (stateless)"),
            "{people:?}"
        );
        assert_eq!(people.err.contains("No hub runs"), way == "own connection", "{}", people.err);
    });
}

fn names(report: &Value) -> Vec<&str> {
    report["tool_names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn tools_and_calls() {
    both_ways(|context, way| {
        let tools = context.json(&["tools", "good"]);
        let echo = tools.as_array().unwrap().iter().find(|tool| tool["tool"] == "echo").unwrap();
        assert_eq!(echo["definition"]["name"], "echo", "{way}");
        let whole = context.ok(&["tools", "good", "echo"]);
        assert!(whole.out.contains("text      string"), "{way}: {}", whole.out);

        for by_name in [&["--args"][..], &[]] {
            let said = [&["call", "good", "echo"], by_name, &[r#"{"text": "hello"}"#]].concat();
            assert_eq!(context.ok(&said).out, "hello\n", "{way}: {said:?}");
        }
        let raw = context.ok(&["call", "good", "echo", "--args", r#"{"text": "x"}"#, "--json"]);
        assert!(raw.out.starts_with(r#"{"content":[{"type":"text","text":"x"}]"#), "{}", raw.out);
        context.write("args.json", r#"{"text": "from a file"}"#);
        assert_eq!(context.ok(&["call", "good", "echo", "@args.json"]).out, "from a file\n");
        let long = json!({"text": "x".repeat(3 << 20)}).to_string();
        context.write("long.json", &long);
        let said = context.ok(&["call", "good", "echo", "--args", "@long.json", "--json"]).out;
        assert!(
            said.contains("read_result") || said.len() > 3 << 20,
            "{way}: {} bytes",
            said.len()
        );

        for (args, words) in [
            (&["call", "good", "fail"][..], ""),
            (&["call", "good", "nothing"], "`switchboard tools good` lists them"),
            (&["call", "good", "echo", "--args", "{"], "the arguments are not JSON"),
            (&["call", "good", "echo", "--args", "[]"], "not a JSON object"),
            (&["call", "god", "echo"], "did you mean `good`?"),
            (&["call", "token", "echo"], "NOT_SET is not set"),
        ] {
            let ran = context.run(args);
            assert_eq!(ran.code, 1, "{way}: {args:?} {ran:?}");
            assert!(ran.err.contains(words), "{way}: {args:?} {ran:?}");
        }
    });
}

#[test]
fn what_servers_said() {
    let context = Context::new()
        .with("switchboard.toml", &entry("loud", &Script::new().fault("flood_stderr:bytes=4000")));
    let hub = Hub::start(&context);
    connected(&context, &["loud"]);
    let mut lines: Vec<Value> = Vec::new();
    wait("five lines are there", || {
        let logs = context.ok(&["logs", "loud", "-n", "5", "--json"]);
        lines = logs.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.len() <= 5, "{}", logs.out);
        lines.len() == 5
    });
    assert!(lines.iter().all(|line| line["server"] == "loud" && line["source"] == "stderr"));
    drop(hub);
}

#[test]
fn a_new_connection() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    assert!(context.run(&["reconnect", "a"]).err.contains("no hub runs"));
    assert_eq!(context.run(&["status"]).code, 1);
    let _hub = Hub::start(&context);
    let before = connected(&context, &["a"])[0]["pid"].clone();
    let report = context.json(&["reconnect", "a"]);
    assert_eq!(report["ok"], true);
    assert_ne!(report["pid"], before);
}

#[test]
fn what_a_server_speaks_is_remembered() {
    let context = Context::new();
    let record = context.work().join("record");
    let script = Script::new().only("2025-06-18").record(&record);
    context.write("switchboard.toml", &entry("old", &script));
    context.ok(&["test", "old"]);
    let asked = || std::fs::read_to_string(&record).unwrap().matches("server/discover").count();
    assert_eq!(asked(), 1);
    context.ok(&["test", "old"]);
    assert_eq!(asked(), 1, "the second start asks nothing");
}
