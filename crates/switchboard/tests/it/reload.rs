//! Hot reload, end to end: the watched file is edited, and what runs follows it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::Value;
use switchboard_testkit::repetitions;
use switchboard_testkit::script::Script;

use crate::context::Context;
use crate::hub::{Hub, connected, entry, status, wait};

/// What is declared: a server's own tools tell its declarations apart.
type Declared = BTreeMap<String, usize>;

fn file(declared: &Declared) -> String {
    let entries = declared.iter().map(|(name, tools)| entry(name, &Script::new().tools(*tools)));
    entries.collect::<Vec<_>>().join("\n")
}

/// One random step of a person with an editor.
fn step(declared: &mut Declared, nth: usize) {
    let names: Vec<String> = declared.keys().filter(|name| *name != "steady").cloned().collect();
    let some = fastrand::choice(&names).cloned();
    match (fastrand::u8(0..4), some) {
        (0, Some(name)) => {
            declared.remove(&name);
        }
        (1, Some(name)) => {
            declared.insert(name, 100 + nth);
        }
        (2, Some(name)) => {
            let tools = declared.remove(&name).unwrap();
            declared.insert(format!("renamed{nth}"), tools);
        }
        _ => {
            declared.insert(format!("new{}", fastrand::u8(0..4)), 200 + nth);
        }
    }
}

/// Waits until what runs is what is declared; the processes by name.
fn settled(context: &Context, declared: &Declared, base: usize) -> BTreeMap<String, Value> {
    let mut now = Vec::new();
    wait(&format!("{declared:?} runs"), || {
        now = status(context);
        now.len() == declared.len()
            && now.iter().all(|server| {
                let name = server["server"].as_str().unwrap();
                let tools = declared.get(name).map(|tools| base + tools);
                server["ok"] == true && server["tools"].as_u64().map(|n| n as usize) == tools
            })
    });
    let pid =
        |server: &Value| (server["server"].as_str().unwrap().to_owned(), server["pid"].clone());
    now.iter().map(pid).collect()
}

#[test]
fn prove_what_runs_follows_the_file_while_calls_run() {
    let mut declared = Declared::from([("steady".to_owned(), 1), ("other".to_owned(), 2)]);
    let context = Context::new().with("switchboard.toml", &file(&declared));
    let hub = Hub::start(&context);
    let first = connected(&context, &["other", "steady"]);
    let base = first[1]["tools"].as_u64().unwrap() as usize - 1;
    let (done, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let ran = context.run(&["call", "steady", "echo", "--args", r#"{"text":"x"}"#]);
                assert_eq!((ran.code, ran.out.as_str()), (0, "x\n"), "{ran:?}");
                calls.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut pids = settled(&context, &declared, base);
        for nth in 0..repetitions(100) as usize {
            let before = declared.clone();
            step(&mut declared, nth);
            context.write("switchboard.toml", &file(&declared));
            let now = settled(&context, &declared, base);
            for (name, tools) in &declared {
                if before.get(name) == Some(tools) {
                    assert_eq!(now[name], pids[name], "step {nth}: `{name}` was not touched");
                }
            }
            pids = now;
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(calls.load(Ordering::Relaxed) > 0);
    drop(hub);
}

#[test]
fn a_call_on_a_removed_server_gets_a_clear_error() {
    let text = entry("a", &Script::new());
    let context = Context::new().with("switchboard.toml", &text);
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let ran = std::thread::scope(|scope| {
        let call =
            scope.spawn(|| context.run(&["call", "a", "sleep", "--args", r#"{"ms": 120000}"#]));
        wait("the call is under way", || status(&context)[0]["in_flight"] == 1);
        context.write("switchboard.toml", "");
        hub.signal("-HUP");
        call.join().unwrap()
    });
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("no longer declared") || ran.err.contains("ended"), "{ran:?}");
    assert!(status(&context).is_empty());
}
