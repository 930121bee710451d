//! Clients that people use, through the hub, with servers that people use behind it: each client sees
//! everything, calls, is asked, reads and gets.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use switchboard_testkit::Tools;
use switchboard_testkit::clients::{CLIENTS, Names, SSE_CLIENTS, Seen};

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, wait};

const SERVERS: [&str; 5] = ["everything", "files", "git", "memory", "time"];
const ASK: &str = "everything__trigger-elicitation-request";
const URI: &str = "mcp://everything/demo://resource/static/document/architecture.md";
const PROMPT: &str = "everything__simple-prompt";

/// A machine on which the servers are declared; each works in the machine's own folder.
fn machine() -> Context {
    let (tools, context) = (Tools::find(), Context::new());
    let repository = context.work().join("repository");
    std::fs::create_dir(&repository).unwrap();
    std::fs::write(repository.join("light.txt"), "first light").unwrap();
    run_git(&repository, &["init", "--quiet"]);
    run_git(&repository, &["add", "light.txt"]);
    run_git(&repository, &["commit", "--quiet", "--message", "first light"]);
    let folder = repository.to_str().unwrap();
    let package = |name: &str, arguments: &[&str]| {
        let file = tools.package(&format!("@modelcontextprotocol/server-{name}/dist/index.js"));
        let arguments = [&[file.to_str().unwrap()], arguments].concat();
        format!("command = {:?}\nargs = {arguments:?}\n", tools.node())
    };
    let module = |name: &str, arguments: &[&str]| {
        let arguments = [&["-m", name], arguments].concat();
        format!("command = {:?}\nargs = {arguments:?}\n", tools.python("servers"))
    };
    let memory = context.work().join("memory.jsonl");
    let known = json!({"type": "entity", "name": "hub", "entityType": "thing", "observations": ["it connects"]});
    std::fs::write(&memory, format!("{known}\n")).unwrap();
    let memory = format!("env = {{ MEMORY_FILE_PATH = {memory:?} }}\n");
    let entries = [
        package("everything", &["stdio"]),
        package("filesystem", &[folder]),
        module("mcp_server_git", &["--repository", folder]),
        package("memory", &[]) + &memory,
        module("mcp_server_time", &[]),
    ];
    let mut text = format!("[agents.cto]\nservers = {SERVERS:?}\n");
    for (name, entry) in SERVERS.iter().zip(entries) {
        text.push_str(&format!("\n[servers.{name}]\n{entry}"));
    }
    context.with("switchboard.toml", &text)
}

fn run_git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
    assert!(git.args(arguments).status().unwrap().success());
}

/// A call of each server, and what is in its answer.
fn calls(context: &Context) -> [(&'static str, String, &'static str); 5] {
    let folder = context.work().join("repository");
    let file = json!({"path": folder.join("light.txt")}).to_string();
    let hours = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    [
        ("everything__echo", json!({"message": "over here"}).to_string(), "over here"),
        ("files__read_text_file", file, "first light"),
        ("git__git_log", json!({"repo_path": folder}).to_string(), "first light"),
        ("memory__search_nodes", json!({"query": "hub"}).to_string(), "it connects"),
        ("time__convert_time", hours.to_string(), "21:00:00+09:00"),
    ]
}

/// Runs the clients whose names are wanted; each calls another server than the one before.
fn check(is_wanted: impl Fn(&str) -> bool) {
    let context = machine();
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &SERVERS);
    let own = Client::stateless(&hub, "/mcp", &token);
    // It offers more when it has heard what its client can do.
    wait("all tools are there", || own.tools().iter().any(|tool| tool == ASK));
    let tools = own.tools();
    let calls = calls(&context);
    let streamable = CLIENTS.iter().map(|client| (client, "/mcp"));
    let clients = streamable.chain(SSE_CLIENTS.iter().map(|client| (client, "/mcp/sse")));
    let clients = clients.filter(|(client, _)| is_wanted(client.name));
    for ((client, path), (tool, arguments, words)) in clients.zip(calls.iter().cycle()) {
        let names = Names { tool, arguments, ask: ASK, uri: URI, prompt: PROMPT };
        let seen = client.see(&format!("http://{}{path}", hub.address), Some(&token), names);
        let name = client.name;
        assert_eq!(seen.tools, tools, "{name}");
        assert!(seen.call.contains(words), "{name} {tool}: {}", seen.call);
        assert_eq!(seen.revision, client.revision(), "{name}");
        good(name, &seen);
    }
}

#[track_caller]
fn good(name: &str, seen: &Seen) {
    assert!(seen.resources.contains(&URI.to_owned()), "{name}: {:?}", seen.resources);
    assert!(seen.prompts.contains(&PROMPT.to_owned()), "{name}: {:?}", seen.prompts);
    assert!(seen.read.contains("Architecture"), "{name}: {}", seen.read);
    assert!(seen.prompt.contains("simple prompt"), "{name}: {}", seen.prompt);
    let is_command = name.starts_with("fastmcp") || name.starts_with("inspector");
    assert_eq!(seen.asked.is_none(), is_command, "{name}");
    if let Some(asked) = &seen.asked {
        assert!(asked.contains("provided the requested information"), "{name}: {asked}");
    }
}

fn is_node(name: &str) -> bool {
    name.starts_with("npm") || name.starts_with("inspector")
}

#[test]
fn of_python() {
    check(|name| !is_node(name));
}

#[test]
fn of_node() {
    check(is_node);
}
