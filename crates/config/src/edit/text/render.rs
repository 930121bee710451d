//! Values as text, in each format.

use serde_json::{Map, Value};

use crate::syntax::Format;

/// How wide a line may get before a list or a table is written on several.
const WIDTH: usize = 90;

/// Where a value is written.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) format: Format,
    /// What the line that it begins on is indented by.
    pub(super) indent: String,
    /// What one level more is indented by.
    pub(super) unit: String,
    /// Whether it may take several lines.
    pub(super) lines: bool,
}

impl Layout {
    pub(super) fn deeper(&self) -> Self {
        Self { indent: format!("{}{}", self.indent, self.unit), ..self.clone() }
    }
}

/// A key.
pub(super) fn key(key: &str, format: Format) -> String {
    match format {
        Format::Json => quoted(key),
        Format::Toml => toml_edit::Key::new(key).to_string(),
        Format::Yaml => plain_or_quoted(key),
    }
}

/// A key and its value, for a table between braces.
pub(super) fn pair(name: &str, value: &Value, layout: &Layout) -> String {
    let between = if layout.format == Format::Toml { " = " } else { ": " };
    format!("{}{between}{}", key(name, layout.format), flow(value, layout))
}

/// A value between brackets or alone.
pub(super) fn flow(value: &Value, layout: &Layout) -> String {
    match value {
        Value::Array(items) => {
            let inner = layout.deeper();
            let parts: Vec<String> = items.iter().map(|item| flow(item, &inner)).collect();
            let line = format!("[{}]", parts.join(", "));
            let simple = !items.iter().any(|item| item.is_object() || item.is_array());
            match layout.lines && !(simple && layout.indent.len() + line.len() <= WIDTH) {
                true => several(["[", "]"], &parts, layout),
                false => line,
            }
        }
        Value::Object(map) => {
            let inner = layout.deeper();
            let parts: Vec<String> = map.iter().map(|(k, v)| pair(k, v, &inner)).collect();
            match (layout.format, map.is_empty()) {
                (_, true) => "{}".to_owned(),
                (Format::Json, _) if layout.lines => several(["{", "}"], &parts, layout),
                (Format::Toml, _) => format!("{{ {} }}", parts.join(", ")),
                (Format::Json | Format::Yaml, _) => format!("{{{}}}", parts.join(", ")),
            }
        }
        _ => scalar(value, layout.format),
    }
}

fn several([open, close]: [&str; 2], parts: &[String], layout: &Layout) -> String {
    let (outer, inner) = (&layout.indent, layout.deeper().indent);
    let last = if layout.format == Format::Toml { "," } else { "" };
    format!("{open}\n{inner}{}{last}\n{outer}{close}", parts.join(&format!(",\n{inner}")))
}

fn scalar(value: &Value, format: Format) -> String {
    match (value, format) {
        (Value::String(text), Format::Json) => quoted(text),
        (Value::String(text), Format::Toml) => toml_string(text),
        (Value::String(text), Format::Yaml) => plain_or_quoted(text),
        _ => value.to_string(),
    }
}

/// The string of JSON, whose escapes TOML and YAML read too.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string().replace('\u{7F}', "\\u007F")
}

/// Always on one line: a line end inside would become the file's own.
fn toml_string(text: &str) -> String {
    let literal = text.contains(['"', '\\']) && !text.contains('\'');
    match literal && !text.contains(char::is_control) {
        true => format!("'{text}'"),
        false => quoted(text),
    }
}

/// YAML's plain scalars have many traps; only what is surely a text goes without quotes.
fn plain_or_quoted(text: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || "_-./@+".contains(c);
    let first = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '_');
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .contains(&text.to_ascii_lowercase().as_str());
    // Between words, a single space is safe: neither `: ` nor ` #` can come of it.
    let words = text.split(' ').all(|part| !part.is_empty() && part.chars().all(word));
    if first && words && !reserved { text.to_owned() } else { quoted(text) }
}

/// The lines of a table in YAML's block style, each with its indentation.
pub(super) fn block(map: &Map<String, Value>, layout: &Layout) -> Vec<String> {
    map.iter().flat_map(|(name, value)| field(name, value, layout)).collect()
}

/// The lines of one key in YAML's block style.
pub(super) fn field(name: &str, value: &Value, layout: &Layout) -> Vec<String> {
    let head = format!("{}{}:", layout.indent, key(name, layout.format));
    match below(value, layout) {
        Some(below) => std::iter::once(head).chain(below).collect(),
        None => vec![format!("{head} {}", flow(value, layout))],
    }
}

/// The lines below a key, for a value that does not go beside it.
pub(super) fn below(value: &Value, layout: &Layout) -> Option<Vec<String>> {
    match value {
        Value::Object(map) if !map.is_empty() => Some(block(map, &layout.deeper())),
        Value::Array(items) if flow(value, layout).len() + layout.indent.len() > WIDTH => {
            let inner = layout.deeper();
            let item = |item: &Value| format!("{}- {}", inner.indent, flow(item, &inner));
            Some(items.iter().map(item).collect())
        }
        _ => None,
    }
}

/// A table of TOML under its own header; tables in it that are long have their own headers too.
pub(super) fn section(header: &[String], brackets: [&str; 2], map: &Map<String, Value>) -> String {
    let path = dotted(header);
    let layout =
        Layout { format: Format::Toml, indent: String::new(), unit: "  ".to_owned(), lines: true };
    let mut text = format!("{}{path}{}", brackets[0], brackets[1]);
    let mut after = String::new();
    for (name, value) in map {
        let line = pair(name, value, &layout);
        match value {
            Value::Object(inner) if line.len() > WIDTH => {
                let deeper: Vec<String> = header.iter().cloned().chain([name.clone()]).collect();
                after.push_str("\n\n");
                after.push_str(&section(&deeper, ["[", "]"], inner));
            }
            _ => {
                text.push('\n');
                text.push_str(&line);
            }
        }
    }
    text + &after
}

/// A dotted key of TOML.
pub(super) fn dotted(keys: &[String]) -> String {
    keys.iter().map(|name| key(name, Format::Toml)).collect::<Vec<_>>().join(".")
}
