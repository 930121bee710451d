//! AICIB's `aicib.config.yaml`.

use switchboard_config::{Dialect, catalog};
use switchboard_model::{AgentId, HttpKind, ServerName, ServerSpec, Transport};

use crate::support::{Read, http, names, read, read_fixture, skipping, stdio, with};

fn github() -> ServerSpec {
    let spec = stdio("github", "npx", &["-y", "@modelcontextprotocol/server-github"]);
    let spec = skipping(&with(spec, &[("GITHUB_TOKEN", "${GITHUB_TOKEN}")]));
    let (description, category) = (Some("GitHub".to_owned()), Some("development".to_owned()));
    ServerSpec { description, category, ..spec }
}

fn from_catalog(name: &str) -> ServerSpec {
    let name = ServerName::parse(name).unwrap();
    catalog::or_skip(catalog::find(&name).unwrap())
}

/// Whom the file knows: id, whether enabled, and the servers.
fn agents(read: &Read) -> Vec<(&str, bool, Vec<&str>)> {
    read.desired()
        .agents
        .iter()
        .map(|(id, spec)| {
            let servers = spec.servers.iter().flatten().map(ServerName::as_str).collect();
            (id.as_str(), spec.enabled, servers)
        })
        .collect()
}

/// Which servers an agent can use.
fn view(read: &Read, agent: &str) -> Vec<String> {
    let agent = AgentId::parse(agent).unwrap();
    read.desired().servers_of(&agent, None).iter().map(ToString::to_string).collect()
}

#[test]
fn the_section() {
    let read = read_fixture("origins/aicib/section/aicib.config.yaml");
    assert_eq!(read.dialects, [Some(Dialect::Aicib)]);
    assert_eq!(read.servers(), [github(), from_catalog("linear"), from_catalog("notion")]);
    assert_eq!(
        agents(&read),
        [("ceo", true, vec!["notion"]), ("cto", true, vec!["github", "linear"])]
    );
    assert_eq!(read.desired().defaults, names(&[]).into());
    assert_eq!(read.codes(), [""; 0]);
}

#[test]
fn the_inline_list() {
    let read = read_fixture("origins/aicib/inline/aicib.config.yaml");
    assert_eq!(read.servers(), [from_catalog("github"), from_catalog("linear")]);
    assert_eq!(agents(&read), [("cto", true, vec!["github", "linear"])]);
    assert_eq!(read.codes(), [""; 0]);
}

/// Lists merge, workers count, the default is for agents with none, disabled agents start nothing.
#[test]
fn workers_defaults_and_disabled_agents() {
    let read = read_fixture("origins/aicib/workers/aicib.config.yaml");
    assert_eq!(
        agents(&read),
        [
            ("backend-engineer", true, vec!["github"]),
            ("bookkeeper", false, vec![]),
            ("ceo", true, vec!["notion"]),
            ("cfo", false, vec![]),
            ("cto", true, vec!["github", "linear"]),
            ("frontend-engineer", true, vec!["notion"]),
        ]
    );
    let running: Vec<String> = read.servers().iter().map(|s| s.name.to_string()).collect();
    assert_eq!(running, ["composio", "github", "linear", "notion"], "neither stripe nor slack-mcp");
    assert_eq!(view(&read, "cfo"), [""; 0]);
    assert_eq!(view(&read, "bookkeeper"), [""; 0]);
    assert_eq!(view(&read, "cto"), ["github", "linear"]);
    assert_eq!(read.codes(), [""; 0]);
}

#[test]
fn composio() {
    let read = read_fixture("origins/aicib/workers/aicib.config.yaml");
    let expected = skipping(&with(
        http("composio", HttpKind::Streamable, "https://connect.composio.dev/mcp"),
        &[("x-consumer-api-key", "${COMPOSIO_API_KEY}")],
    ));
    assert_eq!(read.server("composio").transport, expected.transport);
    let off = read_fixture("origins/aicib/section/aicib.config.yaml");
    assert!(off.servers().iter().all(|server| server.name.as_str() != "composio"));
    let text = "integrations: {composio: {enabled: true, api_key: ak_project}}\n";
    assert_eq!(crate::support::read(&[("aicib.config.yaml", text)]).codes(), ["warning bad-value"]);
}

#[test]
fn the_catalog() {
    let read = read_fixture("origins/aicib/catalog/aicib.config.yaml");
    let row = |spec: &ServerSpec| {
        let Transport::Stdio(stdio) = &spec.transport else { panic!("a command") };
        let templates = stdio.env.values().flat_map(|value| value.variables());
        let variables: Vec<String> = templates.map(|(name, _)| name.to_owned()).collect();
        let package = stdio.args[1].source();
        let description = spec.description.clone().unwrap_or_default();
        let service = description.split(" --").next().unwrap_or_default().to_owned();
        let category = spec.category.clone().unwrap_or_default();
        [spec.name.to_string(), category, service, variables.join(" "), package]
    };
    let rows: Vec<[String; 5]> = read.servers().iter().map(row).collect();
    let expected = [
        ["github", "development", "GitHub", "GITHUB_TOKEN", "@modelcontextprotocol/server-github"],
        ["linear", "project-management", "Linear", "LINEAR_API_KEY", "@linear/mcp-server"],
        ["notion", "knowledge", "Notion", "NOTION_TOKEN", "@notionhq/notion-mcp-server"],
        ["playwright", "automation", "Playwright", "", "@playwright/mcp@0.0.68"],
        ["slack-mcp", "communication", "Slack", "SLACK_BOT_TOKEN", "@anthropic/slack-mcp-server"],
        ["stripe", "finance", "Stripe", "STRIPE_SECRET_KEY", "@stripe/mcp-server"],
    ];
    assert_eq!(rows, expected);
    assert_eq!(read.codes(), [""; 0]);
}

#[test]
fn the_master_switch() {
    let section = crate::support::fixture_text("origins/aicib/section/aicib.config.yaml");
    let off = section.replace("enabled: true  ", "enabled: false ");
    let read = read(&[("aicib.config.yaml", &off)]);
    assert_eq!(read.servers(), [ServerSpec { enabled: false, ..github() }]);
    assert_eq!(read.desired().defaults, names(&[]).into());
    assert_eq!(view(&read, "cto"), [""; 0]);
}

#[test]
fn command_and_args_are_both_required() {
    let text = "
integrations:
  servers:
    no-args: {command: npx}
    no-command: {args: []}
    url: {url: 'https://example.com/mcp'}
    good: {command: npx, args: []}
  default_servers: [good]
";
    let read = read(&[("aicib.config.yaml", text)]);
    assert_eq!(read.servers(), [stdio("good", "npx", &[])]);
    let missing: Vec<&str> = read.problems.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(
        missing,
        [
            "server `no-args` has no `args`",
            "server `no-command` has no `command`",
            "server `url` has no `command`",
            "server `url` has no `args`",
        ]
    );
}
