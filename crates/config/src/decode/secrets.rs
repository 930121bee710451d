//! Finds the places of a file that must not be shown: the values of environments, headers and keys
//! that are named like secrets. Variables in them stay readable.

mod lexical;

use std::ops::Range;

use switchboard_model::mask;

pub(crate) use self::lexical::lexical_spans;

use crate::syntax::{Node, Value};

/// Where in `text`, of which `root` is the tree, the secrets are.
pub(crate) fn secret_spans(root: &Node, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    walk(root, text, Inside::Open, &mut found);
    found
}

#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Open,
    Secret,
}

fn walk(node: &Node, text: &str, inside: Inside, found: &mut Vec<Range<usize>>) {
    match &node.value {
        Value::Map(fields) => {
            for field in fields {
                let within =
                    if holds_secrets(&field.key, &field.value) { Inside::Secret } else { inside };
                walk(&field.value, text, within, found);
            }
        }
        Value::List(items) => {
            for (at, item) in items.iter().enumerate() {
                let before = at.checked_sub(1).and_then(|at| items[at].as_str());
                match argument(before, item) {
                    Some(skip) => {
                        if let Some(raw) = text.get(item.span.start + skip..item.span.end) {
                            literal_parts(raw, item.span.start + skip, found);
                        }
                    }
                    None => walk(item, text, inside, found),
                }
            }
        }
        Value::String(_) | Value::Number(_) if inside == Inside::Secret => {
            if let Some(raw) = text.get(node.span.clone()) {
                literal_parts(raw, node.span.start, found);
            }
        }
        Value::String(value) if value.contains("://") || value.contains(" -") => {
            if let Some(raw) = text.get(node.span.clone()) {
                url_secrets(raw, node.span.start, found);
                line_secrets(raw, node.span.start, found);
            }
        }
        _ => {}
    }
}

fn holds_secrets(key: &str, value: &Node) -> bool {
    match value.value {
        Value::Map(_) => is_holder(key),
        _ => is_secret_key(key),
    }
}

/// `bearer_token_env_var` and its like name a variable, which is no secret; `key` is `auth`'s.
fn is_secret_key(key: &str) -> bool {
    let names_variable = key.to_ascii_lowercase().ends_with("env_var");
    (mask::is_secret_key(key) && !names_variable) || key == "key"
}

/// Whether a word of a command line is a secret, and how much of it is not: what follows
/// `--api-key`, and what stands behind `--token=`.
fn argument(before: Option<&str>, item: &Node) -> Option<usize> {
    let word = item.as_str()?;
    let option = |word: &str| word.starts_with('-') && mask::is_secret_key(word);
    if before.is_some_and(|before| option(before) && !before.contains('='))
        && !word.starts_with('-')
    {
        return Some(0);
    }
    // The quote that the text begins with is not part of the word.
    let name = word.split_once('=').map(|(name, _)| name).filter(|name| option(name))?;
    Some(name.len() + 2)
}

/// Whether a table of this name is an environment or headers.
fn is_holder(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    matches!(key.as_str(), "env" | "envs" | "environment") || key.ends_with("headers")
}

/// Everything but quotes, `Bearer ` and `${VARIABLE}`.
fn literal_parts(raw: &str, offset: usize, found: &mut Vec<Range<usize>>) {
    let quotes = raw.len() - raw.trim_start_matches(['"', '\'']).len();
    let body = raw[quotes..].trim_end_matches(['"', '\'']);
    let scheme = body.find(' ').map_or(0, |n| n + 1);
    let skip = if mask::is_scheme(&body[..scheme]) { scheme } else { 0 };
    let (mut at, end) = (quotes + skip, quotes + body.len());
    while at < end {
        let rest = &raw[at..end];
        let variable = rest.find("${").unwrap_or(rest.len());
        if variable > 0 {
            found.push(offset + at..offset + at + variable);
        }
        at += variable;
        // A name and what may stand around it; a default may be a secret again.
        let name = raw[at..end]
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '$' | '{' | '_')))
            .unwrap_or(end - at);
        at += name;
        if raw[at..end].starts_with('}') {
            at += 1;
        } else if at < end && name == 0 {
            found.push(offset + at..offset + end);
            return;
        }
    }
}

/// What follows `--api-key` in a command that is a whole line.
fn line_secrets(raw: &str, offset: usize, found: &mut Vec<Range<usize>>) {
    let option = |word: &str| word.starts_with('-') && mask::is_secret_key(word);
    let mut hide = false;
    for word in raw.split_whitespace() {
        let start = word.as_ptr() as usize - raw.as_ptr() as usize;
        match word.split_once('=').filter(|(name, _)| option(name)) {
            Some((name, value)) => literal_parts(value, offset + start + name.len() + 1, found),
            None if hide && !word.starts_with('-') => literal_parts(word, offset + start, found),
            None => {}
        }
        hide = option(word) && !word.contains('=');
    }
}

/// The password and the query of a URL.
fn url_secrets(raw: &str, offset: usize, found: &mut Vec<Range<usize>>) {
    let Some(scheme) = raw.find("://").map(|n| n + 3) else { return };
    let authority =
        raw[scheme..].find(['/', '?', '#', '"', '\'']).map_or(raw.len(), |n| scheme + n);
    if let Some(at) = raw[scheme..authority].rfind('@')
        && let Some(colon) = raw[scheme..scheme + at].find(':')
    {
        found.push(offset + scheme + colon + 1..offset + scheme + at);
    } else if let Some(colon) = mask::lost_password(&raw[scheme..authority]) {
        found.push(offset + scheme + colon..offset + authority);
    }
    if let Some(query) = raw.find('?') {
        let end = raw.trim_end_matches(['"', '\'']).len();
        for pair in raw[query..end].split_inclusive('&') {
            let start = pair.as_ptr() as usize - raw.as_ptr() as usize;
            if let Some(equals) = pair.find('=') {
                let value = pair[equals + 1..].trim_end_matches('&');
                literal_parts(value, offset + start + equals + 1, found);
            }
        }
    }
}

#[cfg(test)]
mod tests;
