//! Several files at once: which are loaded, which counts, and what is not ours to load.

use std::sync::Arc;

use switchboard_config::{Dialect, Loaded, Loader, Places, Selection};
use switchboard_testkit::{ManualClock, Scratch};

use crate::support::{read, render};

/// Loads whatever is found in a working directory, a configuration directory and a home.
fn search(scratch: &Scratch) -> Loaded {
    let places = Places {
        cwd: scratch.path().join("work"),
        home: Some(scratch.path().join("home")),
        config: Some(scratch.path().join("config")),
        ..Places::default()
    };
    Loader::new(Selection::Search(places), Arc::new(ManualClock::new())).load()
}

const NATIVE: &str = "[servers.a]\ncommand = 'native'\n";
const ANNABELLE: &str = r#"{"a": {"command": "annabelle"}, "b": {"command": "annabelle"}}"#;
const SPACEBOT: &str = "[[defaults.mcp]]\nname = 'b'\ntransport = 'stdio'\ncommand = 'spacebot'\n";

#[test]
fn native_over_dialects_with_a_warning_that_names_both() {
    for files in [
        [("external-mcps.json", ANNABELLE), ("switchboard.toml", NATIVE)],
        [("switchboard.toml", NATIVE), ("external-mcps.json", ANNABELLE)],
    ] {
        let read = read(&files);
        assert_eq!(read.server("a").target(), "native");
        assert_eq!(read.server("b").target(), "annabelle");
        assert_eq!(read.codes(), ["warning conflict"]);
        let shown = render(&read.problems[0]);
        assert!(shown.contains("in switchboard.toml and in external-mcps.json"), "{shown}");
        assert!(shown.contains("that of switchboard.toml counts"), "{shown}");
    }
}

#[test]
fn the_working_directory_over_the_users() {
    let scratch = Scratch::new();
    scratch.write("work/switchboard.toml", "[servers.a]\ncommand = 'near'\n");
    scratch.write("config/switchboard.yaml", "servers: {a: {command: far}, c: {command: far}}\n");
    scratch.write("work/external-mcps.json", ANNABELLE);
    scratch.write("config/config.toml", SPACEBOT);
    let loaded = search(&scratch);
    let found: Vec<(String, String)> =
        loaded.desired.servers.iter().map(|(key, spec)| (key.to_string(), spec.target())).collect();
    let expected = [("a", "near"), ("b", "annabelle"), ("c", "far")];
    assert_eq!(found, expected.map(|(name, target)| (name.to_owned(), target.to_owned())));
    let dialects: Vec<_> = loaded.files.iter().filter_map(|file| file.dialect).collect();
    use Dialect::{Annabelle, Native, Spacebot};
    assert_eq!(dialects, [Native, Native, Annabelle, Spacebot]);
    let codes: Vec<&str> = loaded.problems.iter().map(|p| p.code.as_str()).collect();
    assert_eq!(codes, ["conflict"; 3], "{:?}", loaded.problems);
}

/// `config.toml` is a common name: without Spacebot's shape it is somebody else's.
#[test]
fn another_programs_config_toml_is_left_alone() {
    for text in ["[build]\njobs = 4\n", "this is not TOML at all", "[servers.x]\nhost = 'y'\n", ""]
    {
        let scratch = Scratch::new();
        scratch.write("work/config.toml", text);
        let loaded = search(&scratch);
        assert_eq!(loaded.problems, [], "{text}");
        assert_eq!(loaded.files, [], "{text}");
    }
    let scratch = Scratch::new();
    scratch.write("work/config.toml", SPACEBOT);
    assert_eq!(search(&scratch).desired.servers.len(), 1);
}

#[test]
fn other_clients_files_are_not_looked_for() {
    let scratch = Scratch::new();
    for file in [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"] {
        let text = r#"{"mcpServers": {"x": {"command": "x"}}, "servers": {"x": {"command": "x"}}}"#;
        scratch.write(&format!("work/{file}"), text);
        scratch.write(&format!("home/{file}"), text);
    }
    assert_eq!(search(&scratch).files, []);
}

#[test]
fn the_name_of_an_internal_server_is_skipped_with_a_warning() {
    let files = [
        ("switchboard.toml", "[servers.switchboard]\ncommand = 'x'\n[servers.a]\ncommand = 'x'\n"),
        ("external-mcps.json", r#"{"switchboard": {"command": "x"}, "a": {"command": "x"}}"#),
    ];
    for file in files {
        let read = read(&[file]);
        assert_eq!(read.servers().len(), 1, "{file:?}");
        assert_eq!(read.codes(), ["warning reserved-name"], "{file:?}");
    }
}

/// Our own endpoint, which `connect` wrote into another program's file, is no server.
#[test]
fn our_own_endpoint_is_not_taken() {
    let ours = [
        r#"{"url": "http://127.0.0.1:8010/mcp"}"#,
        r#"{"type": "http", "url": "http://localhost:8010/mcp/agents/cto"}"#,
        r#"{"type": "sse", "url": "http://[::1]:8010/sse"}"#,
        r#"{"command": "switchboard", "args": ["mcp"]}"#,
        r#"{"command": "/usr/local/bin/switchboard", "args": ["mcp", "--agent", "cto"]}"#,
        r#"{"command": "npx", "args": ["-y", "mcp-remote", "http://localhost:8010/mcp"]}"#,
    ];
    let others = [
        r#"{"url": "http://127.0.0.1:8011/mcp"}"#,
        r#"{"url": "http://example.com:8010/mcp"}"#,
        r#"{"url": "http://127.0.0.1:8010/other"}"#,
        r#"{"command": "switchboard-tools", "args": ["mcp"]}"#,
    ];
    for (entry, taken) in ours.iter().map(|e| (e, false)).chain(others.iter().map(|e| (e, true))) {
        let text = format!(r#"{{"mcpServers": {{"hub": {entry}, "x": {{"command": "x"}}}}}}"#);
        let read = read(&[(".mcp.json", &text)]);
        assert_eq!(read.servers().len(), 1 + usize::from(taken), "{entry}");
        let told = if taken { vec![] } else { vec!["warning own-endpoint".to_owned()] };
        assert_eq!(read.codes(), told, "{entry}");
    }
}
