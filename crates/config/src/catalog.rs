//! Servers that are known by name alone.

use std::collections::BTreeMap;

use switchboard_model::{
    HttpKind, HttpSpec, IfMissing, SecretTemplate, ServerName, ServerSpec, StdioSpec, Template,
    Transport,
};

/// The name of Composio's gateway.
pub const COMPOSIO: &str = "composio";

/// One server that is known by name.
struct Entry {
    name: &'static str,
    category: &'static str,
    description: &'static str,
    reached: Reached,
}

enum Reached {
    /// An npm package, and the variables its environment takes.
    Npx { package: &'static str, env: &'static [(&'static str, &'static str)] },
    /// A URL, and the headers it takes.
    Url { url: &'static str, headers: &'static [(&'static str, &'static str)] },
}

const ENTRIES: [Entry; 7] = [
    Entry {
        name: COMPOSIO,
        category: "gateway",
        description: "Composio -- one gateway to many services",
        reached: Reached::Url {
            url: "https://connect.composio.dev/mcp",
            headers: &[("x-consumer-api-key", "${COMPOSIO_API_KEY}")],
        },
    },
    Entry {
        name: "github",
        category: "development",
        description: "GitHub -- code, issues, PRs, repos",
        reached: Reached::Npx {
            package: "@modelcontextprotocol/server-github",
            env: &[("GITHUB_TOKEN", "${GITHUB_TOKEN}")],
        },
    },
    Entry {
        name: "linear",
        category: "project-management",
        description: "Linear -- project management, issues, cycles",
        reached: Reached::Npx {
            package: "@linear/mcp-server",
            env: &[("LINEAR_API_KEY", "${LINEAR_API_KEY}")],
        },
    },
    Entry {
        name: "notion",
        category: "knowledge",
        description: "Notion -- docs, wikis, databases",
        reached: Reached::Npx {
            package: "@notionhq/notion-mcp-server",
            env: &[(
                "OPENAPI_MCP_HEADERS",
                r#"{"Authorization":"Bearer ${NOTION_TOKEN}","Notion-Version":"2022-06-28"}"#,
            )],
        },
    },
    Entry {
        name: "playwright",
        category: "automation",
        description: "Playwright -- browser automation and testing",
        reached: Reached::Npx { package: "@playwright/mcp@0.0.68", env: &[] },
    },
    Entry {
        name: "slack-mcp",
        category: "communication",
        description: "Slack -- messaging and team communication",
        reached: Reached::Npx {
            package: "@anthropic/slack-mcp-server",
            env: &[("SLACK_BOT_TOKEN", "${SLACK_BOT_TOKEN}")],
        },
    },
    Entry {
        name: "stripe",
        category: "finance",
        description: "Stripe -- payments, subscriptions, invoices",
        reached: Reached::Npx {
            package: "@stripe/mcp-server",
            env: &[("STRIPE_SECRET_KEY", "${STRIPE_SECRET_KEY}")],
        },
    },
];

/// Every name in the catalog, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// Every server in the catalog, in order.
pub fn all() -> impl Iterator<Item = ServerSpec> {
    ENTRIES.iter().filter_map(Entry::spec)
}

/// The server of this name.
pub fn find(name: &ServerName) -> Option<ServerSpec> {
    ENTRIES.iter().find(|entry| entry.name == name.as_str())?.spec()
}

/// The same server, left out rather than waiting when a variable is missing (AICIB's rule).
pub fn or_skip(mut spec: ServerSpec) -> ServerSpec {
    let skip = |template: &mut SecretTemplate| {
        *template = SecretTemplate::new(template.expose().clone().with_missing(&IfMissing::Skip));
    };
    match &mut spec.transport {
        Transport::Stdio(stdio) => stdio.env.values_mut().for_each(skip),
        Transport::Http(http) => http.headers.values_mut().for_each(skip),
    }
    spec
}

impl Entry {
    fn spec(&self) -> Option<ServerSpec> {
        let transport = match &self.reached {
            Reached::Npx { package, env } => Transport::Stdio(StdioSpec {
                command: Template::literal("npx"),
                args: vec![Template::literal("-y"), Template::literal(*package)],
                env: templates(env)?,
                cwd: None,
            }),
            Reached::Url { url, headers } => Transport::Http(HttpSpec {
                kind: HttpKind::Streamable,
                url: Template::literal(*url),
                headers: templates(headers)?,
            }),
        };
        let spec = ServerSpec::new(ServerName::parse(self.name).ok()?, transport);
        Some(ServerSpec {
            category: Some(self.category.to_owned()),
            description: Some(self.description.to_owned()),
            ..spec
        })
    }
}

fn templates(pairs: &[(&str, &str)]) -> Option<BTreeMap<String, SecretTemplate>> {
    let pair = |(name, value): &(&str, &str)| {
        Some(((*name).to_owned(), SecretTemplate::new(Template::parse(value).ok()?)))
    };
    pairs.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_good() {
        assert_eq!(all().count(), ENTRIES.len());
        let known: Vec<&str> = names().collect();
        assert!(known.is_sorted(), "{known:?}");
    }
}
