//! Nebo's requests to create an integration, as entries of our own file.

use switchboard_config::Dialect;
use switchboard_model::{Auth, HttpKind, SecretTemplate};

use crate::support::{http, read_fixture, stdio, template, with};

#[test]
fn the_requests() {
    let read = read_fixture("origins/nebo/switchboard.toml");
    assert_eq!(read.dialects, [Some(Dialect::Native)]);
    let custom = http("custom", HttpKind::Streamable, "http://localhost:3001/mcp");
    let package = "@modelcontextprotocol/server-filesystem";
    let files = stdio("files", "npx", &["-y", package, "/Users/me/docs"]);
    let plain = http("http", HttpKind::Streamable, "http://localhost:8080/mcp");
    let mut keyed = http("keyed", HttpKind::Streamable, "https://mcp.notion.com/mcp");
    keyed.auth = Auth::Bearer { token: Some(SecretTemplate::new(template("${NOTION_TOKEN}"))) };
    let legacy = http("legacy", HttpKind::Sse, "http://localhost:8080/sse");
    let notion = with(
        stdio("notion", "npx", &["@modelcontextprotocol/server-notion"]),
        &[("NOTION_API_KEY", "${NOTION_API_KEY}")],
    );
    let placeholder = stdio("placeholder", "npx", &[package, "/path"]);
    let mut signed_in = http("signed-in", HttpKind::Streamable, "https://mcp.linear.app/mcp");
    signed_in.auth = Auth::OAuth { scopes: Vec::new(), client_id: None, client_secret: None };
    let split = stdio("split", "npx", &["-y", package, "/Users/me/docs"]);
    let expected = [custom, files, plain, keyed, legacy, notion, placeholder, signed_in, split];
    assert_eq!(read.servers(), expected);
    assert_eq!(read.codes(), [""; 0]);
}

#[test]
fn the_words_for_the_transports() {
    let read = read_fixture("origins/nebo/switchboard.toml");
    let word = |name| read.server(name).transport.as_str();
    assert_eq!([word("notion"), word("custom"), word("legacy")], ["stdio", "http", "sse"]);
}
