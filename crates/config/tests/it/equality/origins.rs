//! How Annabelle, Spacebot and OpenAssistant write servers.

use serde_json::{Map, Value, json};
use switchboard_config::Dialect;
use switchboard_config::syntax::Format;
use switchboard_model::{Auth, HttpKind, IfMissing, Part, ServerSpec, Template, Timing, Transport};
use switchboard_testkit::fuzz::map_templates;

use super::{Writer, command, map_of, pairs, plain};

pub(super) fn writers() -> Vec<Writer> {
    vec![
        Writer {
            dialect: Dialect::Annabelle,
            format: Format::Json,
            file: "external-mcps.json",
            fit: fit_annabelle,
            file_of: |servers| map_of(servers, annabelle),
        },
        Writer {
            dialect: Dialect::Spacebot,
            format: Format::Toml,
            file: "config.toml",
            fit: fit_spacebot,
            file_of: |servers| {
                let list: Vec<Value> = servers.iter().map(spacebot).collect();
                json!({ "llm": { "model": "x" }, "defaults": { "mcp": list } })
            },
        },
    ]
}

/// The literals as they can stand where nothing is escaped: `${ …` names no variable anywhere.
pub(super) fn unescaped(template: &Template) -> Template {
    Template::from_parts(template.parts().iter().map(|part| match part {
        Part::Literal(text) => Part::Literal(text.replace("${", "${ ")),
        variable => variable.clone(),
    }))
}

/// A server without what only our own file can say.
pub(super) fn bare(spec: &ServerSpec) -> ServerSpec {
    let mut transport = spec.transport.clone();
    if let Transport::Stdio(stdio) = &mut transport {
        stdio.cwd = None;
    }
    ServerSpec::new(spec.name.clone(), transport)
}

/// Only `${UPPER_SNAKE}`, of which a missing one is empty.
fn fit_annabelle(spec: ServerSpec) -> ServerSpec {
    let timing = Timing { connect: spec.timing.connect, ..Timing::default() };
    let (sensitive, description) = (spec.sensitive, spec.description.clone());
    let spec = ServerSpec { timing, sensitive, description, ..bare(&spec) };
    map_templates(&spec, &|template| {
        let empty = |part: &Part| match part {
            Part::Literal(text) => Part::Literal(text.clone()),
            Part::Variable { name, .. } => {
                Part::Variable { name: name.clone(), if_missing: IfMissing::Use(String::new()) }
            }
        };
        unescaped(&Template::from_parts(template.parts().iter().map(empty)))
    })
}

/// Variables of Annabelle's have no defaults.
fn upper(template: &Template) -> String {
    let part = |part: &Part| match part {
        Part::Literal(text) => text.clone(),
        Part::Variable { name, .. } => format!("${{{name}}}"),
    };
    template.parts().iter().map(part).collect()
}

fn annabelle(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = Map::new();
    let mut set = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    set("timeout", json!(spec.timing.connect.as_millis() as u64));
    set("sensitive", json!(spec.sensitive));
    if let Some(description) = &spec.description {
        set("description", json!(description));
    }
    connection(spec, "type", upper, &mut entry);
    entry
}

/// Command or URL, with the word for the transport under a key of the dialect's.
fn connection(
    spec: &ServerSpec,
    word: &str,
    write: fn(&Template) -> String,
    entry: &mut Map<String, Value>,
) {
    entry.insert(word.to_owned(), spec.transport.as_str().into());
    match &spec.transport {
        Transport::Stdio(stdio) => {
            let text = command(write(&stdio.command), &stdio.args);
            entry.insert("command".into(), text.into());
            if !stdio.args.is_empty() {
                let args: Value = stdio.args.iter().map(|arg| json!(write(arg))).collect();
                entry.insert("args".into(), args);
            }
            pairs(entry, "env", &stdio.env, write);
        }
        Transport::Http(http) => {
            entry.insert("url".into(), write(&http.url).into());
            pairs(entry, "headers", &http.headers, write);
        }
    }
}

/// Streamable HTTP only, and no setting but `enabled`.
fn fit_spacebot(spec: ServerSpec) -> ServerSpec {
    let mut fitted = ServerSpec { enabled: spec.enabled, auth: Auth::None, ..bare(&spec) };
    if let Transport::Http(http) = &mut fitted.transport {
        http.kind = HttpKind::Streamable;
    }
    map_templates(&fitted, &unescaped)
}

fn spacebot(spec: &ServerSpec) -> Value {
    let mut entry = Map::new();
    entry.insert("name".into(), spec.name.to_string().into());
    entry.insert("enabled".into(), spec.enabled.into());
    connection(spec, "transport", plain, &mut entry);
    Value::Object(entry)
}
