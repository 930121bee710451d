//! Every client's own file, as its users have it, and the servers it must become.

use std::path::Path;
use std::time::Duration;

use switchboard_config::parse::Context;
use switchboard_config::{Client, Dialect, Places, clients};
use switchboard_model::HttpKind::{Sse, Streamable};
use switchboard_model::{Auth, Pattern, SecretTemplate, ServerSpec, Transport};

use crate::support::{fixture, fixture_text, http, read_as, stdio, template, with};

/// Reads a client's fixture and compares; problems are given as their codes.
fn check(path: &str, dialect: Dialect, expected: &[ServerSpec], problems: &[&str]) {
    let path = format!("clients/{path}");
    // The path under which it is read decides about workspaces; the fixtures lie in `/fixtures`.
    let read = read_as(
        &[(&format!("/fixtures/{path}"), &fixture_text(&path))],
        &Context {
            own: &[([127, 0, 0, 1], 8010).into()],
            project: Some(Path::new("/p/demo")),
            ..Context::default()
        },
    );
    assert_eq!(read.dialects, [Some(dialect)], "{path}");
    assert_eq!(read.codes(), problems, "{path}: {:?}", read.problems);
    let mut expected = expected.to_vec();
    expected.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(read.servers(), expected, "{path}");
}

fn off(spec: ServerSpec) -> ServerSpec {
    ServerSpec { enabled: false, ..spec }
}

fn call(mut spec: ServerSpec, millis: u64) -> ServerSpec {
    spec.timing.call = Duration::from_millis(millis);
    spec
}

fn connect(mut spec: ServerSpec, millis: u64) -> ServerSpec {
    spec.timing.connect = Duration::from_millis(millis);
    spec
}

fn tools(mut spec: ServerSpec, allow: &[&str], deny: &[&str]) -> ServerSpec {
    let globs = |texts: &[&str]| texts.iter().map(|t| Pattern::parse(t).expect("a glob")).collect();
    (spec.tools.allow, spec.tools.deny) = (globs(allow), globs(deny));
    spec
}

fn within(mut spec: ServerSpec, cwd: &str) -> ServerSpec {
    if let Transport::Stdio(stdio) = &mut spec.transport {
        stdio.cwd = Some(template(cwd));
    }
    spec
}

fn bearer(token: &str) -> Auth {
    Auth::Bearer { token: Some(SecretTemplate::new(template(token))) }
}

#[test]
fn claude() {
    let files = stdio(
        "filesystem",
        "npx",
        &["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"],
    );
    let brave = stdio("Brave Search", "npx", &["-y", "@modelcontextprotocol/server-brave-search"]);
    let brave = with(brave, &[("BRAVE_API_KEY", "${BRAVE_API_KEY}")]);
    check("claude-desktop/claude_desktop_config.json", Dialect::McpServers, &[files, brave], &[]);

    let sentry = http("sentry", Streamable, "https://mcp.sentry.dev/mcp");
    check(
        "claude-code/.claude.json",
        Dialect::McpServers,
        &[
            with(sentry, &[("authorization", "Bearer ${SENTRY_TOKEN:-none}")]),
            http("old", Sse, "https://old.example.com/sse"),
            // The project's own comes before everybody's, and its switch counts.
            stdio("local", "of-the-project", &[]),
            off(stdio("db", "db-mcp", &[])),
        ],
        // Our own endpoint, and another project's servers.
        &["warning own-endpoint", "warning unsupported"],
    );
}

#[test]
fn editors() {
    let files =
        stdio("files", "npx", &["-y", "files-mcp", "/fixtures/clients/cursor", "${HOME}/docs"]);
    check(
        "cursor/.cursor/mcp.json",
        Dialect::McpServers,
        &[
            with(files, &[("TOKEN", "${MY_TOKEN}")]),
            stdio("line", "npx", &["-y", "one-line-mcp", "--flag"]),
            with(http("remote", Streamable, "https://mcp.example.com/mcp"), &[("x-key", "${KEY}")]),
        ],
        &[],
    );

    let perplexity = with(
        stdio("perplexity", "npx", &["-y", "server-perplexity-ask"]),
        &[("PERPLEXITY_API_KEY", "${PERPLEXITY_KEY}"), ("PORT", "8080")],
    );
    check(
        "vscode/demo/.vscode/mcp.json",
        Dialect::VsCode,
        &[
            within(perplexity, "/fixtures/clients/vscode/demo/tools"),
            http("github", Streamable, "https://api.githubcopilot.com/mcp/"),
        ],
        &[],
    );

    let remote = http("remote", Streamable, "https://mcp.example.com/sse");
    check(
        "windsurf/mcp_config.json",
        Dialect::McpServers,
        &[
            with(remote, &[("authorization", "Bearer ${AUTH}")]),
            off(tools(stdio("local", "npx", &["-y", "pkg"]), &[], &["rm_rf"])),
        ],
        &[],
    );

    let remote = http("remote", Streamable, "https://mcp.example.com/mcp");
    check(
        "zed/settings.json",
        Dialect::Zed,
        &[
            with(stdio("nested", "node", &["server.js"]), &[("A", "1")]),
            call(stdio("flat", "flat-mcp", &["--x"]), 90_000),
            off(with(remote, &[("authorization", "Bearer abc")])),
        ],
        &[],
    );
}

