//! A call through the whole program, from a client's bytes to a server's process and back.

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};

/// A server that notes the calls it gets as they come, and answers with what lies in a file.
const MIRROR: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"mirror","version":"1"}}' ;;
    *'"method":"tools/list"'*) result='{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*) printf '%s\n' "$line" >> calls; result=$(cat answer) ;;
    *'"method":"ping"'*) result='{}' ;;
    *) result='' ;;
  esac
  if [ -n "$id" ] && [ -n "$result" ]; then
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
  elif [ -n "$id" ]; then
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id"
  fi
done
"#;

#[test]
fn what_is_nobodys_business_passes_byte_for_byte() {
    let odd = r#"{ "b":1.0,"a":9223372036854775809, "s":"\ud800 \u00e9 \/","é":[1e2,-0.0,1E+5],"b2":{} }"#;
    let answer = format!(
        r#"{{ "content":[{{"type":"text","text":"\udc00","x":{odd}}}],"z" : {odd},"structuredContent":{odd} }}"#
    );
    let context = Context::new().with("mirror.sh", MIRROR).with("answer", &answer).with(
        "switchboard.toml",
        "[servers.m]\ncommand = \"sh\"\nargs = [\"mirror.sh\"]\n[agents.cto]\nservers = [\"m\"]\n",
    );
    let work = context.work();
    let text =
        context.read("switchboard.toml").replace("[agents", &format!("cwd = {work:?}\n[agents"));
    context.write("switchboard.toml", &text);
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &["m"]);
    let params =
        |more: &str| format!(r#"{{"x-own" : 1.50,"arguments":{odd},"name":"m__say"{more}}}"#);
    let sent = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#)
    };
    let session = Client::session(&hub, "/mcp", &token).raw(&sent(&params("")), "");
    assert_eq!(session, format!(r#"{{"jsonrpc":"2.0","id":7,"result":{answer}}}"#));
    let about = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"mine":1.0}"#;
    let headers =
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: m__say\r\n";
    let stateless = Client::stateless(&hub, "/mcp", &token).raw(&sent(&params(about)), headers);
    // That era's own members follow what the server said.
    let said = answer.trim_end_matches(" }");
    assert!(stateless.contains(said), "{stateless}");
    let calls = context.read("calls");
    let calls: Vec<&str> = calls.lines().collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    for call in &calls {
        let same = format!(r#""params":{{"x-own" : 1.50,"arguments":{odd},"name":"say""#);
        assert!(call.contains(&same), "{call}");
    }
    assert!(calls[1].contains(r#""mine":1.0"#), "{calls:?}");
}

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
