//! How the clients write servers.

use serde_json::{Map, Value, json};
use std::time::Duration;
use switchboard_config::Dialect;
use switchboard_config::syntax::Format;
use switchboard_model::{
    Auth, HttpKind, IfMissing, Part, Pattern, ServerSpec, Template, Timing, ToolFilter, Transport,
};
use switchboard_testkit::fuzz::map_templates;

use super::origins::unescaped;
use super::{Writer, command, map_of, pairs, plain};

pub(super) fn writers() -> Vec<Writer> {
    let writer =
        |dialect, format, file, fit, file_of| Writer { dialect, format, file, fit, file_of };
    use Format::{Json, Toml, Yaml};
    vec![
        writer(
            Dialect::McpServers,
            Json,
            ".mcp.json",
            fit_map,
            |servers| json!({ "theme": "dark", "mcpServers": map_of(servers, in_map) }),
        ),
        writer(
            Dialect::VsCode,
            Json,
            ".vscode/mcp.json",
            fit_map,
            |servers| json!({ "inputs": [], "servers": map_of(servers, in_map) }),
        ),
        writer(
            Dialect::Zed,
            Json,
            "settings.json",
            fit_zed,
            |servers| json!({ "theme": "One Dark", "context_servers": map_of(servers, zed) }),
        ),
        writer(
            Dialect::Codex,
            Toml,
            "codex.toml",
            fit_codex,
            |servers| json!({ "model": "x", "mcp_servers": map_of(servers, codex) }),
        ),
        writer(
            Dialect::Goose,
            Yaml,
            "goose.yaml",
            fit_goose,
            |servers| json!({ "GOOSE_MODE": "auto", "extensions": map_of(servers, goose) }),
        ),
        writer(Dialect::Continue, Yaml, "continue.yaml", fit_continue, |servers| {
            let list: Vec<Value> = servers.iter().map(in_list).collect();
            json!({ "name": "x", "mcpServers": list })
        }),
        writer(
            Dialect::OpenCode,
            Json,
            "opencode.json",
            fit_opencode,
            |servers| json!({ "theme": "x", "mcp": map_of(servers, opencode) }),
        ),
    ]
}

/// What every client can say, at the least.
fn least(spec: &ServerSpec) -> ServerSpec {
    let spec = ServerSpec {
        enabled: spec.enabled,
        ..ServerSpec::new(spec.name.clone(), spec.transport.clone())
    };
    map_templates(&spec, &unescaped)
}

/// Streamable HTTP, where the client does not write the other.
fn streamable(mut spec: ServerSpec) -> ServerSpec {
    if let Transport::Http(http) = &mut spec.transport {
        http.kind = HttpKind::Streamable;
    }
    spec
}

fn without_cwd(mut spec: ServerSpec) -> ServerSpec {
    if let Transport::Stdio(stdio) = &mut spec.transport {
        stdio.cwd = None;
    }
    spec
}

/// The time of a call in whole units, which also raises the time in all.
fn calling(call: Duration, unit: Duration) -> Timing {
    let units = call.as_millis().div_ceil(unit.as_millis()) as u32;
    let (call, usual) = (unit * units, Timing::default());
    Timing { call, call_total: usual.call_total.max(call), ..usual }
}

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn fit_map(spec: ServerSpec) -> ServerSpec {
    let timing = calling(spec.timing.call, MS);
    let auth = match &spec.auth {
        oauth @ Auth::OAuth { .. } => oauth.clone(),
        _ => Auth::None,
    };
    let (tools, description) = (spec.tools.clone(), spec.description.clone());
    map_templates(&ServerSpec { timing, tools, description, auth, ..least(&spec) }, &unescaped)
}

fn in_map(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = Map::new();
    connection(spec, &mut entry);
    let mut set = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    match &spec.transport {
        Transport::Stdio(stdio) => {
            if let Some(cwd) = &stdio.cwd {
                set("cwd", plain(cwd).into());
            }
        }
        Transport::Http(_) => drop(set("type", spec.transport.as_str().into())),
    }
    set("timeout", json!(spec.timing.call.as_millis() as u64));
    set("disabled", json!(!spec.enabled));
    if !spec.tools.allow.is_empty() {
        set("includeTools", globs(&spec.tools.allow));
    }
    set("excludeTools", globs(&spec.tools.deny));
    if let Some(description) = &spec.description {
        set("description", json!(description));
    }
    if let Auth::OAuth { scopes, client_id, client_secret } = &spec.auth {
        let secret = client_secret.as_ref().map(|secret| plain(secret.expose()));
        set("oauth", json!({ "scopes": scopes, "clientId": client_id, "clientSecret": secret }));
    }
    entry
}

