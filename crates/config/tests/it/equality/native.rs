//! Our own file, written by other means than the program's.

use serde_json::{Map, Value, json};
use switchboard_model::server::KeyPlace;
use switchboard_model::{
    Auth, HttpKind, Limits, Pattern, ServerSpec, Start, Template, Timing, Transport,
};

use super::{command, map_of, pairs};

/// The whole file.
pub(super) fn file_of(servers: &[ServerSpec]) -> Value {
    json!({ "servers": map_of(servers, entry) })
}

fn entry(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = Map::new();
    connection(spec, &mut entry);
    let mut set = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    if !spec.enabled {
        set("enabled", json!(false));
    }
    for (key, text) in [("description", &spec.description), ("category", &spec.category)] {
        if let Some(text) = text {
            set(key, json!(text));
        }
    }
    for (key, value) in times(&spec.timing).into_iter().chain(limits(&spec.limits)) {
        set(key, value);
    }
    if spec.start == Start::Lazy {
        set("start", json!("lazy"));
    }
    // A default may be written out as well.
    set("sensitive", json!(spec.sensitive));
    if let Some(what) = spec.audit_arguments {
        set("audit_arguments", json!(what.as_str()));
    }
    if !spec.trust_hints {
        set("trust_hints", json!(false));
    }
    let globs = |globs: &[Pattern]| -> Value { globs.iter().map(|g| json!(g.as_str())).collect() };
    set("tools", json!({ "allow": globs(&spec.tools.allow), "deny": globs(&spec.tools.deny) }));
    if let Some(auth) = auth(&spec.auth) {
        set("auth", auth);
    }
    entry
}

fn connection(spec: &ServerSpec, entry: &mut Map<String, Value>) {
    match &spec.transport {
        Transport::Stdio(stdio) => {
            let text = command(stdio.command.source(), &stdio.args);
            entry.insert("command".into(), text.into());
            let args: Vec<String> = stdio.args.iter().map(Template::source).collect();
            entry.insert("args".into(), json!(args));
            pairs(entry, "env", &stdio.env, Template::source);
            if let Some(cwd) = &stdio.cwd {
                entry.insert("cwd".into(), cwd.source().into());
            }
        }
        Transport::Http(http) => {
            entry.insert("url".into(), http.url.source().into());
            pairs(entry, "headers", &http.headers, Template::source);
            let word = match http.kind {
                HttpKind::Sse => "sse",
                HttpKind::Streamable if http.headers.is_empty() => "streamable-http",
                HttpKind::Streamable => "http",
            };
            entry.insert("transport".into(), word.into());
        }
    }
}

fn times(timing: &Timing) -> Vec<(&'static str, Value)> {
    let millis = |time: std::time::Duration| json!(format!("{}ms", time.as_millis()));
    let mut times = vec![
        ("timeout", json!(timing.connect.as_secs_f64())),
        ("health_interval", millis(timing.health_interval)),
        ("stop_grace", millis(timing.stop_grace)),
        (
            "call_timeout",
            json!({ "quiet": millis(timing.call), "total": millis(timing.call_total) }),
        ),
    ];
    times.extend(timing.idle.map(|idle| ("idle_timeout", millis(idle))));
    times
}

fn limits(limits: &Limits) -> Vec<(&'static str, Value)> {
    vec![
        ("max_in_flight", json!(limits.max_in_flight)),
        ("max_output", json!(limits.max_output)),
        ("log_buffer", json!(format!("{}B", limits.log_buffer))),
    ]
}

fn auth(auth: &Auth) -> Option<Value> {
    let (mut table, secret) = match auth {
        Auth::None => return None,
        Auth::Bearer { token: None } => return Some(json!("bearer")),
        Auth::Bearer { token } => (json!({ "type": "bearer" }), ("token", token)),
        Auth::ApiKey { place: KeyPlace::Header(header), key } => {
            (json!({ "type": "api_key", "header": header }), ("key", key))
        }
        Auth::ApiKey { place: KeyPlace::Variable(variable), key } => {
            (json!({ "type": "api_key", "variable": variable }), ("key", key))
        }
        Auth::OAuth { scopes, client_id, client_secret } => {
            let mut table = json!({ "type": "oauth", "scopes": scopes });
            if let Some(id) = client_id {
                table["client_id"] = json!(id);
            }
            (table, ("client_secret", client_secret))
        }
    };
    if let (key, Some(secret)) = secret {
        table[key] = json!(secret.expose().source());
    }
    Some(table)
}
