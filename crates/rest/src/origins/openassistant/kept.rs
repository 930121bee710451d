//! What OpenAssistant's page is shown of a declaration, and what of it stays when the page sends it back.

use serde_json::{Map, Value, json};
use switchboard_model::{ServerSpec, Transport, mask};

use super::AssistantConfig;
use crate::error::{Problem, Result};
use crate::ops::servers::edited;

/// The whole entry: what is given, over what is there.
pub(super) fn native(
    config: &AssistantConfig,
    old: Option<&ServerSpec>,
) -> Result<Map<String, Value>> {
    let is_command = match config.transport.as_str() {
        "stdio" => true,
        "http" => false,
        _ => return Err(Problem::invalid("`transport` is `stdio` or `http`")),
    };
    // Of one that becomes another kind of thing nothing can stay.
    let old = old.filter(|old| matches!(old.transport, Transport::Stdio(_)) == is_command);
    let mut entry = old.map(edited::shown).unwrap_or_default();
    let seen = old.map(masked).unwrap_or_default();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            entry.insert(name.to_owned(), unseen(value, seen.get(name)));
        }
    };
    match is_command {
        true => {
            let same = config.command.as_deref() == seen.get("command").and_then(Value::as_str);
            // Another command does not take this one's arguments.
            let none = (config.command.is_some() && !same).then(|| json!([]));
            put("command", config.command.as_deref().map(Value::from));
            put("args", config.args.clone().map(Value::from).or(none));
            put("env", config.env.as_ref().map(|env| json!(env)));
        }
        false => {
            put("url", config.url.as_deref().map(Value::from));
            put("headers", config.headers.as_ref().map(|headers| json!(headers)));
        }
    }
    put("enabled", config.enabled.map(Value::from));
    match old {
        Some(old) => edited::filled(&entry, old),
        None => Ok(entry),
    }
}

/// The entry as it is shown here: with the mask where something is secret.
pub(super) fn masked(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = edited::shown(spec);
    if entry.get("url").is_some_and(Value::is_null) {
        entry.insert("url".to_owned(), spec.target().into());
    }
    entry.values_mut().for_each(mask_nulls);
    entry
}

fn mask_nulls(value: &mut Value) {
    match value {
        Value::Null => *value = mask::MASK.into(),
        Value::Array(items) => items.iter_mut().for_each(mask_nulls),
        Value::Object(pairs) => pairs.values_mut().for_each(mask_nulls),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What comes back as it was shown, with a mask in it, is kept: the page sends what it has.
fn unseen(given: Value, seen: Option<&Value>) -> Value {
    match given {
        Value::String(text) if text.contains(mask::MASK) => match seen.and_then(Value::as_str) {
            Some(seen) if seen == text => Value::Null,
            _ => Value::String(text),
        },
        Value::Array(items) => {
            let item = |(at, item)| unseen(item, seen.and_then(|seen| seen.get(at)));
            items.into_iter().enumerate().map(item).collect()
        }
        Value::Object(pairs) => {
            let old = seen.and_then(Value::as_object);
            let find = |name: &str| {
                old.and_then(|old| old.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)))
            };
            let pair = |(name, value): (String, Value)| {
                let seen = find(&name).map(|(_, seen)| seen);
                let value = unseen(value, seen);
                (name, value)
            };
            pairs.into_iter().map(pair).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => given,
    }
}
