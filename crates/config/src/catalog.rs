//! Servers that are known by name alone.

use std::collections::BTreeMap;

use switchboard_model::{
    HttpKind, HttpSpec, IfMissing, SecretTemplate, ServerName, ServerSpec, StdioSpec, Template,
    Transport,
};

/// The name of Composio's gateway.
pub const COMPOSIO: &str = "composio";

const NPX: &str = "npx";

/// One server that is known by name.
struct Entry {
    name: &'static str,
    category: &'static str,
    description: &'static str,
    reached: Reached,
}

enum Reached {
    /// An npm package, what it is started with, and the variables its environment takes.
    Npx {
        package: &'static str,
        args: &'static [&'static str],
        env: &'static [(&'static str, &'static str)],
    },
    /// A URL, and the headers it takes.
    Url { url: &'static str, headers: &'static [(&'static str, &'static str)] },
}

const ENTRIES: [Entry; 9] = [
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
        name: "filesystem",
        category: "files",
        description: "Filesystem -- files of the directory that the hub runs in, or of others",
        reached: Reached::Npx {
            package: "@modelcontextprotocol/server-filesystem",
            args: &["."],
            env: &[],
        },
    },
    Entry {
        name: "github",
        category: "development",
        description: "GitHub -- code, issues, PRs, repos",
        reached: Reached::Npx {
            package: "@modelcontextprotocol/server-github",
            args: &[],
            env: &[("GITHUB_TOKEN", "${GITHUB_TOKEN}")],
        },
    },
    Entry {
        name: "linear",
        category: "project-management",
        description: "Linear -- project management, issues, cycles",
        reached: Reached::Npx {
            package: "@linear/mcp-server",
            args: &[],
            env: &[("LINEAR_API_KEY", "${LINEAR_API_KEY}")],
        },
    },
    Entry {
        name: "memory",
        category: "knowledge",
        description: "Memory -- a graph of what was learnt",
        reached: Reached::Npx {
            package: "@modelcontextprotocol/server-memory",
            args: &[],
            env: &[],
        },
    },
    Entry {
        name: "notion",
        category: "knowledge",
        description: "Notion -- docs, wikis, databases",
        reached: Reached::Npx {
            package: "@notionhq/notion-mcp-server",
            args: &[],
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
        reached: Reached::Npx { package: "@playwright/mcp@0.0.68", args: &[], env: &[] },
    },
    Entry {
        name: "slack-mcp",
        category: "communication",
        description: "Slack -- messaging and team communication",
        reached: Reached::Npx {
            package: "@anthropic/slack-mcp-server",
            args: &[],
            env: &[("SLACK_BOT_TOKEN", "${SLACK_BOT_TOKEN}")],
        },
    },
    Entry {
        name: "stripe",
        category: "finance",
        description: "Stripe -- payments, subscriptions, invoices",
        reached: Reached::Npx {
            package: "@stripe/mcp-server",
            args: &[],
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

/// The catalog's name of what a server is, whatever it is called where it is declared.
pub fn name_of(spec: &ServerSpec) -> Option<&'static str> {
    ENTRIES.iter().find(|entry| entry.is(spec)).map(|entry| entry.name)
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
    /// Whether it is the same package or the same URL; what else is said about it may differ.
    fn is(&self, spec: &ServerSpec) -> bool {
        match (&self.reached, &spec.transport) {
            (Reached::Npx { package, .. }, Transport::Stdio(stdio)) => {
                let words = std::iter::once(&stdio.command).chain(&stdio.args);
                let first: Vec<_> = words.take(3).filter_map(Template::as_literal).collect();
                first == [NPX, "-y", package]
            }
            (Reached::Url { url, .. }, Transport::Http(http)) => http.url.as_literal() == Some(url),
            (Reached::Npx { .. }, Transport::Http(_))
            | (Reached::Url { .. }, Transport::Stdio(_)) => false,
        }
    }

    fn spec(&self) -> Option<ServerSpec> {
        let transport = match &self.reached {
            Reached::Npx { package, args, env } => Transport::Stdio(StdioSpec {
                command: Template::literal(NPX),
                args: ["-y", package].iter().chain(*args).map(|w| Template::literal(*w)).collect(),
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
        for spec in all() {
            let renamed = ServerSpec { name: ServerName::parse("other").unwrap(), ..spec.clone() };
            assert_eq!(name_of(&renamed), Some(spec.name.as_str()));
        }
    }
}
