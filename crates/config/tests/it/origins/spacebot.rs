//! Spacebot's `config.toml`.

use switchboard_config::Dialect;
use switchboard_model::{AgentId, DefaultServers, HttpKind, Scope, ServerKey, ServerSpec};
use switchboard_testkit::fuzz::name;

use crate::support::{Read, http, read, read_fixture, stdio, with};

/// What an agent of this id can use, by name and target.
fn view(read: &Read, agent: &str) -> Vec<(String, String)> {
    let agent = AgentId::parse(agent).unwrap();
    let keys = read.desired().servers_of(&agent, None);
    let target = |key: &ServerKey| read.desired().servers[key].target();
    keys.into_iter().map(|key| (key.to_string(), target(key))).collect()
}

#[test]
fn the_example() {
    let read = read_fixture("origins/spacebot/config.toml");
    assert_eq!(read.dialects, [Some(Dialect::Spacebot)]);
    let filesystem = stdio(
        "filesystem",
        "npx",
        &["-y", "@modelcontextprotocol/server-filesystem", "/workspace"],
    );
    let sentry = with(
        http("sentry", HttpKind::Streamable, "https://mcp.sentry.io"),
        &[("authorization", "Bearer ${SENTRY_TOKEN}")],
    );
    let postgres = stdio(
        "postgres",
        "npx",
        &["-y", "@modelcontextprotocol/server-postgres", "postgresql://..."],
    );
    assert_eq!(read.servers(), [filesystem, sentry]);
    let main = AgentId::parse("main").unwrap();
    let key = ServerKey { scope: Scope::Agent(main.clone()), name: name("postgres") };
    let found: &ServerSpec = &read.desired().servers[&key];
    assert_eq!(*found, postgres);
    assert_eq!(read.desired().servers.len(), 3);
    assert_eq!(read.desired().defaults, DefaultServers::Everything);
    assert_eq!(read.desired().agents.keys().collect::<Vec<_>>(), [&main]);
    assert_eq!(read.codes(), [""; 0]);
}

#[test]
fn an_agents_list_appends_and_a_same_name_overrides() {
    let text = r#"
        [[defaults.mcp]]
        name = "files"
        transport = "stdio"
        command = "default-files"
        [[defaults.mcp]]
        name = "search"
        transport = "http"
        url = "https://search.example.com"

        [[agents]]
        id = "appends"
        [[agents.mcp]]
        name = "extra"
        transport = "stdio"
        command = "extra"

        [[agents]]
        id = "overrides"
        [[agents.mcp]]
        name = "files"
        transport = "stdio"
        command = "own-files"

        [[agents]]
        id = "inherits"
    "#;
    let read = read(&[("config.toml", text)]);
    assert_eq!(read.codes(), [""; 0]);
    let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, target)| ((*name).to_owned(), (*target).to_owned())).collect()
    };
    let search = ("search", "https://search.example.com");
    let files = ("files", "default-files");
    assert_eq!(view(&read, "inherits"), owned(&[files, search]));
    assert_eq!(view(&read, "nobody"), owned(&[files, search]));
    assert_eq!(view(&read, "appends"), owned(&[("extra (agent appends)", "extra"), files, search]));
    assert_eq!(
        view(&read, "overrides"),
        owned(&[("files (agent overrides)", "own-files"), search])
    );
}

#[test]
fn every_string_takes_variables() {
    let text = r#"
        [[defaults.mcp]]
        name = "a"
        transport = "stdio"
        command = "${BIN}"
        args = ["--root=${ROOT}"]
        env = { TOKEN = "${TOKEN:-none}" }
        enabled = false
        [[defaults.mcp]]
        name = "b"
        transport = "http"
        url = "https://${HOST}/mcp"
        headers = { X-Key = "${KEY}" }
    "#;
    let read = read(&[("config.toml", text)]);
    let mut first = with(stdio("a", "${BIN}", &["--root=${ROOT}"]), &[("TOKEN", "${TOKEN:-none}")]);
    first.enabled = false;
    let second =
        with(http("b", HttpKind::Streamable, "https://${HOST}/mcp"), &[("x-key", "${KEY}")]);
    assert_eq!(read.servers(), [first, second]);
    assert_eq!(read.codes(), [""; 0]);
}
