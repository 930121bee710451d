//! Changes in TOML, statement by statement: under headers, with dotted keys, or inside inline values.

use std::ops::Range;

use serde_json::{Map, Value as Json};

use super::flow::{Brackets, Child};
use super::render::{self, Layout};
use super::scan::{Kind, Statement, statements};
use super::{Edit, Op, Step, Stuck, delete, find, insert, lines, replace, stuck, wrapped};
use crate::syntax::{Format, Node};

pub(super) fn edits(text: &str, root: &Node, op: &Op) -> Result<Vec<Edit>, Stuck> {
    let tables = Tables { text, root, statements: statements(text) };
    match op {
        Op::Set(trail, value) => tables.set(trail, value),
        Op::Remove(trail) => tables.remove(trail),
        Op::Push(trail, value) => tables.push(trail, value),
    }
}

struct Tables<'t> {
    text: &'t str,
    root: &'t Node,
    statements: Vec<Statement>,
}

impl Tables<'_> {
    fn set(&self, trail: &[Step], value: &Json) -> Result<Vec<Edit>, Stuck> {
        if let Some((statement, range)) = self.pair_above(trail) {
            return match statement.trail.len() == trail.len() {
                true => Ok(vec![replace(range, render::flow(value, &layout()))]),
                false => self.set_inside(statement, trail, value),
            };
        }
        if self.under(trail).next().is_some() {
            return stuck("a table stands where a value is to be written");
        }
        let Some((Step::Key(key), table)) = trail.split_last() else {
            return stuck("there is no such item");
        };
        match value {
            // A table in a table of such (servers, agents) has a header of its own.
            Json::Object(map) if table.len() == 1 || self.last_pair(table).is_none() => {
                self.add_table(trail, map)
            }
            _ => self.add_pair(table, key, value),
        }
    }

    /// A value inside an inline table.
    fn set_inside(
        &self,
        statement: &Statement,
        trail: &[Step],
        value: &Json,
    ) -> Result<Vec<Edit>, Stuck> {
        let there = |n: &usize| find(self.root, &trail[..*n]).is_some();
        let depth = (statement.trail.len()..=trail.len()).rev().find(there).unwrap_or(0);
        let (container, rest) = match depth == trail.len() {
            true => (&trail[..depth - 1], &trail[depth - 1..]),
            false => (&trail[..depth], &trail[depth..]),
        };
        let (Some(node), Some(Step::Key(key))) = (find(self.root, container), rest.first()) else {
            return stuck("there is no such item");
        };
        let brackets = Brackets::of(self.text, Format::Toml, node)?;
        let value = wrapped(value.clone(), &rest[1..])?;
        Ok(match node.get(key) {
            Some(old) => vec![brackets.set(old.span.clone(), &value)],
            None => brackets.push(&Child::Pair(key, &value)),
        })
    }

    /// A new table: in the style of the last of its siblings, after it.
    fn add_table(&self, trail: &[Step], map: &Map<String, Json>) -> Result<Vec<Edit>, Stuck> {
        let Some((Step::Key(key), parent)) = trail.split_last() else {
            return stuck("there is no such item");
        };
        let last = self.under(parent).filter(|s| s.trail.len() > parent.len()).last();
        if let Some(Statement { kind: Kind::Pair { .. }, trail: sibling, .. }) = last
            && sibling.len() == trail.len()
            && find(self.root, sibling).is_some_and(Node::is_map)
        {
            return self.add_pair(parent, key, &Json::Object(map.clone()));
        }
        let header = header_keys(trail);
        Ok(vec![self.new_section(trail, &render::section(&header, ["[", "]"], map))])
    }

    /// A new key of a table, after the last key that the table has.
    fn add_pair(&self, table: &[Step], key: &str, value: &Json) -> Result<Vec<Edit>, Stuck> {
        if let Some(last) = self.last_pair(table) {
            let section = match &last.kind {
                Kind::Pair { keys, .. } => last.trail.len() - keys,
                Kind::Header => table.len(),
            };
            let keys = header_keys(&table[section..]);
            let keys: Vec<String> = keys.into_iter().chain([key.to_owned()]).collect();
            let indent = lines::indent(self.text, last.span.start);
            let value = render::flow(value, &layout());
            let line = format!("\n{indent}{} = {value}", render::dotted(&keys));
            return Ok(vec![insert(lines::end(self.text, last.span.end), line)]);
        }
        if table.is_empty() {
            let line = render::pair(key, value, &layout());
            let at = self
                .statements
                .first()
                .map_or(self.text.len(), |first| self.with_comments(first.span.start));
            return Ok(vec![insert(at, format!("{line}\n"))]);
        }
        let map = [(key.to_owned(), value.clone())].into_iter().collect();
        let header = header_keys(table);
        Ok(vec![self.new_section(table, &render::section(&header, ["[", "]"], &map))])
    }

    /// The last key of a table itself, or its header, and not of tables under it that have headers.
    fn last_pair(&self, table: &[Step]) -> Option<&Statement> {
        self.statements.iter().rfind(|statement| {
            statement.trail.starts_with(table)
                && match &statement.kind {
                    Kind::Pair { keys, .. } => statement.trail.len() - keys <= table.len(),
                    Kind::Header => statement.trail == table,
                }
        })
    }

    fn push(&self, trail: &[Step], value: &Json) -> Result<Vec<Edit>, Stuck> {
        let is_inline = self.pair_above(trail).is_some();
        match (value, is_inline) {
            (_, true) => match find(self.root, trail) {
                Some(node) => {
                    Ok(Brackets::of(self.text, Format::Toml, node)?.push(&Child::Item(value)))
                }
                None => self.set(trail, &Json::Array(vec![value.clone()])),
            },
            (Json::Object(map), false) => {
                let header = header_keys(trail);
                Ok(vec![self.new_section(trail, &render::section(&header, ["[[", "]]"], map))])
            }
            (_, false) => self.set(trail, &Json::Array(vec![value.clone()])),
        }
    }

    fn remove(&self, trail: &[Step]) -> Result<Vec<Edit>, Stuck> {
        if let Some((statement, _)) = self.pair_above(trail)
            && statement.trail.len() < trail.len()
        {
            return self.remove_inside(trail);
        }
        let mut cuts: Vec<Range<usize>> = Vec::new();
        let gone: Vec<bool> = self.statements.iter().map(|s| s.trail.starts_with(trail)).collect();
        let mut at = 0;
        while at < gone.len() {
            let first = at;
            while at < gone.len() && gone[at] {
                at += 1;
            }
            if at > first {
                let from = self.with_comments(self.statements[first].span.start);
                let end = self.end_with_comments(&self.statements[at - 1]);
                cuts.push(lines::cut(self.text, from..lines::next(self.text, end)));
            }
            at += 1;
        }
        Ok(cuts.into_iter().map(delete).collect())
    }

    fn remove_inside(&self, trail: &[Step]) -> Result<Vec<Edit>, Stuck> {
        let Some((last, container)) = trail.split_last() else { return Ok(Vec::new()) };
        let Some(node) = find(self.root, container) else { return Ok(Vec::new()) };
        let brackets = Brackets::of(self.text, Format::Toml, node)?;
        let place = match last {
            Step::At(at) => node.items().get(*at).map(|item| item.span.start),
            Step::Key(key) => {
                node.fields().iter().find(|f| f.key == *key).map(|f| f.key_span.start)
            }
        };
        let index = brackets.children.iter().position(|child| Some(child.start) == place);
        Ok(index.map(|index| brackets.remove(index)).unwrap_or_default())
    }

    /// A section of its own, after the last one that it belongs with.
    fn new_section(&self, trail: &[Step], section: &str) -> Edit {
        let kin = (1..=trail.len()).rev().find_map(|n| self.under(&trail[..n]).last());
        let last_of_section =
            |kin: &Statement| self.statements.iter().rfind(|s| s.section == kin.section);
        match kin.and_then(last_of_section).or(self.statements.last()) {
            Some(last) => insert(self.end_with_comments(last), format!("\n\n{section}")),
            None => match self.text.trim_end().len() {
                0 => insert(0, format!("{section}\n")),
                end => {
                    let last = if end == self.text.len() { "\n" } else { "" };
                    insert(end, format!("\n\n{section}{last}"))
                }
            },
        }
    }

    /// The key whose value is at the trail or holds what is.
    fn pair_above(&self, trail: &[Step]) -> Option<(&Statement, Range<usize>)> {
        self.statements.iter().find_map(|statement| match &statement.kind {
            Kind::Pair { value, .. } if trail.starts_with(&statement.trail) => {
                Some((statement, value.clone()))
            }
            Kind::Pair { .. } | Kind::Header => None,
        })
    }

    fn under<'s>(&'s self, trail: &'s [Step]) -> impl Iterator<Item = &'s Statement> {
        self.statements.iter().filter(move |statement| statement.trail.starts_with(trail))
    }

    fn with_comments(&self, at: usize) -> usize {
        lines::with_comments(self.text, at, |line| line.trim_start().starts_with('#'))
    }

    /// The end of the statement's line, or of the comments right below it that touch nothing else.
    fn end_with_comments(&self, statement: &Statement) -> usize {
        let line = lines::end(self.text, statement.span.end);
        let mut end = line;
        loop {
            let next = lines::next(self.text, end);
            let below = lines::trimmed(self.text, next);
            match (next == self.text.len() || below.is_empty(), below.starts_with('#')) {
                (true, _) => return end,
                (false, true) => end = lines::end(self.text, next),
                // They stand right above the next statement, which they are about.
                (false, false) => return line,
            }
        }
    }
}

/// The keys of a header; the elements of arrays go without saying, being the last ones.
fn header_keys(trail: &[Step]) -> Vec<String> {
    let keys = trail.iter().filter_map(|step| match step {
        Step::Key(key) => Some(key.clone()),
        Step::At(_) => None,
    });
    keys.collect()
}

fn layout() -> Layout {
    Layout { format: Format::Toml, indent: String::new(), unit: "  ".to_owned(), lines: true }
}