fn globs(globs: &[Pattern]) -> Value {
    globs.iter().map(|glob| json!(glob.as_str())).collect()
}

/// `command`, `args` and `env`, or `url` and `headers`.
fn connection(spec: &ServerSpec, entry: &mut Map<String, Value>) {
    match &spec.transport {
        Transport::Stdio(stdio) => {
            entry.insert("command".into(), command(plain(&stdio.command), &stdio.args).into());
            let args: Value = stdio.args.iter().map(|arg| json!(plain(arg))).collect();
            entry.insert("args".into(), args);
            pairs(entry, "env", &stdio.env, plain);
        }
        Transport::Http(http) => {
            entry.insert("url".into(), plain(&http.url).into());
            pairs(entry, "headers", &http.headers, plain);
        }
    }
}

fn fit_zed(spec: ServerSpec) -> ServerSpec {
    let timing = calling(spec.timing.call, SECOND);
    without_cwd(streamable(ServerSpec { timing, ..least(&spec) }))
}

fn zed(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = Map::from_iter([
        ("enabled".to_owned(), json!(spec.enabled)),
        ("timeout".to_owned(), json!(spec.timing.call.as_secs())),
    ]);
    match &spec.transport {
        // The older shape, in which the command is a table.
        Transport::Stdio(stdio) if stdio.args.len() == 1 => {
            let mut inner = Map::new();
            connection(spec, &mut inner);
            let program = inner.remove("command").unwrap_or_default();
            inner.insert("path".into(), program);
            entry.insert("command".into(), Value::Object(inner));
            entry.insert("source".into(), "custom".into());
        }
        _ => connection(spec, &mut entry),
    }
    entry
}

/// A token comes from a variable that is named.
fn fit_codex(spec: ServerSpec) -> ServerSpec {
    let connect = spec.timing.connect;
    let timing = Timing { connect, ..calling(spec.timing.call, MS) };
    let auth = match (&spec.auth, &spec.transport) {
        (Auth::Bearer { .. }, Transport::Http(_)) => {
            let token = Template::from_parts([Part::variable("TOKEN")]);
            Auth::Bearer { token: Some(switchboard_model::SecretTemplate::new(token)) }
        }
        _ => Auth::None,
    };
    streamable(ServerSpec { timing, auth, tools: spec.tools.clone(), ..least(&spec) })
}

fn codex(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = Map::new();
    connection(spec, &mut entry);
    if let Some(headers) = entry.remove("headers") {
        entry.insert("http_headers".into(), headers);
    }
    let mut set = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    if let Transport::Stdio(stdio) = &spec.transport
        && let Some(cwd) = &stdio.cwd
    {
        set("cwd", plain(cwd).into());
    }
    if spec.auth != Auth::None {
        set("bearer_token_env_var", "TOKEN".into());
    }
    set("enabled", json!(spec.enabled));
    set("startup_timeout_sec", json!(spec.timing.connect.as_secs_f64()));
    set("tool_timeout_sec", json!(spec.timing.call.as_secs_f64()));
    if !spec.tools.allow.is_empty() {
        set("enabled_tools", globs(&spec.tools.allow));
    }
    set("disabled_tools", globs(&spec.tools.deny));
    entry
}

/// `$` alone begins a variable here, so a text has none.
fn fit_goose(spec: ServerSpec) -> ServerSpec {
    let tools = ToolFilter { allow: spec.tools.allow.clone(), deny: Vec::new() };
    let (timing, description) = (calling(spec.timing.call, SECOND), spec.description.clone());
    let spec = without_cwd(ServerSpec { timing, tools, description, ..least(&spec) });
    map_templates(&spec, &|template| literals(template, &|text| text.replace('$', "§")))
}

/// The template with its literals changed.
fn literals(template: &Template, with: &dyn Fn(&str) -> String) -> Template {
    Template::from_parts(template.parts().iter().map(|part| match part {
        Part::Literal(text) => Part::Literal(with(text)),
        variable => variable.clone(),
    }))
}

