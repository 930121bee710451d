//! Internal servers: found by their manifests, able to stop a start, told apart from the external
//! ones, followed as they come and go.

use std::path::PathBuf;

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};

use crate::agents::token;
use crate::context::{Context, Ran};
use crate::hub::{Hub, connected, entry, signal, status, wait};
use crate::orphans::{assert_none_left, of_hub};

const ASKED: &str = "[internal]\n\n";

/// A directory beside the hub's.
fn beside(context: &Context, name: &str) -> PathBuf {
    context.work().parent().unwrap().join(name)
}

/// A package beside the hub's with a manifest; what `more` has takes the place of what it would have.
pub(crate) fn part(context: &Context, directory: &str, script: &Script, more: Value) {
    let (command, args) = Scripted::stdio(script);
    let mut manifest = json!({"name": directory, "command": command, "args": args});
    for (key, value) in more.as_object().unwrap() {
        manifest[key] = value.clone();
    }
    let package = json!({"name": "some-package", "version": "1.0.0", "annabelle": manifest});
    let path = beside(context, directory).join("package.json");
    context.write_at(&path, &package.to_string());
}

/// Starts a hub that must end by itself, and looks that nothing of it stays.
fn ends(context: &Context) -> Ran {
    let child = context.start(&["up", "--listen", "127.0.0.1:0"]);
    let pid = child.id();
    let ran = Ran::new(&child.wait_with_output().unwrap());
    assert_none_left(pid, "after a start that failed");
    ran
}

/// What the health check says, by scope.
fn health(hub: &Hub, token: &str, arguments: Value) -> Value {
    let params = json!({"name": "system_health_check", "arguments": arguments});
    let answer = hub.ask("/mcp", Some(token), "tools/call", params).body;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert_eq!(
        serde_json::from_str::<Value>(text).unwrap_or_default(),
        answer["result"]["structuredContent"],
        "{answer}"
    );
    answer["result"]["structuredContent"].clone()
}

#[test]
fn they_are_found_and_told_apart() {
    let gone = "[servers.gone]\ncommand = \"no-such-command\"\n";
    let file = format!("{ASKED}{}{gone}", entry("posthog", &Script::new()));
    let context = Context::new().with("switchboard.toml", &file);
    part(&context, "guardian", &Script::new(), json!({"required": true, "sensitive": true}));
    part(&context, "memory", &Script::new(), json!({"env": {"A": "b"}}));
    context.write_at(&beside(&context, "Shared").join("package.json"), r#"{"name": "shared"}"#);
    let (token, _) = token(&context, "local");
    let hub = Hub::start(&context);
    wait("those that can are connected", || {
        let good = |server: &&Value| server["ok"] == true;
        status(&context).iter().filter(good).count() == 3
    });

    let row = |name: &str, healthy: bool, kind: &str| json!({"name": name, "available": healthy, "healthy": healthy, "type": kind});
    let internal = [row("guardian", true, "internal"), row("memory", true, "internal")];
    let external = [row("gone", false, "external"), row("posthog", true, "external")];
    let all = [external[0].clone(), internal[0].clone(), internal[1].clone(), external[1].clone()];
    for (arguments, scope, rows, healthy) in [
        (json!({}), "all", &all[..], 3),
        (json!({"scope": "all"}), "all", &all, 3),
        (json!({"scope": "internal"}), "internal", &internal, 2),
        (json!({"scope": "external"}), "external", &external, 1),
    ] {
        let summary =
            json!({"total": rows.len(), "healthy": healthy, "unhealthy": rows.len() - healthy});
        let expected = json!({"scope": scope, "summary": summary, "mcps": rows});
        assert_eq!(health(&hub, &token, arguments), expected, "{scope}");
    }
    let odd = json!({"name": "system_health_check", "arguments": {"scope": "some"}});
    let refused = hub.ask("/mcp", Some(&token), "tools/call", odd).body;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");

    // An agent that nobody declared has them, as it has everything where nothing is said.
    let call = json!({"name": "memory__echo", "arguments": {"text": "x"}});
    let said = hub.ask("/mcp", Some(&token), "tools/call", call).body;
    assert_eq!(said["result"]["content"][0]["text"], "x", "{said}");

    let list = context.json(&["list"]);
    let kinds: Vec<(&str, &str)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["standing"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("gone", "external"),
            ("guardian", "internal"),
            ("memory", "internal"),
            ("posthog", "external")
        ]
    );
    let refused = context.run(&["remove", "memory"]);
    assert_eq!(refused.code, 1);
    let manifest = beside(&context, "memory").join("package.json");
    assert!(refused.err.contains(manifest.to_str().unwrap()), "{refused:?}");
}

