//! Tables and lists between brackets: JSON, YAML's flow style, TOML's inline values.

use std::ops::Range;

use serde_json::Value as Json;

use super::render::{self, Layout};
use super::{Edit, Stuck, delete, insert, lines, replace, stuck, yaml};
use crate::syntax::{Format, Node, Value};

/// A table or a list between brackets, and its children in their order.
pub(super) struct Brackets<'t> {
    text: &'t str,
    format: Format,
    open: usize,
    close: usize,
    pub(super) children: Vec<Range<usize>>,
}

/// What is put into brackets.
pub(super) enum Child<'v> {
    Pair(&'v str, &'v Json),
    Item(&'v Json),
}

impl<'t> Brackets<'t> {
    pub(super) fn of(text: &'t str, format: Format, node: &Node) -> Result<Self, Stuck> {
        let (open, end) = match format {
            Format::Yaml => (yaml::unlabelled(text, node.span.start), yaml::flow_end(text, node)),
            Format::Json | Format::Toml => (node.span.start, node.span.end),
        };
        let inside = text.get(open..end).unwrap_or_default();
        if !(inside.len() >= 2 && inside.starts_with(['{', '[']) && inside.ends_with(['}', ']'])) {
            return stuck("it is written in a way that cannot be changed");
        }
        let mut children: Vec<Range<usize>> = match &node.value {
            Value::Map(fields) => fields
                .iter()
                .map(|field| match format {
                    Format::Yaml => field.key_span.start..yaml::value(text, field).end,
                    Format::Json | Format::Toml => {
                        field.key_span.start..value_end(text, &field.value)
                    }
                })
                .collect(),
            _ => node
                .items()
                .iter()
                .map(|item| item.span.start..item_end(text, format, item))
                .collect(),
        };
        children.sort_by_key(|child| child.start);
        let close = end - 1;
        if children.iter().any(|child| child.start <= open || child.end > close) {
            return stuck("an alias brings in what stands elsewhere");
        }
        Ok(Self { text, format, open, close, children })
    }

    /// Whether the children stand on lines of their own.
    fn is_tall(&self) -> bool {
        let inner = self.children.first().map_or(self.close, |child| child.start);
        self.text[self.open..inner].contains('\n')
    }

    /// Adds a child after the last one.
    pub(super) fn push(&self, child: &Child<'_>) -> Vec<Edit> {
        let Some(last) = self.children.last() else { return self.push_first(child) };
        if !self.is_tall() {
            return vec![insert(last.end, format!(", {}", self.rendered(child, false)))];
        }
        let comma = self.comma_after(last.end);
        let Some(line_end) = self.rest_of_line(comma.map_or(last.end, |comma| comma + 1)) else {
            return vec![insert(last.end, format!(", {}", self.rendered(child, false)))];
        };
        let indent = self.child_indent();
        let blank = match self.children.iter().rev().nth(1) {
            Some(previous) if lines::blank_between(self.text, previous.end, last.start) => "\n",
            _ => "",
        };
        let trailing = if comma.is_some() { "," } else { "" };
        let line = format!("\n{blank}{indent}{}{trailing}", self.rendered(child, true));
        let mut edits = vec![insert(line_end, line)];
        if comma.is_none() {
            edits.insert(0, insert(last.end, ","));
        }
        edits
    }

    fn push_first(&self, child: &Child<'_>) -> Vec<Edit> {
        let inner = self.open + 1..self.close;
        let base = lines::indent(self.text, self.open);
        let unit = lines::unit(self.text);
        if !self.text[inner.clone()].trim().is_empty() {
            // Only comments: the child comes after them, and apart, since they are not about it.
            let comments = self.text[inner.clone()].trim_end();
            let apart = if comments.contains('\n') { "\n\n" } else { "\n" };
            let at = inner.start + comments.len();
            return vec![insert(at, format!("{apart}{base}{unit}{}", self.rendered(child, true)))];
        }
        let whole = self.text.trim();
        let tall = self.format == Format::Json
            && (whole.contains('\n') || whole.len() == 2)
            && matches!(child, Child::Pair(..));
        let spaced = self.format == Format::Toml && self.text[self.open..].starts_with('{');
        let with = match (tall, spaced) {
            (true, _) => format!("\n{base}{unit}{}\n{base}", self.rendered(child, true)),
            (false, true) => format!(" {} ", self.rendered(child, false)),
            (false, false) => self.rendered(child, false),
        };
        vec![replace(inner, with)]
    }

    /// Writes another value in the place of one.
    pub(super) fn set(&self, value: Range<usize>, with: &Json) -> Edit {
        let indent = lines::indent(self.text, value.start).to_owned();
        let layout = self.layout(indent, self.is_tall());
        replace(value, render::flow(with, &layout))
    }

