//! OpenAssistant's `mcp-servers.json`, of which the first that is found counts.

use std::sync::Arc;

use switchboard_config::{Dialect, Loader, Places, Selection};
use switchboard_model::HttpKind;
use switchboard_testkit::{ManualClock, Scratch};

use crate::support::{http, read_fixture, stdio, with};

#[test]
fn the_example() {
    let read = read_fixture("origins/openassistant/mcp-servers.json");
    assert_eq!(read.dialects, [Some(Dialect::McpServers)]);
    let github = with(
        stdio("github", "npx", &["-y", "@modelcontextprotocol/server-github"]),
        &[("GITHUB_TOKEN", "ghp_...")],
    );
    let search = http("remote-search", HttpKind::Streamable, "https://search.example.com/mcp");
    assert_eq!(read.servers(), [github, search]);
    assert_eq!(read.codes(), [""; 0]);
}

/// The project's, then the user's, then the home directory's: one of them and no other.
#[test]
fn the_first_found_wins() {
    let entry = |name: &str| format!(r#"{{"mcpServers": {{"{name}": {{"command": "x"}}}}}}"#);
    let scratch = Scratch::new();
    let files = [
        ("work/mcp-servers.json", "of-the-project"),
        ("config/mcp-servers.json", "of-the-user"),
        ("home/.openassistant/mcp-servers.json", "of-home"),
    ];
    for (file, name) in files {
        scratch.write(file, entry(name));
    }
    let places = Places {
        cwd: scratch.path().join("work"),
        home: Some(scratch.path().join("home")),
        config: Some(scratch.path().join("config")),
        ..Places::default()
    };
    for (file, name) in files {
        let mut loader =
            Loader::new(Selection::Search(places.clone()), Arc::new(ManualClock::new()));
        let loaded = loader.load();
        let found: Vec<String> = loaded.desired.servers.keys().map(ToString::to_string).collect();
        assert_eq!(found, [name]);
        assert_eq!(loaded.files.len(), 1);
        assert_eq!(loaded.files[0].path, scratch.path().join(file));
        assert_eq!(loaded.problems, []);
        scratch.remove(file);
    }
}
