//! YAML's block style: tables and lists by indentation.

use serde_json::Value as Json;

use super::render::{self, Layout};
use super::{Edit, Stuck, delete, insert, lines, replace, stuck, yaml};
use crate::syntax::{Field, Format, Node, Value};

/// Writes a key of a table, in the place of `field` if the key is there.
pub(super) fn put(
    text: &str,
    node: &Node,
    key: &str,
    field: Option<&Field>,
    value: &Json,
) -> Result<Vec<Edit>, Stuck> {
    match field {
        Some(field) => set(text, field, value),
        None => add(text, node, key, value),
    }
}

fn add(text: &str, node: &Node, key: &str, value: &Json) -> Result<Vec<Edit>, Stuck> {
    let mut own: Vec<&Field> =
        node.fields().iter().filter(|field| field.key_span.start >= node.span.start).collect();
    own.sort_by_key(|field| field.key_span.start);
    let Some(last) = own.last() else { return stuck("an alias brings all of it in") };
    let layout = layout(text, column(text, last.key_span.start));
    let blank = match own.iter().rev().nth(1) {
        Some(previous) => {
            let from = yaml::value(text, previous).end;
            let to = above(text, last.key_span.start);
            lines::blank_between(text, from, to)
        }
        // The parts of a file stand apart.
        None => layout.indent.is_empty() && matches!(value, Json::Object(_)),
    };
    let at = end_with_comments(text, yaml::value(text, last).end, layout.indent.len());
    let written = render::field(key, value, &layout).join("\n");
    Ok(vec![insert(at, format!("\n{}{written}", if blank { "\n" } else { "" }))])
}

fn set(text: &str, field: &Field, value: &Json) -> Result<Vec<Edit>, Stuck> {
    let Some(colon) = yaml::colon(text, field) else {
        return stuck(format!("`{}` is written in the long way (`? key`)", field.key));
    };
    let layout = layout(text, column(text, field.key_span.start));
    let old = yaml::value(text, field);
    let key_line = lines::end(text, colon);
    let is_beside = old.start <= key_line && !old.is_empty();
    let new = match render::below(value, &layout) {
        Some(below) => format!("\n{}", below.join("\n")),
        None => format!(" {}", render::flow(value, &layout)),
    };
    let goes_below = new.starts_with('\n');
    Ok(match (is_beside, goes_below) {
        (true, false) => vec![replace(colon + 1..old.end, new)],
        // A comment beside the old value stays beside the key.
        (true, true) => vec![delete(colon + 1..old.end), insert(lines::end(text, old.end), new)],
        (false, false) if old.is_empty() => vec![insert(colon + 1, new)],
        (false, true) if old.is_empty() => vec![insert(key_line, new)],
        (false, false) => {
            vec![insert(colon + 1, new), delete(key_line..lines::end(text, old.end))]
        }
        (false, true) => vec![replace(key_line..lines::end(text, old.end), new)],
    })
}

/// Adds an item to a list.
pub(super) fn push(text: &str, node: &Node, value: &Json) -> Result<Vec<Edit>, Stuck> {
    let dashes: Option<Vec<usize>> =
        node.items().iter().map(|item| yaml::dash(text, item.span.start)).collect();
    let (Some(&first), Some(last)) =
        (dashes.as_deref().and_then(<[_]>::first), node.items().last())
    else {
        return stuck("an alias brings in what stands elsewhere");
    };
    let indent = column(text, first);
    let at = end_with_comments(text, yaml::end(text, last, first), indent);
    let layout = layout(text, indent);
    Ok(vec![insert(at, format!("\n{}- {}", layout.indent, render::flow(value, &layout)))])
}

/// Takes the key or the item at `place` out. What it leaves empty is written as such where it is
/// held: a list that is empty says something else than no list.
pub(super) fn remove(
    text: &str,
    node: &Node,
    place: usize,
    holder: Option<&Field>,
) -> Result<Vec<Edit>, Stuck> {
    let is_list = matches!(node.value, Value::List(_));
    let first = match is_list {
        true => yaml::dash(text, place),
        false => Some(place),
    };
    let (Some(first), Some(end)) = (first, end_of(text, node, place)) else {
        return stuck("an alias brings in what stands elsewhere");
    };
    if !lines::is_first(text, first) {
        return stuck("it shares its line with something else");
    }
    let indent = column(text, first);
    let from = lines::with_comments(text, first, |line| {
        line.trim_start().starts_with('#') && line.len() - line.trim_start().len() == indent
    });
    let to = lines::next(text, end_with_comments(text, end, indent));
    let mut edits = vec![delete(lines::cut(text, from..to))];
    if node.fields().len() + node.items().len() == 1
        && let Some(holder) = holder
    {
        let Some(colon) = yaml::colon(text, holder) else {
            return stuck(format!("`{}` is written in the long way (`? key`)", holder.key));
        };
        edits.insert(0, insert(colon + 1, if is_list { " []" } else { " {}" }));
    }
    Ok(edits)
}

fn end_of(text: &str, node: &Node, place: usize) -> Option<usize> {
    let field = node.fields().iter().find(|field| field.key_span.start == place);
    let item = node.items().iter().find(|item| item.span.start == place);
    let field = field.map(|field| {
        let key = yaml::colon(text, field).unwrap_or(field.key_span.end);
        yaml::value(text, field).end.max(key)
    });
    field.or_else(|| item.map(|item| yaml::end(text, item, place)))
}

/// The end of the line, or of the comments that follow it and are indented deeper: they are about
/// what stands above them.
fn end_with_comments(text: &str, at: usize, indent: usize) -> usize {
    let mut end = lines::end(text, at);
    loop {
        let next = lines::next(text, end);
        let is_deeper = lines::indent(text, next).len() > indent;
        if next == text.len() || !is_deeper || !lines::trimmed(text, next).starts_with('#') {
            return end;
        }
        end = lines::end(text, next);
    }
}

/// Where the comments above a key begin.
fn above(text: &str, at: usize) -> usize {
    lines::with_comments(text, at, |line| line.trim_start().starts_with('#'))
}

fn column(text: &str, at: usize) -> usize {
    text[lines::start(text, at)..at].chars().count()
}

fn layout(text: &str, indent: usize) -> Layout {
    let unit = lines::unit(text);
    Layout { format: Format::Yaml, indent: " ".repeat(indent), unit, lines: false }
}
