//! From a server to its entry in a file, with nothing in it that is the default anyway.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard_model::server::KeyPlace;
use switchboard_model::{
    AuditArguments, Auth, HttpKind, Part, Pattern, SecretTemplate, ServerSpec, Start, Template,
    Timing, Transport,
};

use super::{
    AuditArgumentsWord, AuthShape, AuthTable, CallTimeout, CallTimeouts, DurationText, Scalar,
    Server, SizeText, StartWord, Tools, TransportWord,
};
use crate::draft::is_line;

/// The server's entry in our own file.
pub fn server_entry(spec: &ServerSpec) -> Map<String, Value> {
    let timing = Timing::default();
    let limits = switchboard_model::Limits::default();
    let mut entry = Server {
        enabled: (!spec.enabled).then_some(false),
        description: spec.description.clone(),
        category: spec.category.clone(),
        timeout: changed(spec.timing.connect, timing.connect),
        call_timeout: call_timeout(&spec.timing, &timing),
        health_interval: changed(spec.timing.health_interval, timing.health_interval),
        stop_grace: changed(spec.timing.stop_grace, timing.stop_grace),
        idle_timeout: spec.timing.idle.map(duration),
        max_in_flight: (spec.limits.max_in_flight != limits.max_in_flight)
            .then_some(spec.limits.max_in_flight),
        max_output: size(spec.limits.max_output, limits.max_output),
        log_buffer: size(spec.limits.log_buffer, limits.log_buffer),
        start: (spec.start == Start::Lazy).then_some(StartWord::Lazy),
        sensitive: spec.sensitive.then_some(true),
        audit_arguments: spec.audit_arguments.map(|what| match what {
            AuditArguments::Shape => AuditArgumentsWord::Shape,
            AuditArguments::Values => AuditArgumentsWord::Values,
        }),
        trust_hints: (!spec.trust_hints).then_some(false),
        auth: auth(&spec.auth),
        tools: tools(spec),
        ..Server::default()
    };
    match &spec.transport {
        Transport::Stdio(stdio) => {
            entry.command = Some(whole(stdio.command.source(), &stdio.args));
            entry.args = sources(&stdio.args);
            entry.env = secrets(&stdio.env);
            entry.cwd = stdio.cwd.as_ref().map(Template::source);
        }
        Transport::Http(http) => {
            entry.url = Some(http.url.source());
            entry.headers = headers(&http.headers);
            entry.transport = (http.kind == HttpKind::Sse).then_some(TransportWord::Sse);
        }
    }
    match serde_json::to_value(entry) {
        Ok(Value::Object(map)) => map,
        // A struct with text keys becomes an object and nothing else.
        Ok(_) | Err(_) => Map::new(),
    }
}

/// The server's entry in an `mcpServers` map. What such a map cannot say is left out; it has no way
/// to escape, so a text that looks like a variable becomes one.
pub fn mcp_servers_entry(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = Map::new();
    let mut set = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    match &spec.transport {
        Transport::Stdio(stdio) => {
            set("command", json!(whole(plain(&stdio.command), &stdio.args)));
            if !stdio.args.is_empty() {
                set("args", stdio.args.iter().map(plain).collect());
            }
            if !stdio.env.is_empty() {
                set("env", plain_pairs(&stdio.env, str::to_owned));
            }
            if let Some(cwd) = &stdio.cwd {
                set("cwd", json!(plain(cwd)));
            }
        }
        Transport::Http(http) => {
            set("type", json!(spec.transport.as_str()));
            set("url", json!(plain(&http.url)));
            if !http.headers.is_empty() {
                set("headers", plain_pairs(&http.headers, header_name));
            }
        }
    }
    if !spec.enabled {
        set("enabled", json!(false));
    }
    if let Some(description) = &spec.description {
        set("description", json!(description));
    }
    entry
}

/// A program whose name has spaces and that takes no arguments would be split; quotes keep it whole.
fn whole(command: String, args: &[Template]) -> String {
    match args.is_empty() && is_line(&command) {
        true => shell_words::quote(&command).into_owned(),
        false => command,
    }
}

/// A template where nothing is escaped.
fn plain(template: &Template) -> String {
    let text = |part: &Part| match part {
        Part::Literal(text) => text.clone(),
        variable => Template::from_parts([variable.clone()]).source(),
    };
    template.parts().iter().map(text).collect()
}

fn plain_pairs(pairs: &BTreeMap<String, SecretTemplate>, name: fn(&str) -> String) -> Value {
    pairs.iter().map(|(key, value)| (name(key), plain(value.expose()))).collect()
}

fn sources(args: &[Template]) -> Option<Vec<String>> {
    (!args.is_empty()).then(|| args.iter().map(Template::source).collect())
}

fn secrets(pairs: &BTreeMap<String, SecretTemplate>) -> BTreeMap<String, Scalar> {
    pairs.iter().map(|(name, value)| (name.clone(), Scalar(value.expose().source()))).collect()
}

fn headers(pairs: &BTreeMap<String, SecretTemplate>) -> BTreeMap<String, Scalar> {
    secrets(pairs).into_iter().map(|(name, value)| (header_name(&name), value)).collect()
}

/// The name of a header as people write it: `X-Api-Key`.
fn header_name(name: &str) -> String {
    let upper = |word: &str| match word.split_at_checked(1) {
        Some((first, rest)) => format!("{}{rest}", first.to_ascii_uppercase()),
        None => word.to_owned(),
    };
    name.split('-').map(upper).collect::<Vec<_>>().join("-")
}

fn secret(template: Option<&SecretTemplate>) -> Option<String> {
    template.map(|template| template.expose().source())
}

fn duration(duration: Duration) -> DurationText {
    DurationText(humantime::format_duration(duration).to_string())
}

fn changed(value: Duration, default: Duration) -> Option<DurationText> {
    (value != default).then(|| duration(value))
}

fn call_timeout(timing: &Timing, default: &Timing) -> Option<CallTimeout> {
    // Alone, the quiet time also raises the total; only a total of its own needs the table.
    let implied = default.call_total.max(timing.call);
    match timing.call_total == implied {
        true => changed(timing.call, default.call).map(CallTimeout::Quiet),
        false => Some(CallTimeout::Both(CallTimeouts {
            quiet: changed(timing.call, default.call),
            total: Some(duration(timing.call_total)),
        })),
    }
}

fn size(value: u64, default: u64) -> Option<SizeText> {
    (value != default).then(|| SizeText(format!("{value}B")))
}

fn tools(spec: &ServerSpec) -> Option<Tools> {
    let texts = |patterns: &[Pattern]| patterns.iter().map(|p| p.as_str().to_owned()).collect();
    let some = !spec.tools.allow.is_empty() || !spec.tools.deny.is_empty();
    some.then(|| Tools { allow: texts(&spec.tools.allow), deny: texts(&spec.tools.deny) })
}

fn auth(auth: &Auth) -> Option<AuthShape> {
    let table = match auth {
        Auth::None => return None,
        Auth::Bearer { token } => AuthTable::Bearer { token: secret(token.as_ref()) },
        Auth::ApiKey { place, key } => {
            let (header, variable) = match place {
                KeyPlace::Header(name) => (Some(name.clone()), None),
                KeyPlace::Variable(name) => (None, Some(name.clone())),
            };
            AuthTable::ApiKey { header, variable, key: secret(key.as_ref()) }
        }
        Auth::OAuth { scopes, client_id, client_secret } => AuthTable::OAuth {
            scopes: scopes.clone(),
            client_id: client_id.clone(),
            client_secret: secret(client_secret.as_ref()),
        },
    };
    Some(AuthShape::Table(table))
}
