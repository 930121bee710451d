//! A call through the whole program: what is too long, what is told of, and what things are called.

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};

/// A server that may say a hundred bytes, and an agent who may use it.
fn short() -> Context {
    let text = format!(
        "{}max_output = 100\n[agents.cto]\nservers = [\"a\"]\n",
        entry("a", &Script::new())
    );
    Context::new().with("switchboard.toml", &text)
}

fn last_text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    blocks.last().unwrap()["text"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_too_long_is_cut_and_can_be_read_to_its_end() {
    let context = short();
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let client = Client::stateless(&hub, "/mcp", &token);
    let cut = client.call("a__big", json!({"bytes": 60_000}));
    assert_eq!(cut["content"][0]["text"], "x".repeat(100), "{cut}");
    let note = last_text(&cut);
    let id = note.split_once(r#""id":""#).unwrap().1.split_once('"').unwrap().0;
    let mut read = 100;
    for _ in 0..3 {
        let page = client.call("read_result", json!({"id": id, "offset": read}));
        read += page["content"][0]["text"].as_str().unwrap().len();
    }
    assert_eq!(read, 60_000);
    let uri = format!("switchboard://results/{id}");
    let whole = client.ask("resources/read", json!({"uri": uri}));
    let whole = whole["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(whole, "x".repeat(60_000));
    let families = client.ask("resources/templates/list", json!({}));
    let families = families["result"]["resourceTemplates"].as_array().unwrap();
    let ours = |family: &&Value| family["uriTemplate"] == "switchboard://results/{id}";
    assert_eq!(families.iter().filter(ours).count(), 1, "{families:?}");

    // At the server's own door nothing is named that is not there.
    let door = Client::stateless(&hub, "/mcp/servers/a", &token);
    let note = last_text(&door.call("big", json!({"bytes": 1_000})));
    assert!(!note.contains("read_result"), "{note}");
    let uri = note.split_once("read the resource ").unwrap().1.split_once(' ').unwrap().0;
    let rest = door.ask("resources/read", json!({"uri": uri}));
    assert_eq!(rest["result"]["contents"][0]["text"], "x".repeat(900), "{rest}");

    // All of it is recorded, and so is what leads nowhere.
    let nowhere = client.ask("tools/call", json!({"name": "a__nothing"}));
    assert!(nowhere["error"].is_object(), "{nowhere}");
    wait("the calls are in the log", || {
        let rows = context.json(&["audit"]).to_string();
        ["read_result", "switchboard://results/{id}", "unknown"]
            .iter()
            .all(|name| rows.contains(name))
    });
}

/// There is no tool for it there: the resource is read page by page, in either era.
#[test]
fn at_a_servers_own_door_the_rest_is_read_in_pages() {
    let context = short();
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let stateless = Client::stateless(&hub, "/mcp/servers/a", &token);
    let clients =
        [("stateless", stateless.clone()), ("session", stateless.initialized("2025-11-25"))];
    for (era, client) in clients {
        assert!(!client.tools().contains(&"read_result".to_owned()), "{era}");
        let cut = client.call("big", json!({"bytes": 60_000}));
        let note = last_text(&cut);
        let next = note.split_once("read the resource ").unwrap().1.split_once(' ').unwrap().0;
        let (uri, from) = next.split_once("?offset=").unwrap();
        let read = |uri: &str| {
            let answer = client.ask("resources/read", json!({"uri": uri}));
            let page = &answer["result"]["contents"][0];
            assert_eq!(page["uri"], uri, "{era}: {answer}");
            page["text"].as_str().unwrap().to_owned()
        };
        let (mut text, mut pages) = (cut["content"][0]["text"].as_str().unwrap().to_owned(), 0);
        assert_eq!(text.len().to_string(), from, "{era}");
        loop {
            let page = read(&format!("{uri}?offset={}", text.len()));
            if page.is_empty() {
                break;
            }
            text.push_str(&page);
            pages += 1;
        }
        assert_eq!(text, "x".repeat(60_000), "{era}");
        assert!(pages > 1, "{era}: it is not all on one page");
        assert_eq!(read(uri), text, "{era}");
    }
}

#[test]
fn health_is_told_of_the_servers_that_the_agent_may_use() {
    let text = format!(
        "{}\n[servers.other]\ncommand = \"/nowhere/other\"\n\
         [agents.cto]\nservers = [\"a\"]\n[agents.cto.own.mine]\ncommand = \"/nowhere/mine\"\n\
         [agents.dev]\nservers = [\"a\", \"other\"]\n",
        entry("a", &Script::new()),
    );
    let context = Context::new().with("switchboard.toml", &text);
    let (cto, dev) = (token(&context, "cto").0, token(&context, "dev").0);
    let hub = Hub::start(&context);
    let names = |token: &str, tool: &str, list: &str| -> Vec<String> {
        let said = Client::stateless(&hub, "/mcp", token).call(tool, json!({}));
        let rows = said["structuredContent"][list].as_array().cloned().unwrap_or_default();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    for (tool, list) in [("system_health_check", "mcps"), ("get_status", "servers")] {
        wait("the agent sees its own broken server, and no other", || {
            names(&cto, tool, list) == ["a", "mine"] && names(&dev, tool, list) == ["a", "other"]
        });
    }
}

#[test]
fn names_are_what_the_file_says() {
    let text = format!(
        "[hub]\nmcp_names = \"{{server}}_{{tool}}\"\nmodel_names = \"bare\"\n{}[agents.cto]\nservers = [\"a\"]\n",
        entry("a", &Script::new())
    );
    let context = Context::new().with("switchboard.toml", &text);
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let client = Client::session(&hub, "/mcp", &token);
    assert!(client.tools().contains(&"a_echo".to_owned()));
    let said = client.call("a_echo", json!({"text": "x"}));
    assert_eq!(said["content"][0]["text"], "x");
    let listed = hub.rest("GET", "/api/v1/tools?limit=500", &token, None);
    assert!(listed.body.to_string().contains(r#""name":"echo""#), "{}", listed.body);
}

/// Names that change under an agent at work would be names that do not work: it is said that they do not.
#[test]
fn other_names_count_from_the_next_start_and_that_is_said() {
    let servers = format!("{}[agents.cto]\nservers = [\"a\"]\n", entry("a", &Script::new()));
    let bare = format!("[hub]\nmcp_names = \"bare\"\n{servers}");
    let context = Context::new().with("switchboard.toml", &servers);
    let (token, _) = token(&context, "cto");
    let log = context.work().join("log");
    let hub = Hub::start_logging(&context, &log);
    connected(&context, &["a"]);
    let said = "`hub.mcp_names` has changed, and counts from the next start";
    let warns = || context.json(&["status"])["problems"].to_string().contains(said);
    assert!(!warns());
    context.write("switchboard.toml", &bare);
    wait("it is told by the status", warns);
    wait("it is told in the log", || std::fs::read_to_string(&log).unwrap().contains(said));
    assert!(Client::session(&hub, "/mcp", &token).tools().contains(&"a__echo".to_owned()));
    context.write("switchboard.toml", &servers);
    wait("what is taken back is no problem", || !warns());
    context.write("switchboard.toml", &bare);
    hub.stop();
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    assert!(!warns());
    assert!(Client::session(&hub, "/mcp", &token).tools().contains(&"echo".to_owned()));
}
