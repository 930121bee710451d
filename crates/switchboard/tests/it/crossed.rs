//! Servers come and go while agents call, read and get: nothing ever reaches another server than the
//! one that it was meant for.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};
use switchboard_testkit::repetitions;
use switchboard_testkit::script::Script;

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};

/// Names that invite confusion: all offer the same things.
const SERVERS: [&str; 3] = ["a", "a__b", "a_b"];

/// Each server writes down what it gets.
fn record(context: &Context, name: &str) -> PathBuf {
    context.work().join(format!("{name}.record"))
}

fn file(context: &Context, names: &BTreeSet<&str>, nth: usize) -> String {
    let listed: Vec<&&str> = names.iter().collect();
    let mut text = format!("[agents.cto]\nservers = {listed:?}\n\n");
    for name in names {
        let revision = if nth.is_multiple_of(2) { "2025-11-25" } else { "2026-07-28" };
        let script = Script::new().only(revision).record(&record(context, name));
        text.push_str(&entry(name, &script));
    }
    text
}

/// What a thing is called; a name that could be another's has a hash at its end.
fn published<'n>(names: &'n [String], server: &str, own: &str) -> Option<&'n String> {
    names.iter().find(|name| name.starts_with(&format!("{server}__{own}")))
}

/// One of everything to each server that is on offer, marked with whom it is for. What the answer
/// says is of that server, if there is one; a server that has just gone gives an error.
fn visit(client: &Client, answered: &AtomicU64) {
    let (tools, prompts) = (client.tools(), client.listed("prompts"));
    for name in SERVERS {
        let mark = format!("for:{name}.");
        let uri = format!("mcp://{name}/scripted://item/{mark}");
        let family = format!("mcp://{name}/scripted://item/{{id}}");
        let tool = published(&tools, name, "echo");
        let (Some(tool), Some(prompt)) = (tool, published(&prompts, name, "greet")) else {
            continue;
        };
        let asks = [
            ("tools/call", json!({"name": tool, "arguments": {"text": mark}}), "/content/0/text"),
            ("resources/read", json!({"uri": uri}), "/contents/0/text"),
            (
                "prompts/get",
                json!({"name": prompt, "arguments": {"name": mark}}),
                "/messages/0/content/text",
            ),
            (
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": "name", "value": mark}}),
                "/completion/values/0",
            ),
            (
                "completion/complete",
                json!({"ref": {"type": "ref/resource", "uri": family}, "argument": {"name": "id", "value": mark}}),
                "/completion/values/0",
            ),
        ];
        for (method, params, place) in asks {
            let answer = client.ask(method, params);
            let result = &answer["result"];
            let Some(text) = result.pointer(place).and_then(Value::as_str) else { continue };
            if result["isError"] != true {
                assert!(text.contains(&mark), "{method} {name}: {answer}");
                answered.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Ends the agents' work with what they work beside, also where that fails: whoever waits for them would wait for
/// ever.
struct Ends<'d>(&'d AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Good answers that each client has to get while servers come and go, for each time that they do: nothing is
/// shown by errors.
const ENOUGH: u64 = 10;

#[test]
fn prove_nothing_reaches_another_server() {
    let context = Context::new();
    let all = BTreeSet::from(SERVERS);
    context.write("switchboard.toml", &file(&context, &all, 0));
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &SERVERS);
    let clients = [Client::session(&hub, "/mcp", &token), Client::stateless(&hub, "/mcp", &token)];
    let (done, answered) = (&AtomicBool::new(false), [AtomicU64::new(0), AtomicU64::new(0)]);
    let counts = || answered.each_ref().map(|count| count.load(Ordering::Relaxed));
    let rounds = repetitions(50);
    let is_enough = || counts().iter().all(|count| *count >= ENOUGH * u64::from(rounds));
    std::thread::scope(|scope| {
        let _ends = Ends(done);
        for (client, answered) in clients.iter().zip(&answered) {
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    visit(client, answered);
                }
            });
        }
        // Where it is slow, longer, but not for ever.
        for nth in 1..=10 * rounds as usize {
            if nth > rounds as usize && is_enough() {
                break;
            }
            let mut names = all.clone();
            names.remove(SERVERS[nth % SERVERS.len()]);
            context.write("switchboard.toml", &file(&context, &names, nth));
            connected(&context, &names.iter().copied().collect::<Vec<_>>());
        }
    });
    assert!(is_enough(), "good answers while servers came and went: {:?}", counts());
    context.write("switchboard.toml", &file(&context, &all, 0));
    connected(&context, &SERVERS);
    wait("all are on offer again", || {
        let tools = clients[0].tools();
        SERVERS.iter().all(|name| published(&tools, name, "echo").is_some())
    });
    let before = counts();
    clients.iter().zip(&answered).for_each(|(client, answered)| visit(client, answered));
    assert_eq!(counts(), before.map(|count| count + 15), "all are there again");
    for name in SERVERS {
        let text = std::fs::read_to_string(record(&context, name)).unwrap();
        assert!(text.contains(&format!("for:{name}.")), "{name}");
        for other in SERVERS.iter().filter(|other| **other != name) {
            assert!(!text.contains(&format!("for:{other}.")), "{name} got what is for {other}");
        }
    }
}
