//! Clients that people use, which start `switchboard mcp`: at a hub that runs, and with none.

use std::collections::BTreeMap;
use std::path::PathBuf;

use switchboard_testkit::Tools;
use switchboard_testkit::clients::{Client as Outsider, Names, STDIO_CLIENTS, Seen, Start};

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, wait};
use crate::rest::person;

const NAMES: Names<'static> = Names {
    tool: "everything__echo",
    arguments: r#"{"message":"over here"}"#,
    ask: "everything__trigger-elicitation-request",
    uri: "mcp://everything/demo://resource/static/document/architecture.md",
    prompt: "everything__simple-prompt",
};

/// A machine on which one server is declared.
fn machine() -> Context {
    let tools = Tools::find();
    let file = tools.package("@modelcontextprotocol/server-everything/dist/index.js");
    let text = format!(
        "[servers.everything]\ncommand = {:?}\nargs = [{file:?}, \"stdio\"]\n\n\
         [agents.cto]\nservers = [\"everything\"]\n",
        tools.node(),
    );
    Context::new().with("switchboard.toml", &text)
}

/// Our program, as a client's configuration names it.
fn start(context: &Context) -> Start {
    let home = context.home().to_str().unwrap().to_owned();
    Start {
        command: PathBuf::from(env!("CARGO_BIN_EXE_switchboard")),
        args: ["mcp", "--agent", "cto"].map(str::to_owned).into(),
        cwd: context.work(),
        env: BTreeMap::from([("HOME".to_owned(), home)]),
    }
}

#[track_caller]
fn good(client: &Outsider, seen: &Seen) {
    let name = client.name;
    assert_eq!(seen.revision, client.revision(), "{name}");
    for tool in [NAMES.tool, "system_health_check"] {
        assert!(seen.tools.contains(&tool.to_owned()), "{name}: {:?}", seen.tools);
    }
    assert!(seen.resources.contains(&NAMES.uri.to_owned()), "{name}: {:?}", seen.resources);
    assert!(seen.prompts.contains(&NAMES.prompt.to_owned()), "{name}: {:?}", seen.prompts);
    assert!(seen.call.contains("over here"), "{name}: {}", seen.call);
    assert!(seen.read.contains("Architecture"), "{name}: {}", seen.read);
    assert!(seen.prompt.contains("simple prompt"), "{name}: {}", seen.prompt);
    assert_eq!(seen.asked.is_none(), name.starts_with("inspector"), "{name}");
    if let Some(asked) = &seen.asked {
        assert!(asked.contains("provided the requested information"), "{name}: {asked}");
    }
}

/// How many calls of the tool this hub has made itself; a second one would share its store.
fn calls(hub: &Hub, admin: &str) -> usize {
    let text = hub.rest("GET", "/metrics", admin, None).text;
    let sample =
        r#"switchboard_calls_total{server="global:everything",tool="echo",outcome="done"} "#;
    let count = text.lines().find_map(|line| line.strip_prefix(sample));
    count.map_or(0, |count| count.parse().unwrap())
}

#[test]
fn at_a_hub_that_runs() {
    let context = machine();
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &["everything"]);
    let own = Client::stateless(&hub, "/mcp", &token);
    // It offers more when it has heard what its client can do.
    wait("all tools are there", || own.tools().iter().any(|tool| tool == NAMES.ask));
    let admin = person(&context, "admin");
    for (made, client) in STDIO_CLIENTS.iter().enumerate() {
        let seen = client.see_started(&start(&context), NAMES);
        good(client, &seen);
        wait(&format!("{}: the running hub made the call", client.name), || {
            calls(&hub, &admin) == made + 1
        });
    }
}

#[test]
fn with_a_hub_inside() {
    for client in STDIO_CLIENTS {
        let context = machine();
        let seen = client.see_started(&start(&context), NAMES);
        good(client, &seen);
        wait("the hub inside went with its client", || {
            context.run(&["status", "--json"]).out.contains("\"running\": false")
        });
    }
}