#[test]
fn command_line_agents() {
    let picky = with(
        http("picky", Streamable, "https://x.example.com/mcp"),
        &[("authorization", "Bearer ${TOKEN}")],
    );
    check(
        "copilot/mcp-config.json",
        Dialect::McpServers,
        &[
            stdio("playwright", "npx", &["@playwright/mcp@latest"]),
            call(tools(picky, &["search", "get_page"], &[]), 5_000),
        ],
        &[],
    );

    let docs = with(
        stdio("docs", "npx", &["-y", "docs-mcp"]),
        &[("LEVEL", "info"), ("HOME_TOKEN", "${HOME_TOKEN:-}"), ("OTHER", "${OTHER:-}")],
    );
    let figma = with(
        http("figma", Streamable, "https://mcp.figma.com/mcp"),
        &[("x-figma-region", "us-east-1"), ("x-user", "${FIGMA_USER}")],
    );
    check(
        "codex/config.toml",
        Dialect::Codex,
        &[
            connect(call(tools(docs, &["search", "open"], &["delete"]), 45_500), 20_000),
            off(ServerSpec { auth: bearer("${FIGMA_TOKEN}"), ..figma }),
        ],
        &[],
    );

    let streamable = http("streamable", Streamable, "https://a.example.com/mcp");
    let python = within(stdio("python", "python", &["-m", "srv", "${PORT:-80}"]), "./srv");
    check(
        "gemini/.gemini/settings.json",
        Dialect::McpServers,
        &[
            with(streamable, &[("authorization", "Bearer ${TOKEN}")]),
            http("plain", Streamable, "https://b.example.com/mcp"),
            call(tools(python, &["safe", "other"], &["danger"]), 15_000),
            off(stdio("off", "off", &[])),
        ],
        &[],
    );
}

#[test]
fn the_other_shapes() {
    let github = ServerSpec {
        description: Some("GitHub".into()),
        ..stdio("github", "npx", &["-y", "@modelcontextprotocol/server-github"])
    };
    let github = with(github, &[("HOST", "github.com"), ("GITHUB_TOKEN", "${GITHUB_TOKEN}")]);
    let remote = |name, auth| with(http(name, Streamable, "https://mcp.example.com/mcp"), auth);
    check(
        "goose/config.yaml",
        Dialect::Goose,
        &[call(github, 300_000), off(remote("remote", &[("authorization", "Bearer ${TOKEN}")]))],
        &[],
    );

    let sqlite = with(
        stdio("SQLite", "npx", &["-y", "mcp-sqlite", "/path/to/db"]),
        &[("KEY", "${SQLITE_KEY}")],
    );
    let keyed = ServerSpec { auth: bearer("${REMOTE_KEY}"), ..remote("Remote", &[("x-a", "b")]) };
    check("continue/config.yaml", Dialect::Continue, &[connect(sqlite, 5_000), keyed], &[]);

    let local = with(stdio("local", "bun", &["x", "my-mcp"]), &[("K", "${MY_KEY}")]);
    let scopes = vec!["read".to_owned(), "write".to_owned()];
    let auth = Auth::OAuth { scopes, client_id: Some("abc".into()), client_secret: None };
    check(
        "opencode/opencode.json",
        Dialect::OpenCode,
        &[
            connect(local, 8_000),
            off(remote("remote", &[("authorization", "Bearer ${TOKEN}")])),
            ServerSpec { auth, ..http("auth", Streamable, "https://auth.example.com/mcp") },
        ],
        &[],
    );

    let hf = http("hf", Streamable, "https://huggingface.co/mcp");
    let hf = with(hf, &[("authorization", "Bearer ${HF_TOKEN}")]);
    check("lmstudio/mcp.json", Dialect::McpServers, &[hf], &[]);

    check(
        "cline/cline_mcp_settings.json",
        Dialect::McpServers,
        &[
            call(http("bare", Sse, "https://a.example.com/sse"), 30_000),
            http("streamable", Streamable, "https://b.example.com/mcp"),
            off(with(stdio("nested", "node", &["a.js"]), &[("A", "${B}")])),
        ],
        &[],
    );
}

/// Every client has a fixture here, and its file is looked for somewhere.
#[test]
fn every_client_is_here() {
    let home = Path::new("/home/me");
    let places = Places {
        cwd: "/p".into(),
        home: Some(home.into()),
        config: None,
        platform: Some(home.join(".config")),
        ..Places::default()
    };
    for client in clients::CLIENTS {
        assert!(fixture(&format!("clients/{}", client.id)).is_dir(), "{}", client.id);
        assert!(!client.files(&places, &|_| None).is_empty());
        assert_eq!(Client::find(client.id), Some(client));
    }
    let codex = Client::find("codex").unwrap();
    let files = codex.files(&places, &|name| (name == "CODEX_HOME").then(|| "/elsewhere".into()));
    assert_eq!(files, [Path::new("/p/.codex/config.toml"), Path::new("/elsewhere/config.toml")]);
}
