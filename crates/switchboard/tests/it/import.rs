//! `import`: other programs' servers, with a dry run and a diff.

use insta::assert_snapshot;

use crate::context::Context;

const CURSOR: &str = r#"{
  // Cursor allows comments
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${userHome}/docs"]},
    "remote": {"url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
    "secret": {"command": "srv", "env": {"API_KEY": "hunter2-canary"}},
    "switchboard": {"url": "http://127.0.0.1:8010/mcp"},
    "broken": {"args": ["x"]}
  }
}"#;

#[test]
fn a_client_by_name() {
    let context = Context::new();
    context.write_at(&context.home().join(".cursor/mcp.json"), CURSOR);
    let dry = context.ok(&["import", "cursor", "--dry-run"]);
    assert!(!(dry.out + &dry.err).contains("canary"));
    assert!(!context.work().join("switchboard.toml").exists(), "a dry run writes nothing");
    let ran = context.ok(&["import", "cursor"]);
    assert_snapshot!("cursor_diff", ran.out);
    assert_snapshot!("cursor_file", context.read("switchboard.toml"));
    // A second time there is nothing to do.
    let again = context.json(&["import", "cursor"]);
    assert_eq!(again["added"], serde_json::json!([]));
    assert_eq!(again["unchanged"], serde_json::json!(["files", "remote", "secret"]));
}

#[test]
fn a_file_only_some_and_what_differs() {
    let context = Context::new()
        .with("switchboard.toml", "# mine\n[servers.files]\ncommand = \"other\" # keep?\n")
        .with("theirs.json", CURSOR);
    let report = context.json(&["import", "theirs.json", "--only", "files", "--only", "remote"]);
    assert_eq!(report["added"], serde_json::json!(["remote"]));
    assert_eq!(report["differing"], serde_json::json!(["files"]));
    let report = context.json(&["import", "theirs.json", "--only", "files", "--replace"]);
    assert_eq!(report["replaced"], serde_json::json!(["files"]));
    let text = context.read("switchboard.toml");
    assert!(text.starts_with("# mine\n") && text.contains("${HOME}/docs"), "{text}");
}

#[test]
fn the_origins_files_bring_their_agents() {
    let context = Context::new();
    context.write("theirs/aicib.config.yaml", "integrations:\n  servers:\n    db: {command: db, args: []}\n  per_agent:\n    cto: [db, github]\n");
    context.write("theirs/config.toml", "[[defaults.mcp]]\nname = \"fs\"\ntransport = \"stdio\"\ncommand = \"fs\"\n\n[[agents]]\nid = \"main\"\n[[agents.mcp]]\nname = \"pg\"\ntransport = \"stdio\"\ncommand = \"pg\"\n");
    context.ok(&["import", "theirs/aicib.config.yaml"]);
    context.ok(&["import", "theirs/config.toml"]);
    assert_snapshot!("origins_file", context.read("switchboard.toml"));
}

#[test]
fn the_name_of_an_internal_server_is_left_out() {
    let theirs = r#"{"mcpServers": {"switchboard": {"command": "x"}, "b": {"command": "y"}}}"#;
    let context = Context::new().with("theirs.json", theirs);
    let report = context.json(&["import", "theirs.json"]);
    assert_eq!(report["added"], serde_json::json!(["b"]));
    assert_eq!(report["problems"][0]["code"], "reserved-name", "{report}");
    assert!(!context.read("switchboard.toml").contains("servers.switchboard"));
}
