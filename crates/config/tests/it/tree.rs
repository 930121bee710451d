//! Any of the three formats as a plain tree, by other means than the code under test where there
//! are any.

use jsonc_parser::{JsonValue, ParseOptions, parse_to_value};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value, json};
use switchboard_config::syntax::Format;

/// The tree of a valid text.
pub(crate) fn tree(text: &str, format: Format) -> Value {
    match format {
        Format::Toml => toml::from_str(text).unwrap(),
        Format::Json => json(parse_to_value(text, &ParseOptions::default()).unwrap().unwrap()),
        Format::Yaml => yaml(text),
    }
}

fn json(value: JsonValue<'_>) -> Value {
    match value {
        JsonValue::String(text) => text.into_owned().into(),
        JsonValue::Number(number) => number.parse().map_or(Value::Null, Value::Number),
        JsonValue::Boolean(flag) => flag.into(),
        JsonValue::Object(object) => {
            object.into_iter().map(|(k, v)| (k.to_string(), json(v))).collect()
        }
        JsonValue::Array(items) => items.into_iter().map(json).collect(),
        JsonValue::Null => Value::Null,
    }
}

/// Enough of YAML for the examples: no merge keys, aliases as nothing.
fn yaml(text: &str) -> Value {
    let mut open: Vec<(Value, Option<String>)> = vec![(json!([]), None)];
    for event in Parser::new_from_str(text) {
        let done = match event.unwrap().0 {
            Event::MappingStart(..) => {
                open.push((json!({}), None));
                continue;
            }
            Event::SequenceStart(..) => {
                open.push((json!([]), None));
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => open.pop().unwrap().0,
            Event::Scalar(text, ScalarStyle::Plain, ..) => {
                serde_json::from_str(&text).unwrap_or_else(|_| text.into())
            }
            Event::Scalar(text, ..) => text.into(),
            Event::Alias(_) => Value::Null,
            _ => continue,
        };
        put(open.last_mut().unwrap(), done);
    }
    open.remove(0).0[0].take()
}

fn put((into, key): &mut (Value, Option<String>), value: Value) {
    match (into, key.take()) {
        (Value::Array(items), _) => items.push(value),
        (Value::Object(map), Some(name)) => drop(Map::insert(map, name, value)),
        (_, None) => *key = Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
        (_, Some(_)) => {}
    }
}
