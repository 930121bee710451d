//! Servers of files and of the store, seen by commands: the same with a hub and without one.

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::context::Context;
use crate::hub::{Hub, entry, status, wait};
use crate::rest::{person, served};

/// A file's server, one of the store for all, one that stands behind a file's of the same name, and
/// Anna's, which nobody approved. What Anna's command line does is written into the record.
fn declared() -> (Context, Hub) {
    let context = Context::new().with("switchboard.toml", &entry("filed", &Script::new()));
    let hub = Hub::start(&context);
    let (admin, anna) = (person(&context, "admin"), person(&context, "anna"));
    let record = context.work().join("record");
    let global = |name: &str| {
        let entry = served(&Script::new());
        json!({"name": name, "scope": "global", "entry": entry, "approve": true})
    };
    let own = |script: &Script, approve: bool| json!({"name": "own", "entry": served(script), "approve": approve});
    let unseen = Script::new().record(&record);
    for (token, new) in [
        (&admin, global("shared")),
        (&admin, global("twice")),
        (&admin, own(&Script::new(), true)),
        (&anna, own(&unseen, false)),
    ] {
        let made = hub.rest("POST", "/api/v1/servers", token, Some(&new));
        assert_eq!(made.status, 201, "{}", made.body);
    }
    let text = ["filed", "twice"].map(|name| entry(name, &Script::new())).concat();
    context.write("switchboard.toml", &text);
    wait("the file's counts", || status(&context).len() == 5);
    wait("the file is read", || {
        let rows = context.json(&["list"]);
        rows.as_array().unwrap().iter().any(|row| row["shadowed"] == true)
    });
    (context, hub)
}

/// With a hub, then without one.
fn both_ways(check: impl Fn(&Context, &str)) {
    let (context, hub) = declared();
    check(&context, "through the hub");
    hub.stop();
    check(&context, "on the store");
    assert!(!context.work().join("record").exists(), "what nobody approved was started");
}

fn told(row: &Value) -> (String, String, String) {
    let text = |name: &str| row[name].as_str().unwrap().to_owned();
    let (id, approved) = (row["id"].is_string(), row["approved"] != json!(false));
    let place = match row["file"].as_str() {
        Some(file) => format!("{file}:{}", row["line"]),
        None => text("source"),
    };
    assert_eq!(id, text("source") == "store", "{row}");
    let words = [
        (row["shadowed"] == true, " shadowed"),
        (!approved, " unapproved"),
        (row["enabled"] == false, " off"),
    ];
    let words = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word);
    (text("name"), text("scope"), place + &words.collect::<String>())
}

#[test]
fn a_list_shows_files_and_store() {
    both_ways(|context, way| {
        context.ok(&["disable", "shared"]);
        let rows = context.json(&["list"]);
        let rows: Vec<_> = rows.as_array().unwrap().iter().map(told).collect();
        let rows: Vec<_> =
            rows.iter().map(|(name, scope, at)| (name.as_str(), scope.as_str(), &**at)).collect();
        assert_eq!(
            rows,
            [
                ("filed", "global", "switchboard.toml:1"),
                ("own", "user admin", "store"),
                ("own", "user anna", "store unapproved"),
                ("shared", "global", "store off"),
                ("twice", "global", "switchboard.toml:4"),
                ("twice", "global", "store shadowed"),
            ],
            "{way}"
        );
        context.ok(&["enable", "shared"]);
        let people = context.ok(&["list"]).out;
        assert!(people.contains("own (user anna) [not approved]"), "{way}: {people}");
        assert!(people.contains("store, behind the file"), "{way}: {people}");
        let files = context.json(&["list", "--file", "switchboard.toml"]);
        assert_eq!(files.as_array().unwrap().len(), 2, "{way}: {files}");
    });
}

