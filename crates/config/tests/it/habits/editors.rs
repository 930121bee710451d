//! Claude Code, Cursor, VS Code, Copilot and Zed.

use std::path::Path;

use switchboard_config::Dialect::{McpServers, VsCode, Zed};
use switchboard_model::HttpKind::{Sse, Streamable};
use switchboard_model::{Auth, SecretTemplate, ServerSpec};

use super::{calling, check, disabled, import, offering};
use crate::support::{http, stdio, template, with};

/// The user's own servers; those of projects come only with the project, whose own come first.
#[test]
fn claude_code() {
    let sentry = http("sentry", Streamable, "https://mcp.sentry.dev/mcp");
    check(
        "claude-code/.claude.json",
        McpServers,
        vec![sentry.clone(), stdio("files", "npx", &["files"])],
        &["warning unsupported", "warning unsupported"],
    );
    let read = import("claude-code/.claude.json", Some(Path::new("/home/me/shop")));
    let stripe = with(
        http("stripe", Sse, "https://mcp.stripe.com/sse"),
        &[("authorization", "Bearer ${STRIPE_KEY}")],
    );
    let expected = [stdio("files", "npx", &["shop-files"]), sentry, disabled(stripe)];
    assert_eq!(read.servers(), expected);
    assert_eq!(read.codes(), ["warning unsupported"], "the other project's");
}

#[test]
fn claude_code_in_a_project() {
    let api = with(
        http("api", Streamable, "${API_BASE_URL:-https://api.example.com}/mcp"),
        &[("authorization", "Bearer ${API_KEY}")],
    );
    let args = ["--mode", "${MODE:-fast}", "$NOT_EXPANDED"];
    let tools = stdio("tools", "${CLAUDE_PROJECT_DIR}/bin/tools", &args);
    check(
        "claude-code/project/.mcp.json",
        McpServers,
        vec![calling(api, 120.0), with(tools, &[("TOKEN", "${TOKEN}")])],
        &[],
    );
}

#[test]
fn cursor() {
    let args = ["--root", "/home/me/cursor/data", "--name", "cursor"];
    let local = with(stdio("local", "${HOME}/bin/server", &args), &[("API_KEY", "${API_KEY}")]);
    let remote = with(
        http("remote", Streamable, "https://api.example.com/mcp"),
        &[("authorization", "Bearer ${MY_SERVICE_TOKEN}")],
    );
    let auth = Auth::OAuth {
        scopes: vec!["read".into(), "write".into()],
        client_id: Some("${env:MCP_CLIENT_ID}".into()),
        client_secret: Some(SecretTemplate::new(template("${MCP_CLIENT_SECRET}"))),
    };
    let oauth = ServerSpec { auth, ..http("oauth", Streamable, "https://api.example.com/oauth") };
    let path = "cursor/.cursor/mcp.json";
    check(path, McpServers, vec![local, remote, oauth], &["warning unsupported"; 2]);
}

/// Older settings have the servers one level down.
#[test]
fn vscode_of_old() {
    let fetch = stdio("fetch", "uvx", &["mcp-server-fetch"]);
    check("vscode-settings/settings.json", VsCode, vec![fetch], &[]);
}

#[test]
fn copilot() {
    let playwright = with(
        stdio("playwright", "npx", &["@playwright/mcp@latest"]),
        &[("TOKEN", "${PLAYWRIGHT_TOKEN}"), ("MODE", "${MODE:-fast}")],
    );
    let notion = with(
        http("notion", Streamable, "https://mcp.notion.com/mcp"),
        &[("authorization", "Bearer ${NOTION_TOKEN}")],
    );
    check(
        "copilot/mcp-config.json",
        McpServers,
        vec![
            calling(playwright, 30.0),
            offering(notion, &["search", "fetch"], &[]),
            // An empty list is none of them, not all.
            offering(http("nothing", Sse, "https://example.com/sse"), &[], &["*"]),
        ],
        &[],
    );
}

/// A project's file may be the map itself.
#[test]
fn copilot_in_a_project() {
    check(
        "copilot/project/.mcp.json",
        McpServers,
        vec![
            http("context7", Streamable, "https://mcp.context7.com/mcp"),
            stdio("local", "node", &["server.js"]),
        ],
        &[],
    );
}

/// The shapes that its settings had before.
#[test]
fn zed_of_old() {
    check(
        "zed/older/settings.json",
        Zed,
        vec![
            with(stdio("first", "node", &["server.js"]), &[("A", "1")]),
            stdio("second", "node", &[]),
            stdio("third", "node", &["x"]),
        ],
        &[],
    );
}
