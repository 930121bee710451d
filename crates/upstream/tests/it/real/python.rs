//! Servers from PyPI.

use std::path::Path;
use std::process::Command;

use switchboard_model::{SecretTemplate, ServerSpec, Template, Transport};
use switchboard_testkit::Tools;

use super::page::Page;
use super::{Offers, check, stdio};

fn module(environment: &str, name: &str, arguments: &[&str]) -> ServerSpec {
    let python = Tools::find().python(environment);
    stdio(&python, &[&["-m", name][..], arguments].concat())
}

const CONVERT: &str = r#"{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}"#;

#[tokio::test]
async fn time() {
    let offers = Offers { revision: "2026-07-28", counts: [2, 0, 0, 0] };
    let server = module("servers", "mcp_server_time", &[]);
    check(server, offers, &[("convert_time", CONVERT.to_owned(), "21:00:00+09:00")]).await;
}

/// It speaks nothing newer, and falls silent for ever when it is asked in a newer way.
#[tokio::test]
async fn time_of_2024() {
    let offers = Offers { revision: "2024-11-05", counts: [2, 0, 0, 0] };
    let server = module("time-2024", "mcp_server_time", &[]);
    check(server, offers, &[("convert_time", CONVERT.to_owned(), "21:00:00+09:00")]).await;
}

#[tokio::test]
async fn git() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    run_git(folder.path(), &["init", "--quiet"]);
    std::fs::write(folder.path().join("a.txt"), "a").unwrap();
    run_git(folder.path(), &["add", "a.txt"]);
    run_git(folder.path(), &["commit", "--quiet", "--message", "first light"]);
    std::fs::write(folder.path().join("b.txt"), "b").unwrap();
    let offers = Offers { revision: "2026-07-28", counts: [12, 0, 0, 0] };
    let repository = format!(r#"{{"repo_path":"{path}"}}"#);
    check(
        module("servers", "mcp_server_git", &["--repository", path]),
        offers,
        &[("git_log", repository.clone(), "first light"), ("git_status", repository, "b.txt")],
    )
    .await;
}

fn run_git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
    assert!(git.args(arguments).status().unwrap().success());
}

#[tokio::test]
async fn fetch() {
    let page = Page::start().await;
    let mut server = module("servers", "mcp_server_fetch", &["--allow-private-ips"]);
    if let Transport::Stdio(stdio) = &mut server.transport {
        // Where it finds Node, it wants to install packages for it first.
        stdio.env.insert("PATH".to_owned(), SecretTemplate::new(Template::literal("/nowhere")));
    }
    let offers = Offers { revision: "2026-07-28", counts: [1, 0, 0, 1] };
    let public = format!(r#"{{"url":"{}"}}"#, page.url);
    let private = format!(r#"{{"url":"{}private"}}"#, page.url);
    check(
        server,
        offers,
        &[("fetch", public, "Words on loopback"), ("fetch", private, "robots.txt")],
    )
    .await;
}

#[tokio::test]
async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let offers = Offers { revision: "2025-11-25", counts: [6, 1, 0, 1] };
    let query = |sql: &str| format!(r#"{{"query":"{sql}"}}"#);
    let program = Tools::find().python("sqlite").with_file_name("mcp-server-sqlite");
    check(
        stdio(&program, &["--db-path", file.to_str().unwrap()]),
        offers,
        &[
            ("create_table", query("CREATE TABLE hubs (name TEXT)"), "created"),
            ("write_query", query("INSERT INTO hubs VALUES ('switchboard')"), "1"),
            ("read_query", query("SELECT name FROM hubs"), "switchboard"),
        ],
    )
    .await;
}
