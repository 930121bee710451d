//! An entry as whoever may change the server reads it, and as it comes back: what is secret is `null` in
//! it, and `null` keeps what is there. Pure.

use serde_json::{Map, Value};
use switchboard_config::shape::server_entry;
use switchboard_model::steering::steers;
use switchboard_model::{IfMissing, SecretTemplate, ServerSpec, Template, mask};

use super::entry::moved;
use crate::error::{Problem, Result};

/// The parts of an entry in which a secret may stand.
const KEPT: [&str; 7] = ["command", "args", "env", "cwd", "url", "headers", "auth"];

/// Those that say where its secrets go.
const TARGET: [&str; 4] = ["command", "args", "cwd", "url"];

/// The entry of a server, with `null` for whatever is secret.
pub(crate) fn shown(spec: &ServerSpec) -> Map<String, Value> {
    let mut entry = server_entry(spec);
    for table in ["env", "headers"] {
        if let Some(Value::Object(pairs)) = entry.get_mut(table) {
            pairs.values_mut().for_each(hide);
        }
    }
    if let Some(Value::Object(auth)) = entry.get_mut("auth") {
        let secrets = ["token", "key", "client_secret"];
        secrets.into_iter().for_each(|name| auth.get_mut(name).into_iter().for_each(hide));
    }
    if let Some(url) = entry.get_mut("url")
        && url.as_str().is_some_and(|text| mask::url(text) != text)
    {
        *url = Value::Null;
    }
    hide_words(&mut entry);
    entry
}

/// The entry with what is kept put in the place of every `null`. It stays where it was: nothing is kept for
/// another address or command. What is masked is refused: nobody means the mask.
pub(crate) fn filled(entry: &Map<String, Value>, old: &ServerSpec) -> Result<Map<String, Value>> {
    let (mut entry, old) = (entry.clone(), server_entry(old));
    let mut kept = Vec::new();
    for part in KEPT {
        if let Some(value) = entry.get_mut(part) {
            fill(part, value, old.get(part), &mut kept)?;
        }
    }
    let same = TARGET.iter().all(|part| entry.get(*part) == old.get(*part))
        && steering(&entry) == steering(&old);
    match kept.first() {
        Some(place) if !same => Err(moved(place)),
        _ => Ok(entry),
    }
}

/// The variables of an entry that decide which code runs, and so where its secrets go.
fn steering(entry: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let env = entry.get("env").and_then(Value::as_object).into_iter().flatten();
    env.filter(|(name, _)| steers(name)).collect()
}

/// Refuses an entry that holds a mask.
pub(crate) fn unmasked(entry: &Map<String, Value>) -> Result<()> {
    let parts = KEPT.iter().filter_map(|part| Some((*part, entry.get(*part)?)));
    parts.into_iter().try_for_each(|(part, value)| no_mask(part, value))
}

fn no_mask(place: &str, value: &Value) -> Result<()> {
    match value {
        Value::String(text) if is_masked(text) => Err(masked(place)),
        Value::Array(items) => items.iter().try_for_each(|item| no_mask(place, item)),
        Value::Object(pairs) => {
            pairs.iter().try_for_each(|(name, value)| no_mask(&format!("{place}.{name}"), value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn fill(place: &str, new: &mut Value, old: Option<&Value>, filled: &mut Vec<String>) -> Result<()> {
    match new {
        Value::Null => {
            let kept = old.filter(|old| !old.is_null());
            let nothing = || format!("`{place}` is null, and there is nothing that it could keep");
            *new = kept.cloned().ok_or_else(|| Problem::invalid(nothing()))?;
            filled.push(place.to_owned());
        }
        Value::String(text) if is_masked(text) => return Err(masked(place)),
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                fill(&format!("{place}[{at}]"), item, old.and_then(|old| old.get(at)), filled)?;
            }
        }
        Value::Object(pairs) => {
            let old = old.and_then(Value::as_object);
            for (name, value) in pairs {
                // Names of headers are written in any case.
                let pair =
                    old.and_then(|old| old.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)));
                fill(&format!("{place}.{name}"), value, pair.map(|(_, old)| old), filled)?;
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(())
}

/// The mask as a whole value, as the value of an option, or anywhere in a URL or behind `Bearer `.
fn is_masked(text: &str) -> bool {
    let word = text.rsplit([' ', '=']).next().unwrap_or_default();
    word == mask::MASK || (text.contains("://") && text.contains(mask::MASK))
}

fn masked(place: &str) -> Problem {
    let text = format!("`{place}` holds `{}`, which stands for a secret and is none", mask::MASK);
    Problem::invalid(text).remedy("Send null to keep what is there, or the secret itself.")
}

/// A default is as much of a text as what stands around the variables.
fn hide(value: &mut Value) {
    let Some(text) = value.as_str() else { return };
    let template = Template::parse(text).map(SecretTemplate::new);
    let default = |missing: &IfMissing| matches!(missing, IfMissing::Use(text) if !text.is_empty());
    let open = template.is_ok_and(|template| {
        !template.has_literal_secret() && !template.variables().any(|(_, missing)| default(missing))
    });
    if !open {
        *value = Value::Null;
    }
}

fn hide_words(entry: &mut Map<String, Value>) {
    let mut before = entry.get("command").and_then(Value::as_str).map(str::to_owned);
    if before.as_deref().is_some_and(|command| mask::hides_word(None, command)) {
        entry.insert("command".to_owned(), Value::Null);
    }
    let Some(Value::Array(args)) = entry.get_mut("args") else { return };
    for arg in args {
        let word = arg.as_str().unwrap_or_default().to_owned();
        if mask::hides_word(before.as_deref(), &word) {
            *arg = Value::Null;
        }
        before = Some(word);
    }
}

#[cfg(test)]
mod tests;
