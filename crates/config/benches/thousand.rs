//! 1,000 servers in one file: parse, merge, check and diff together, next to starting `true` ten
//! times on the same machine in the same run.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
#![expect(clippy::print_stdout, reason = "what it prints is its result")]
#![expect(clippy::unwrap_used, reason = "a broken benchmark must stop")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use switchboard_config::merge::{Input, merge};
use switchboard_config::parse::{self, Context};
use switchboard_config::{check, shape};
use switchboard_model::{Changes, Desired, Secret};

const SERVERS: usize = 1_000;
const ROUNDS: usize = 15;

fn main() {
    let toml = toml(SERVERS);
    let desired = load("switchboard.toml", &toml);
    assert_eq!(desired.servers.len(), SERVERS);
    let json = json(&desired);
    // JSON is YAML too, but people write blocks.
    let yaml = yaml(SERVERS);
    assert_eq!(load("switchboard.json", &json).servers, desired.servers);
    assert_eq!(load("switchboard.yaml", &yaml).servers, desired.servers);

    // Interleaved, so that what else the machine does falls on both alike.
    let texts = [
        ("TOML", "switchboard.toml", &toml),
        ("JSON", "switchboard.json", &json),
        ("YAML", "switchboard.yaml", &yaml),
    ];
    let mut best = [Duration::MAX; 3];
    let mut starts = Duration::MAX;
    for _ in 0..ROUNDS {
        for (slot, (_, name, text)) in best.iter_mut().zip(&texts) {
            *slot = (*slot).min(time(|| drop(whole(name, text, &desired))));
        }
        starts = starts.min(time(start_true_ten_times));
    }
    println!("{:<34}{:>12}{:>10}", "1,000 servers, best of 15", "time", "ratio");
    println!("{:<34}{:>12}{:>10}", "starting `true` ten times", ms(starts), "1.00");
    for ((format, _, text), took) in texts.iter().zip(best) {
        let what = format!("parse, merge, check, diff: {format} ({} KB)", text.len() / 1000);
        let ratio = took.as_secs_f64() / starts.as_secs_f64();
        println!("{what:<34}{:>12}{ratio:>10.2}", ms(took));
    }
}

/// All that happens between a file's text and the plan of what to do.
fn whole(name: &str, text: &str, before: &Desired) -> Changes {
    let parsed = parse::text(Path::new(name), text, &Context::default());
    let (dialect, declared) = (parsed.dialect.unwrap(), parsed.declared.unwrap());
    let merged = merge(&[Input { dialect, declared: &declared }], &BTreeSet::new());
    let env = |_: &str| Some(Secret::new("set"));
    let missing = check::variables(&merged.desired, &merged.origins, &env);
    assert!(parsed.problems.is_empty() && merged.problems.is_empty() && missing.is_empty());
    Changes::between(&before.servers, &merged.desired.servers)
}

fn load(name: &str, text: &str) -> Desired {
    let parsed = parse::text(Path::new(name), text, &Context::default());
    assert!(parsed.problems.is_empty(), "{:?}", parsed.problems.first());
    let declared = parsed.declared.unwrap();
    merge(&[Input { dialect: parsed.dialect.unwrap(), declared: &declared }], &BTreeSet::new())
        .desired
}

fn toml(servers: usize) -> String {
    let mut text = String::new();
    for i in 0..servers {
        let agent = i % 50;
        let _ = match i % 2 {
            0 => write!(
                text,
                "[servers.local-{i}]\ncommand = \"npx\"\nargs = [\"-y\", \"@scope/server-{i}\", \"${{WORKSPACE:-.}}\"]\nenv = {{ API_KEY = \"${{KEY_{agent}}}\", MODE = \"fast\" }}\ndescription = \"Server number {i}\"\n\n"
            ),
            _ => write!(
                text,
                "[servers.remote-{i}]\nurl = \"https://mcp-{i}.example.com/mcp\"\nheaders = {{ Authorization = \"Bearer ${{TOKEN_{agent}}}\" }}\ntools = {{ deny = [\"delete_*\"] }}\n\n"
            ),
        };
    }
    text
}

fn yaml(servers: usize) -> String {
    let mut text = String::from("servers:\n");
    for i in 0..servers {
        let agent = i % 50;
        let _ = match i % 2 {
            0 => write!(
                text,
                "  local-{i}:\n    command: npx\n    args: [-y, \"@scope/server-{i}\", \"${{WORKSPACE:-.}}\"]\n    env:\n      API_KEY: ${{KEY_{agent}}}\n      MODE: fast\n    description: Server number {i}\n"
            ),
            _ => write!(
                text,
                "  remote-{i}:\n    url: https://mcp-{i}.example.com/mcp\n    headers:\n      Authorization: Bearer ${{TOKEN_{agent}}}\n    tools:\n      deny: [\"delete_*\"]\n"
            ),
        };
    }
    text
}

fn json(desired: &Desired) -> String {
    let servers: serde_json::Map<String, serde_json::Value> = desired
        .servers
        .values()
        .map(|spec| (spec.name.to_string(), shape::server_entry(spec).into()))
        .collect();
    serde_json::to_string_pretty(&serde_json::json!({ "servers": servers })).unwrap()
}

fn start_true_ten_times() {
    for _ in 0..10 {
        assert!(Command::new("true").status().unwrap().success());
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn ms(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1000.0)
}