#[test]
fn a_server_that_does_not_answer_is_not_healthy() {
    let context = Context::new().with("switchboard.toml", ASKED);
    let mute = Script::new().only("2025-06-18").fault("silent:method=ping");
    part(&context, "mute", &mute, json!({}));
    let (token, _) = token(&context, "local");
    let hub = Hub::start(&context);
    connected(&context, &["mute"]);
    let row = health(&hub, &token, json!({}))["mcps"][0].clone();
    let expected = json!({"name": "mute", "available": true, "healthy": false, "type": "internal"});
    assert_eq!(row, expected);
}

/// One that the next call starts is where it should be.
#[test]
fn a_server_that_sleeps_is_healthy() {
    let file = format!("{}start = \"lazy\"\n", entry("asleep", &Script::new()));
    let file = format!("{file}[agents.cto]\nservers = [\"asleep\"]\n");
    let context = Context::new().with("switchboard.toml", &file);
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    let health = health(&hub, &token, json!({}));
    let row = json!({"name": "asleep", "available": true, "healthy": true, "type": "external"});
    assert_eq!(health["mcps"], json!([row]));
    assert_eq!(status(&context)[0]["state"], "disconnected", "nobody has woken it");
}

#[test]
fn a_required_one_that_does_not_connect_stops_the_start() {
    let crash = Script::new().fault(r#"crash_start:code=3,stderr=no licence"#);
    let silent = Script::new().fault("silent");
    for (script, more, words) in [
        (
            &crash,
            json!({"timeout": 10_000}),
            &["the server ended", "\n  it said   ", "no licence\n"][..],
        ),
        (&silent, json!({"timeout": 1000}), &["it was still starting after 1 s", "`timeout`"]),
        (&silent, json!({"command": "no-such-command"}), &["was not found", "install it"]),
        (&silent, json!({"command": "./none"}), &["was not found"]),
    ] {
        let context = Context::new();
        let file = format!("{ASKED}{}", entry("other", &Script::new()));
        context.write("switchboard.toml", &file);
        part(&context, "second", &Script::new(), json!({"required": true}));
        let mut all = json!({"required": true});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        part(&context, "guardian", script, all);
        let ran = ends(&context);
        assert_eq!(ran.code, 1, "{more}: {ran:?}");
        let error = ran.err.split("error: ").last().unwrap();
        assert!(
            error.starts_with("the required server `guardian` did not connect: "),
            "{more}: {ran:?}"
        );
        let manifest = beside(&context, "guardian").join("package.json");
        let told = format!("\n  manifest  {}\n", manifest.display());
        let remedy = "without `\"required\": true` in its manifest the hub starts without it";
        for words in words.iter().chain(&[&*told, "\n  remedy    ", remedy]) {
            assert!(error.contains(words), "{more}: {words:?} in {ran:?}");
        }
        assert!(!ran.out.contains("is up"), "{more}: {ran:?}");
        // The same without the word: it starts.
        part(&context, "guardian", script, more);
        drop(Hub::start(&context));
    }
}

#[test]
fn what_is_external_never_stops_a_start() {
    let context = Context::new().with("switchboard.toml", ASKED);
    let broken = r#"{"far": {"command": "no-such-command", "required": true}, "silent": SILENT}"#;
    let (command, args) = Scripted::stdio(&Script::new().fault("silent"));
    let silent = json!({"command": command, "args": args, "required": true, "timeout": 100});
    context.write("external-mcps.json", &broken.replace("SILENT", &silent.to_string()));
    part(&context, "lame", &Script::new().fault("crash_start"), json!({"timeout": 100}));
    part(&context, "guardian", &Script::new(), json!({"required": true}));
    let hub = Hub::start(&context);
    // It came up with what is required, and the others did not matter.
    let now = status(&context);
    let ok: Vec<(&str, bool)> = now
        .iter()
        .map(|server| (server["server"].as_str().unwrap(), server["ok"] == true))
        .collect();
    assert_eq!(ok, [("far", false), ("guardian", true), ("lame", false), ("silent", false)]);
    drop(hub);
}

#[test]
fn a_required_one_may_need_two_tries_and_is_supervised_afterwards() {
    let context = Context::new().with("switchboard.toml", ASKED);
    let counter = context.work().join("starts");
    let script = Script::new().fault("crash_start").until_start(1, &counter);
    part(&context, "guardian", &script, json!({"required": true}));
    let hub = Hub::start(&context);
    let before = connected(&context, &["guardian"])[0]["pid"].clone();
    signal(&before, "-KILL");
    wait("it runs again", || {
        let now = &status(&context)[0];
        now["ok"] == true && now["pid"] != before
    });
    assert!(hub.get("/healthz", &hub.address).contains("ok"));
}

#[test]
fn a_start_that_waits_can_be_stopped() {
    let context = Context::new().with("switchboard.toml", ASKED);
    let more = json!({"required": true, "timeout": 600_000});
    part(&context, "guardian", &Script::new().fault("silent"), more);
    let mut child = context.start(&["up", "--listen", "127.0.0.1:0"]);
    wait("the server is started", || of_hub(child.id()).iter().any(|line| line.contains("silent")));
    signal(child.id(), "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_none_left(child.id(), "a start that was stopped");
}

#[test]
fn they_come_change_and_go_while_the_hub_runs() {
    let context = Context::new().with("switchboard.toml", ASKED);
    part(&context, "a", &Script::new(), json!({}));
    let _hub = Hub::start(&context);
    let first = connected(&context, &["a"]);
    let tools = first[0]["tools"].as_u64().unwrap();
    part(&context, "b", &Script::new(), json!({"required": true}));
    let both = connected(&context, &["a", "b"]);
    assert_eq!(both[0]["pid"], first[0]["pid"], "it was not touched");
    part(&context, "b", &Script::new().tools(3), json!({}));
    wait("the edit is applied", || {
        status(&context)
            .iter()
            .any(|server| server["server"] == "b" && server["tools"] == tools + 3)
    });
    // One that cannot run is of no consequence any more, required or not.
    let lame = Script::new().fault("crash_start");
    part(&context, "c", &lame, json!({"required": true, "timeout": 100}));
    wait("it has failed", || status(&context).iter().any(|server| server["state"] == "failed"));
    for gone in ["b", "c"] {
        std::fs::remove_dir_all(beside(&context, gone)).unwrap();
    }
    let last = connected(&context, &["a"]);
    assert_eq!(last[0]["pid"], first[0]["pid"], "it was not touched");
}

#[test]
fn its_name_is_taken() {
    let file = format!("{ASKED}{}", entry("a", &Script::new().tools(7)));
    let context = Context::new().with("switchboard.toml", &file);
    part(&context, "a", &Script::new(), json!({}));
    let check = context.run(&["check"]);
    assert_eq!(check.code, 0, "{check:?}");
    let text = format!("{}{}", check.out, check.err);
    assert!(
        text.contains("reserved-name") && text.contains("name of an internal server"),
        "{text}"
    );
    let manifest = beside(&context, "a").join("package.json");
    assert!(text.contains(manifest.to_str().unwrap()), "{text}");
    let _hub = Hub::start(&context);
    let alone = Script::new();
    part(&context, "plain", &alone, json!({}));
    let now = connected(&context, &["a", "plain"]);
    assert_eq!(now[0]["tools"], now[1]["tools"], "the internal one runs");
}

#[test]
fn nobody_adds_a_server_of_its_name() {
    let context = Context::new().with("switchboard.toml", ASKED);
    part(&context, "guardian", &Script::new(), json!({}));
    context.ok(&["user", "add", "anna"]);
    let entry = json!({"url": "http://127.0.0.1:9/mcp"});
    let refused = |name: &str, words: &str, who: &[&str]| {
        let add = ["add", name, "--url", "http://127.0.0.1:9/mcp"];
        let ran = context.run(&[&add, who].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("is the name of an internal server"), "{ran:?}");
        assert!(ran.err.contains(words), "{ran:?}");
    };
    let manifest = beside(&context, "guardian").join("package.json");
    refused("guardian", manifest.to_str().unwrap(), &[]);
    refused("switchboard", "", &[]);
    refused("guardian", "", &["--user", "anna"]);
    let hub = Hub::start(&context);
    refused("guardian", manifest.to_str().unwrap(), &[]);
    refused("guardian", "", &["--user", "anna"]);
    let admin = crate::rest::person(&context, "admin");
    for scope in ["global", "user"] {
        let new = json!({"name": "guardian", "scope": scope, "entry": entry});
        let made = hub.rest("POST", "/api/v1/servers", &admin, Some(&new));
        assert_eq!(
            (made.status, &made.body["code"]),
            (409, &json!("reserved_name")),
            "{}",
            made.body
        );
    }
    assert_eq!(context.read("switchboard.toml"), ASKED);
}