    /// Takes a child out.
    pub(super) fn remove(&self, index: usize) -> Vec<Edit> {
        let child = &self.children[index];
        let comma = self.comma_after(child.end);
        let end = comma.map_or(child.end, |comma| comma + 1);
        let rest = self.rest_of_line(end).filter(|_| lines::is_first(self.text, child.start));
        let Some(line_end) = rest else { return vec![self.remove_within(index)] };
        let comment = self.comment_mark();
        let from = lines::with_comments(self.text, child.start, |line| {
            line.trim_start().starts_with(comment)
        });
        let cut = lines::cut(self.text, from..lines::next(self.text, line_end));
        if self.children.len() == 1 && self.is_bare(&cut) {
            return vec![delete(self.open + 1..self.close)];
        }
        let mut edits = vec![delete(cut)];
        // The one before is now the last, and strict readers want no comma after it.
        if index > 0 && index + 1 == self.children.len() && comma.is_none() {
            let before = self.comma_after(self.children[index - 1].end);
            edits.extend(before.map(|comma| delete(comma..comma + 1)));
        }
        edits
    }

    fn remove_within(&self, index: usize) -> Edit {
        let child = &self.children[index];
        match (index.checked_sub(1), self.children.get(index + 1)) {
            (_, Some(next)) => delete(child.start..next.start),
            (Some(before), None) => delete(self.children[before].end..child.end),
            (None, None) => delete(self.open + 1..self.close),
        }
    }

    /// Whether nothing is left between the brackets without the lines that are cut.
    fn is_bare(&self, cut: &Range<usize>) -> bool {
        let before = self.text.get(self.open + 1..cut.start).unwrap_or_default();
        let after = self.text.get(cut.end..self.close).unwrap_or_default();
        before.trim().is_empty() && after.trim().is_empty()
    }

    fn rendered(&self, child: &Child<'_>, tall: bool) -> String {
        let indent = match self.children.is_empty() {
            true => lines::indent(self.text, self.open).to_owned() + &lines::unit(self.text),
            false => self.child_indent(),
        };
        let layout = self.layout(indent, tall);
        match child {
            Child::Pair(key, value) => render::pair(key, value, &layout),
            Child::Item(value) => render::flow(value, &layout),
        }
    }

    fn layout(&self, indent: String, lines: bool) -> Layout {
        // TOML and YAML have other ways to write what is long.
        let lines = lines && self.format == Format::Json;
        Layout { format: self.format, indent, unit: lines::unit(self.text), lines }
    }

    fn child_indent(&self) -> String {
        let first =
            self.children.iter().rev().find(|child| lines::is_first(self.text, child.start));
        first.map_or("", |child| lines::indent(self.text, child.start)).to_owned()
    }

    fn comment_mark(&self) -> &'static str {
        if self.format == Format::Json { "//" } else { "#" }
    }

    /// The comma that follows, white space and comments aside.
    fn comma_after(&self, at: usize) -> Option<usize> {
        let mut at = at;
        loop {
            at += self.text[at..].len() - self.text[at..].trim_start().len();
            let rest = &self.text[at..];
            if rest.starts_with(self.comment_mark()) {
                at = lines::next(self.text, at);
            } else if self.format == Format::Json && rest.starts_with("/*") {
                at += rest.find("*/").map_or(rest.len(), |found| found + 2);
            } else {
                return rest.starts_with(',').then_some(at);
            }
        }
    }

    /// Where the line ends, if only a comment follows on it.
    fn rest_of_line(&self, at: usize) -> Option<usize> {
        let end = lines::end(self.text, at);
        let rest = self.text[at..end].trim();
        let block = rest.starts_with("/*") && rest.find("*/") == Some(rest.len().wrapping_sub(2));
        let comment =
            rest.starts_with(self.comment_mark()) || (self.format == Format::Json && block);
        (rest.is_empty() || comment).then_some(end)
    }
}

fn item_end(text: &str, format: Format, item: &Node) -> usize {
    match format {
        Format::Yaml => yaml::end(text, item, item.span.start),
        Format::Json | Format::Toml => value_end(text, item),
    }
}

/// The end of a value; a table that dotted keys make has only its children's.
fn value_end(text: &str, node: &Node) -> usize {
    match text[node.span.start..].starts_with('{') {
        false if node.is_map() => {
            let ends = node.fields().iter().map(|field| value_end(text, &field.value));
            ends.max().unwrap_or(node.span.end)
        }
        _ => node.span.end,
    }
}