fn goose(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = Map::new();
    connection(spec, &mut entry);
    let renamed = [("command", "cmd"), ("env", "envs"), ("url", "uri")];
    for (ours, theirs) in renamed {
        if let Some(value) = entry.remove(ours) {
            entry.insert(theirs.into(), value);
        }
    }
    let mut set = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    set(
        "type",
        match spec.transport.as_str() {
            "http" => "streamable_http".into(),
            other => other.into(),
        },
    );
    set("name", json!(spec.name.as_str()));
    set("enabled", json!(spec.enabled));
    set("timeout", json!(spec.timing.call.as_secs()));
    set("available_tools", globs(&spec.tools.allow));
    set("description", json!(spec.description.clone().unwrap_or_default()));
    entry
}

fn fit_continue(spec: ServerSpec) -> ServerSpec {
    let timing = Timing { connect: spec.timing.connect, ..Timing::default() };
    let auth = match &spec.auth {
        Auth::Bearer { token: Some(token) } => Auth::Bearer { token: Some(token.clone()) },
        _ => Auth::None,
    };
    map_templates(&ServerSpec { timing, auth, enabled: true, ..least(&spec) }, &unescaped)
}

/// Variables are secrets of Continue's; those with a default have no notation of its own.
fn mustache(template: &Template) -> String {
    let part = |part: &Part| match part {
        Part::Variable { name, if_missing: IfMissing::NeedsSetup } => {
            format!("${{{{ secrets.{name} }}}}")
        }
        other => super::plain_part(other),
    };
    template.parts().iter().map(part).collect()
}

fn in_list(spec: &ServerSpec) -> Value {
    let mut entry = Map::from_iter([("name".to_owned(), json!(spec.name.as_str()))]);
    match &spec.transport {
        Transport::Stdio(stdio) => {
            let program = command(mustache(&stdio.command), &stdio.args);
            entry.insert("command".into(), program.into());
            let args: Value = stdio.args.iter().map(|arg| json!(mustache(arg))).collect();
            entry.insert("args".into(), args);
            pairs(&mut entry, "env", &stdio.env, mustache);
            if let Some(cwd) = &stdio.cwd {
                entry.insert("cwd".into(), mustache(cwd).into());
            }
        }
        Transport::Http(http) => {
            let word = if http.kind == HttpKind::Sse { "sse" } else { "streamable-http" };
            entry.insert("type".into(), word.into());
            entry.insert("url".into(), mustache(&http.url).into());
            let mut options = Map::new();
            pairs(&mut options, "headers", &http.headers, mustache);
            entry.insert("requestOptions".into(), Value::Object(options));
        }
    }
    entry.insert("connectionTimeout".into(), json!(spec.timing.connect.as_millis() as u64));
    if let Auth::Bearer { token: Some(token) } = &spec.auth {
        entry.insert("apiKey".into(), mustache(token.expose()).into());
    }
    Value::Object(entry)
}

fn fit_opencode(spec: ServerSpec) -> ServerSpec {
    let timing = Timing { connect: spec.timing.connect, ..Timing::default() };
    let spec = streamable(ServerSpec { timing, ..least(&spec) });
    map_templates(&spec, &|template| literals(template, &|text| text.replace("{env:", "{env :")))
}

/// `{env:X}`, or the usual notation where there is a default.
fn braces(template: &Template) -> String {
    let part = |part: &Part| match part {
        Part::Variable { name, if_missing: IfMissing::NeedsSetup } => format!("{{env:{name}}}"),
        other => super::plain_part(other),
    };
    template.parts().iter().map(part).collect()
}

fn opencode(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = Map::new();
    match &spec.transport {
        Transport::Stdio(stdio) => {
            let words = std::iter::once(&stdio.command).chain(&stdio.args);
            let words: Value = words.map(|word| json!(braces(word))).collect();
            entry.insert("type".into(), "local".into());
            entry.insert("command".into(), words);
            pairs(&mut entry, "environment", &stdio.env, braces);
            if let Some(cwd) = &stdio.cwd {
                entry.insert("cwd".into(), braces(cwd).into());
            }
        }
        Transport::Http(http) => {
            entry.insert("type".into(), "remote".into());
            entry.insert("url".into(), braces(&http.url).into());
            pairs(&mut entry, "headers", &http.headers, braces);
        }
    }
    entry.insert("timeout".into(), json!(spec.timing.connect.as_millis() as u64));
    entry.insert("enabled".into(), json!(spec.enabled));
    entry
}
