//! Trees as text, in each format, with the notations that people use.

use serde_json::Value;
use switchboard_config::syntax::Format;

/// The tree as text.
pub(super) fn print(tree: &Value, format: Format) -> String {
    match format {
        Format::Json => format!("// written by a test\n{:#}\n", tree),
        Format::Toml => toml::to_string(tree).unwrap(),
        Format::Yaml => yaml(tree),
    }
}

/// Block style for maps, flow style for lists, each text in the lightest quotes that hold it.
fn yaml(tree: &Value) -> String {
    let mut text = String::from("# written by a test\n");
    block(tree, 0, &mut text);
    text
}

fn block(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(map) if map.is_empty() => text.push_str(" {}\n"),
        Value::Object(map) => {
            text.push('\n');
            for (key, value) in map {
                text.push_str(&format!("{}{}:", " ".repeat(indent), scalar(key)));
                block(value, indent + 2, text);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            text.push('\n');
            for item in items {
                text.push_str(&format!("{}-", " ".repeat(indent)));
                block(item, indent + 2, text);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            text.push_str(&format!(" [{}]\n", items.join(", ")));
        }
        other => text.push_str(&format!(" {}\n", inline(other))),
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

fn scalar(text: &str) -> String {
    let words = ["null", "true", "false", "yes", "no"];
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(letters);
    if plain && !words.contains(&text) {
        return text.to_owned();
    }
    let printable = |c: char| matches!(c, ' '..='~' | '\u{a1}'..='\u{d7ff}') && !is_break(c);
    if text.chars().all(printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if printable(c) => c.to_string(),
        c => format!("\\U{:08X}", c as u32),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

fn is_break(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}')
}
