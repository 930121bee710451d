//! Where YAML's values really begin and end: the reader's places take in anchors, comments after
//! quotes and blank lines after blocks, and an alias has the place of what it stands for.

use std::ops::Range;

use super::lines;
use crate::syntax::{Field, Node, Value};

/// Whether a table or a list is written between brackets.
pub(super) fn is_flow(text: &str, node: &Node) -> bool {
    match (&node.value, node.items().first()) {
        (Value::List(_), Some(item)) => dash(text, item.span.start).is_none(),
        _ => text[unlabelled(text, node.span.start)..].starts_with(['{', '[']),
    }
}

/// The dash that an item of a block list has before it.
pub(super) fn dash(text: &str, item: usize) -> Option<usize> {
    let before = text[..item].trim_end();
    before.ends_with('-').then(|| before.len() - 1)
}

/// Behind the anchor and the tag that a value may begin with.
pub(super) fn unlabelled(text: &str, at: usize) -> usize {
    let mut at = at;
    while text[at..].starts_with(['&', '!']) {
        at += text[at..].find(char::is_whitespace).unwrap_or(text.len() - at);
        at += text[at..].len() - text[at..].trim_start().len();
    }
    at
}

/// Where the text of a node ends, or `from` if it is written elsewhere.
pub(super) fn end(text: &str, node: &Node, from: usize) -> usize {
    if node.span.start < from {
        return from;
    }
    match &node.value {
        Value::List(_) | Value::Map(_) if is_flow(text, node) => flow_end(text, node),
        Value::List(items) => items.iter().map(|item| end(text, item, from)).max().unwrap_or(from),
        Value::Map(_) => {
            let own = node.fields().iter().filter(|field| field.key_span.start >= from);
            own.map(|field| value(text, field).end).max().unwrap_or(from)
        }
        _ => scalar_end(text, node).max(from),
    }
}

/// Behind the bracket that closes, which comes after the last child with nothing of note between.
pub(super) fn flow_end(text: &str, node: &Node) -> usize {
    let open = unlabelled(text, node.span.start);
    let fields = node.fields().iter().filter(|field| field.key_span.start > open);
    let fields = fields.map(|field| value(text, field).end);
    let items = node.items().iter().map(|item| match item.span.start > open {
        true => end(text, item, open),
        false => open,
    });
    let mut at = fields.chain(items).max().unwrap_or(open).max((open + 1).min(text.len()));
    loop {
        let rest = text[at..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        at = text.len() - rest.len();
        match rest.chars().next() {
            Some('#') => at = lines::next(text, at),
            Some('}' | ']') => return at + 1,
            // An alias is the only child without a place of its own.
            Some('*') => at += rest.find([',', '}', ']']).unwrap_or(rest.len()),
            Some(_) | None => return node.span.end,
        }
    }
}

fn scalar_end(text: &str, node: &Node) -> usize {
    let start = unlabelled(text, node.span.start);
    let quote = text[start..].chars().next().filter(|c| matches!(c, '"' | '\''));
    // Behind an anchor alone, what begins is already something else.
    let Some(quote) = quote.filter(|_| start < node.span.end) else {
        return node.span.start + text[node.span.clone()].trim_end().len();
    };
    let mut rest = text[start + 1..].char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let doubled = rest.peek().is_some_and(|(_, c)| *c == '\'');
        match c {
            '\\' if quote == '"' => drop(rest.next()),
            '\'' if quote == '\'' && doubled => drop(rest.next()),
            c if c == quote => return start + 1 + at + 1,
            _ => {}
        }
    }
    node.span.end
}

/// The colon after a key, unless the key is written in the long way (`? key`).
pub(super) fn colon(text: &str, field: &Field) -> Option<usize> {
    let key_end = key_end(text, field);
    let at = lines::skip_spaces(text, key_end);
    text[at..].starts_with(':').then_some(at)
}

fn key_end(text: &str, field: &Field) -> usize {
    let key = Node { span: field.key_span.clone(), value: Value::String(String::new()) };
    scalar_end(text, &key)
}

/// What is written as the value of a key; an empty range after the colon, if nothing is.
pub(super) fn value(text: &str, field: &Field) -> Range<usize> {
    let Some(colon) = colon(text, field) else { return field.value.span.clone() };
    let start = lines::skip_spaces(text, colon + 1);
    if text[start..].starts_with('*') {
        let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}');
        return start..start + text[start..].find(is_end).unwrap_or(text.len() - start);
    }
    if field.value.span.is_empty() {
        return colon + 1..colon + 1;
    }
    let end = end(text, &field.value, colon + 1);
    let beside = !text[start..].starts_with(['\n', '\r', '#']) && start < end;
    if beside { start..end } else { field.value.span.start.min(end)..end }
}
