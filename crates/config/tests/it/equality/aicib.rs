//! How AICIB writes servers: commands only, each started because somebody has it.

use serde_json::{Map, Value, json};
use switchboard_config::Dialect;
use switchboard_config::syntax::Format;
use switchboard_model::{ServerSpec, StdioSpec, Template, Transport};
use switchboard_testkit::fuzz::map_templates;

use super::origins::{bare, unescaped};
use super::{Writer, command, map_of, pairs, plain};

pub(super) fn writer() -> Writer {
    Writer {
        dialect: Dialect::Aicib,
        format: Format::Yaml,
        file: "aicib.config.yaml",
        fit,
        file_of: |servers| {
            let used = servers.iter().filter(|server| server.enabled);
            let used: Vec<String> = used.map(|server| server.name.to_string()).collect();
            json!({
                "company": { "name": "x" },
                "integrations": { "servers": map_of(servers, entry), "default_servers": used },
            })
        },
    }
}

/// A URL cannot be said at all, so its server becomes a command.
fn fit(spec: ServerSpec) -> ServerSpec {
    let mut fitted = ServerSpec {
        enabled: spec.enabled,
        description: spec.description.clone(),
        category: spec.category.clone(),
        ..bare(&spec)
    };
    if let Transport::Http(http) = &fitted.transport {
        fitted.transport = Transport::Stdio(StdioSpec {
            command: Template::literal("bridge"),
            args: vec![http.url.clone()],
            env: http.headers.clone(),
            cwd: None,
        });
    }
    map_templates(&fitted, &unescaped)
}

fn entry(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = Map::new();
    if let Transport::Stdio(stdio) = &spec.transport {
        entry.insert("command".into(), command(plain(&stdio.command), &stdio.args).into());
        let args: Vec<String> = stdio.args.iter().map(plain).collect();
        entry.insert("args".into(), json!(args));
        pairs(&mut entry, "env", &stdio.env, plain);
    }
    for (key, text) in [("description", &spec.description), ("category", &spec.category)] {
        if let Some(text) = text {
            entry.insert(key.into(), json!(text));
        }
    }
    entry
}
