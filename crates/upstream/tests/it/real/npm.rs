//! Servers from the npm registry.

use switchboard_model::{SecretTemplate, ServerSpec, Template, Transport};
use switchboard_testkit::Tools;

use super::page::Page;
use super::{Offers, check, stdio};

const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";

fn package(file: &str, arguments: &[&str]) -> ServerSpec {
    let tools = Tools::find();
    let script = tools.package(file);
    let script = [script.to_str().unwrap()];
    stdio(&tools.node(), &[&script[..], arguments].concat())
}

fn with_variable(mut spec: ServerSpec, name: &str, value: &str) -> ServerSpec {
    if let Transport::Stdio(stdio) = &mut spec.transport {
        stdio.env.insert(name.to_owned(), SecretTemplate::new(Template::literal(value)));
    }
    spec
}

#[tokio::test]
async fn everything() {
    let offers = Offers { revision: "2025-11-25", counts: [17, 7, 2, 4] };
    check(
        package(EVERYTHING, &["stdio"]),
        offers,
        &[
            ("echo", r#"{"message":"grüß Gott"}"#.to_owned(), "Echo: grüß Gott"),
            ("get-sum", r#"{"a":40,"b":2}"#.to_owned(), "42"),
        ],
    )
    .await;
}

/// It speaks nothing newer, and does not end when its input does.
#[tokio::test]
async fn everything_of_2024() {
    let offers = Offers { revision: "2024-11-05", counts: [5, 100, 1, 2] };
    check(
        package("server-everything-2024/dist/index.js", &[]),
        offers,
        &[("echo", r#"{"message":"hello"}"#.to_owned(), "Echo: hello")],
    )
    .await;
}

fn filesystem_calls(folder: &std::path::Path) -> [(&'static str, String, &'static str); 2] {
    let file = folder.join("note.txt");
    [
        (
            "write_file",
            format!(r#"{{"path":"{}","content":"first light"}}"#, file.display()),
            "wrote",
        ),
        ("read_text_file", format!(r#"{{"path":"{}"}}"#, file.display()), "first light"),
    ]
}

#[tokio::test]
async fn filesystem() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let server = package(
        "@modelcontextprotocol/server-filesystem/dist/index.js",
        &[folder.to_str().unwrap()],
    );
    let offers = Offers { revision: "2025-11-25", counts: [14, 0, 0, 0] };
    check(server, offers, &filesystem_calls(&folder)).await;
}

/// As most people start it. Between the hub and the server are then two more processes.
#[tokio::test]
async fn filesystem_behind_npx() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let arguments = ["--no-install", "mcp-server-filesystem", folder.to_str().unwrap()];
    let mut server = stdio("npx".as_ref(), &arguments);
    if let Transport::Stdio(stdio) = &mut server.transport {
        stdio.cwd = Some(Template::literal(Tools::find().npm().to_str().unwrap()));
    }
    let offers = Offers { revision: "2025-11-25", counts: [14, 0, 0, 0] };
    check(server, offers, &filesystem_calls(&folder)).await;
}

#[tokio::test]
async fn memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.jsonl");
    let server = package("@modelcontextprotocol/server-memory/dist/index.js", &[]);
    let server = with_variable(server, "MEMORY_FILE_PATH", file.to_str().unwrap());
    let entity =
        r#"{"entities":[{"name":"hub","entityType":"thing","observations":["it connects"]}]}"#;
    let offers = Offers { revision: "2025-11-25", counts: [9, 1, 0, 0] };
    check(
        server,
        offers,
        &[
            ("create_entities", entity.to_owned(), "it connects"),
            ("search_nodes", r#"{"query":"connects"}"#.to_owned(), "hub"),
        ],
    )
    .await;
}

/// The browser is left open: what a server has started ends with it.
#[tokio::test]
async fn playwright() {
    let page = Page::start().await;
    let chromium = Tools::find().chromium();
    let server = package(
        "@playwright/mcp/cli.js",
        &[
            "--headless",
            "--no-sandbox",
            "--isolated",
            "--executable-path",
            chromium.to_str().unwrap(),
        ],
    );
    let offers = Offers { revision: "2025-11-25", counts: [25, 0, 0, 0] };
    let open = format!(r#"{{"url":"{}"}}"#, page.url);
    check(server, offers, &[("browser_navigate", open, "A page on loopback")]).await;
}

/// What it answers needs the internet; without, it is an answer that says so.
#[tokio::test]
async fn context7() {
    let server = package("@upstash/context7-mcp/dist/index.js", &[]);
    let offers = Offers { revision: "2026-07-28", counts: [2, 0, 0, 0] };
    let ask = r#"{"libraryName":"tokio","query":"how to sleep"}"#.to_owned();
    check(server, offers, &[("resolve-library-id", ask, "")]).await;
}
