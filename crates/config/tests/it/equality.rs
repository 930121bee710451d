//! The same servers, written in every way that can say them, are the same desired state; and what
//! is written of a server is read back as that server.

mod aicib;
mod clients;
mod generate;
mod native;
mod origins;
mod print;
mod round_trip;
mod same;

use serde_json::{Map, Value};
use switchboard_config::Dialect;
use switchboard_config::syntax::Format;
use switchboard_model::{Part, SecretTemplate, ServerSpec, Template};

/// How one dialect writes servers, and what of them it can say.
struct Writer {
    dialect: Dialect,
    format: Format,
    /// The file's name, which some dialects are told by.
    file: &'static str,
    /// The server as far as this dialect can say it.
    fit: fn(ServerSpec) -> ServerSpec,
    /// The whole file.
    file_of: fn(&[ServerSpec]) -> Value,
}

/// Every dialect but our own.
fn writers() -> Vec<Writer> {
    let mut writers = origins::writers();
    writers.push(aicib::writer());
    writers.extend(clients::writers());
    writers
}

/// A map of name to entry.
fn map_of(servers: &[ServerSpec], entry: fn(&ServerSpec) -> Map<String, Value>) -> Value {
    let pair = |server: &ServerSpec| (server.name.to_string(), Value::Object(entry(server)));
    Value::Object(servers.iter().map(pair).collect())
}

/// Pairs of texts, if there are any.
fn pairs<'s>(
    entry: &mut Map<String, Value>,
    key: &str,
    values: impl IntoIterator<Item = (&'s String, &'s SecretTemplate)>,
    write: fn(&Template) -> String,
) {
    let values: Map<String, Value> =
        values.into_iter().map(|(k, v)| (k.clone(), write(v.expose()).into())).collect();
    if !values.is_empty() {
        entry.insert(key.to_owned(), Value::Object(values));
    }
}

/// A template as it is written where only variables mean anything and nothing is escaped.
fn plain(template: &Template) -> String {
    template.parts().iter().map(plain_part).collect()
}

fn plain_part(part: &Part) -> String {
    use switchboard_model::IfMissing;
    match part {
        Part::Literal(text) => text.clone(),
        Part::Variable { name, if_missing: IfMissing::Use(default) } => {
            format!("${{{name}:-{default}}}")
        }
        Part::Variable { name, .. } => format!("${{{name}}}"),
    }
}

/// The command as a text of its own: a name with spaces and no arguments would be split, quotes keep
/// it whole.
fn command(text: String, args: &[Template]) -> String {
    let spaced = text.contains(char::is_whitespace) || text.starts_with(['"', '\'']);
    match args.is_empty() && spaced && !starts_with_path(&text) {
        true => shell_words::quote(&text).into_owned(),
        false => text,
    }
}

fn starts_with_path(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    !text.starts_with(['"', '\'']) && first.contains(['/', '\\'])
}