#[test]
fn servers_of_the_store_are_tested_and_called_once_approved() {
    both_ways(|context, way| {
        let said = context.ok(&["call", "shared", "echo", "--args", r#"{"text": "hello"}"#]);
        assert_eq!(said.out, "hello\n", "{way}");
        let tools = context.json(&["tools", "own", "--scope", "user admin"]);
        assert!(tools.as_array().unwrap().iter().any(|tool| tool["tool"] == "echo"), "{way}");
        let which = context.run(&["test", "own"]);
        assert!(which.err.contains("`--scope \"user anna\"`"), "{way}: {which:?}");

        let ran = context.run(&["test", "own", "--scope", "user anna", "--json"]);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(
            (ran.code, &report[0]["state"]),
            (1, &json!("needs_approval")),
            "{way}: {ran:?}"
        );
        for args in [
            &["tools", "own", "--scope", "user anna"][..],
            &["call", "own", "echo", "--scope", "user anna"],
            &["test", "--all"],
        ] {
            assert_eq!(context.run(args).code, 1, "{way}: {args:?}");
        }
        let files = context.run(&["test", "shared", "--file", "switchboard.toml"]);
        assert!(files.err.contains("no server is named `shared`"), "{way}: {files:?}");
    });
}

#[test]
fn what_is_removed_is_what_was_meant() {
    both_ways(|context, way| {
        for (args, words) in [
            (&["remove", "twice"][..], "say which one: `--from files`, `--from store`"),
            (
                &["remove", "own"],
                "say which one: `--from store --scope \"user admin\"`, \
                 `--from store --scope \"user anna\"`",
            ),
            (&["remove", "own", "--scope", "user bob"], "the store has no such server `own`"),
            (&["remove", "filed", "--from", "store"], "the store has no such server `filed`"),
            (&["remove", "shred"], "no server `shred`"),
        ] {
            let ran = context.run(args);
            assert_eq!(ran.code, 1, "{way}: {args:?} {ran:?}");
            assert!(ran.err.contains(words), "{way}: {args:?} {ran:?}");
        }
        let dry = context.ok(&["remove", "shared", "--dry-run"]);
        assert!(dry.out.contains("Nothing was removed"), "{way}: {dry:?}");
        assert_eq!(context.json(&["list"]).as_array().unwrap().len(), 6, "{way}");
    });
    for keep in ["a hub", "no hub"] {
        let (context, hub) = declared();
        let hub = (keep == "a hub").then_some(hub);
        let removed = context.json(&["remove", "own", "--scope", "user anna"]);
        assert_eq!(removed["written"], true, "{keep}: {removed}");
        context.ok(&["remove", "twice", "--from", "files"]);
        context.ok(&["remove", "shared"]);
        let rows = context.json(&["list"]);
        let rows: Vec<_> = rows.as_array().unwrap().iter().map(told).collect();
        let left: Vec<_> = rows.iter().map(|(name, _, at)| (name.as_str(), at.as_str())).collect();
        assert_eq!(
            left,
            [("filed", "switchboard.toml:1"), ("own", "store"), ("twice", "store")],
            "{keep}"
        );
        let acts = context.json(&["audit", "--action", "server.remove"]);
        let gone = acts["items"].as_array().unwrap().iter();
        let gone: Vec<&str> = gone.map(|act| act["server"].as_str().unwrap()).collect();
        assert_eq!(gone, ["global:shared", "user:anna:own"], "{keep}: {acts}");
        if hub.is_some() {
            assert_eq!(status(&context).len(), 3, "what is removed does not run");
        }
        drop(hub);
    }
}

#[test]
fn agents_no_longer_name_what_a_command_removed() {
    for keep in ["a hub", "no hub"] {
        let (context, hub) = declared();
        let entries = |names: &[&str]| {
            names.iter().map(|name| entry(name, &Script::new())).collect::<String>()
        };
        let foreign = json!({"filed": served(&Script::new())}).to_string();
        context.write("external-mcps.json", &foreign);
        context.write("switchboard.toml", &entries(&["filed", "twice", "own", "edited"]));
        wait("all are there", || status(&context).len() == 7);
        let names = ["filed", "twice", "own", "edited", "shared"];
        let servers = names.iter().flat_map(|name| ["--server", name]);
        let words: Vec<&str> = ["agent", "add", "reader"].into_iter().chain(servers).collect();
        context.ok(&words);
        let hub = (keep == "a hub").then_some(hub);
        let named = || {
            let mut names = context.json(&["agent", "list"])[0]["servers"].take();
            names.as_array_mut().unwrap().sort_by_key(Value::to_string);
            names
        };
        // The other file, the store and the administrator each still have one of that name.
        let first = ["remove", "filed", "--file", "switchboard.toml"];
        for args in [
            &first[..],
            &["remove", "twice", "--from", "files"],
            &["remove", "own", "--from", "files"],
        ] {
            assert_eq!(context.json(args)["agents"], json!([]), "{keep}: {args:?}");
        }
        // What vanishes from a file may come back.
        context.write("switchboard.toml", "");
        if hub.is_some() {
            wait("it is gone", || status(&context).iter().all(|row| row["server"] != "edited"));
        }
        assert_eq!(named(), json!(["edited", "filed", "own", "shared", "twice"]), "{keep}");

        let last = context.json(&["remove", "filed"]);
        assert_eq!(last["agents"], json!(["reader"]), "{keep}: {last}");
        assert_eq!(named(), json!(["edited", "own", "shared", "twice"]), "{keep}");
        for (name, scope) in [("own", "user admin"), ("twice", "global"), ("shared", "global")] {
            context.ok(&["remove", name, "--from", "store", "--scope", scope]);
        }
        assert_eq!(named(), json!(["edited"]), "{keep}");
        let acts = context.json(&["audit", "--action", "server.unassign"]);
        assert_eq!(acts["items"][0]["server"], "global:filed", "{keep}: {acts}");
        assert_eq!(acts["items"].as_array().unwrap().len(), 1, "{keep}: {acts}");
    }
}

#[test]
fn whoever_only_looks_makes_no_store() {
    let context = Context::new().with("switchboard.toml", &entry("filed", &Script::new()));
    context.ok(&["list"]);
    context.ok(&["test", "filed"]);
    context.ok(&["remove", "filed"]);
    assert!(!context.home().join(".local/share/switchboard").exists());
}

#[test]
fn what_a_file_hides_is_told_and_everything_is_counted() {
    const TOLD: &str = "server `twice` is declared in ";
    let (context, hub) = declared();
    crate::hub::declared(&context, 5, 1);
    let told = |said: Value| {
        let problems = said["problems"].as_array().unwrap().clone();
        let text = |problem: &Value| format!("{}{}", problem["text"], problem["message"]);
        problems.iter().map(text).find(|text| text.contains(TOLD)).unwrap_or_default()
    };
    let by_status = told(context.json(&["status"]));
    assert!(by_status.contains("switchboard.toml and in the store"), "{by_status}");
    assert!(told(context.json(&["check"])).contains("and in the store"));
    hub.stop();
    assert!(told(context.json(&["check"])).contains("and in the store"));
    // One that nothing hides, on the store alone.
    let shared = context.json(&["disable", "shared"]);
    assert_eq!(shared["source"]["shadowed"], false, "{shared}");
    let log = context.work().join("log");
    let hub = Hub::start_logging(&context, &log);
    assert_eq!(hub.greeting["servers"], 5, "{}", hub.greeting);
    assert!(told(hub.greeting.clone()).contains("and in the store"), "{}", hub.greeting);
    assert!(std::fs::read_to_string(&log).unwrap().contains(TOLD));
}

#[test]
fn servers_of_the_store_alone_are_something() {
    let context = Context::new();
    let hub = Hub::start(&context);
    crate::hub::declared(&context, 0, 0);
    let admin = person(&context, "admin");
    let entry = served(&Script::new());
    let new = json!({"name": "s", "scope": "global", "entry": entry, "approve": true});
    assert_eq!(hub.rest("POST", "/api/v1/servers", &admin, Some(&new)).status, 201);
    crate::hub::declared(&context, 1, 0);
}
