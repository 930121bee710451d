//! The statements of a TOML file in their order: headers and keys, each with its way from the top.
//! Reads only texts that are known to be valid.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Step, Trail};

/// A header or a key with its value.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) trail: Trail,
    pub(super) kind: Kind,
    /// From its first character to its last, without comments.
    pub(super) span: Range<usize>,
    /// Which header it stands under: the number of headers before it, itself included.
    pub(super) section: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// `[a.b]` or `[[a.b]]`.
    Header,
    /// `a.b = value`; how many keys it has, and where its value is.
    Pair { keys: usize, value: Range<usize> },
}

pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut scanner =
        Scanner { text, at: 0, section: 0, table: Vec::new(), counts: BTreeMap::new() };
    let mut found = Vec::new();
    while let Some(statement) = scanner.statement() {
        found.push(statement);
    }
    found
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    section: usize,
    table: Trail,
    /// How many elements each array of tables has by now.
    counts: BTreeMap<Trail, usize>,
}

impl Scanner<'_> {
    fn statement(&mut self) -> Option<Statement> {
        self.skip_trivia();
        let start = self.at;
        let first = self.text[start..].chars().next()?;
        if first == '[' {
            return Some(self.header(start));
        }
        let equals = self.until('=');
        let keys = keys(&self.text[start..equals]);
        self.at = super::lines::skip_spaces(self.text, (equals + 1).min(self.text.len()));
        let value = self.value();
        let trail = self.table.iter().cloned().chain(keys.iter().map(|k| k.as_str().into()));
        Some(Statement {
            trail: trail.collect(),
            span: start..value.end,
            kind: Kind::Pair { keys: keys.len(), value },
            section: self.section,
        })
    }

    fn header(&mut self, start: usize) -> Statement {
        let array = self.text[start..].starts_with("[[");
        self.at = start + if array { 2 } else { 1 };
        let inner = self.at;
        let close = self.until(']');
        let keys = keys(&self.text[inner..close]);
        self.at = (close + if array { 2 } else { 1 }).min(self.text.len());
        let mut trail = Trail::new();
        for (index, key) in keys.iter().enumerate() {
            trail.push(key.as_str().into());
            if array && index + 1 == keys.len() {
                *self.counts.entry(trail.clone()).or_default() += 1;
            }
            if let Some(count) = self.counts.get(&trail) {
                trail.push(Step::At(count - 1));
            }
        }
        self.section += 1;
        self.table = trail.clone();
        Statement { trail, kind: Kind::Header, span: start..self.at, section: self.section }
    }

    fn skip_trivia(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start().len();
            if !self.text[self.at..].starts_with('#') {
                return;
            }
            self.at = super::lines::next(self.text, self.at);
        }
    }

    /// The place of a character outside of quotes.
    fn until(&mut self, wanted: char) -> usize {
        while let Some(c) = self.text[self.at..].chars().next() {
            match c {
                c if c == wanted => break,
                '"' | '\'' => self.string(),
                c => self.at += c.len_utf8(),
            }
        }
        self.at
    }

    /// Goes over a value, to the end of its line or of its brackets.
    fn value(&mut self) -> Range<usize> {
        let (start, mut end, mut depth) = (self.at, self.at, 0_usize);
        while let Some(c) = self.text[self.at..].chars().next() {
            match c {
                '"' | '\'' => {
                    self.string();
                    end = self.at;
                    continue;
                }
                '\n' | '#' if depth == 0 => break,
                '#' => {
                    self.at = super::lines::next(self.text, self.at);
                    continue;
                }
                '[' | '{' => depth += 1,
                ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += c.len_utf8();
            if !c.is_whitespace() {
                end = self.at;
            }
        }
        start..end
    }

    /// Goes over a string of any of the four kinds.
    fn string(&mut self) {
        let rest = &self.text[self.at..];
        let quote = &rest[..1];
        let long = quote.repeat(3);
        let close = if rest.starts_with(&long) { long.as_str() } else { quote };
        let mut at = self.at + close.len();
        while at < self.text.len() && !self.text[at..].starts_with(close) {
            let escaped = quote == "\"" && self.text[at..].starts_with('\\');
            at += if escaped { 1 } else { 0 };
            at += self.text[at..].chars().next().map_or(0, char::len_utf8);
        }
        at = (at + close.len()).min(self.text.len());
        // A long string may end in up to two quotes of its own.
        while close.len() == 3 && self.text[at..].starts_with(quote) {
            at += 1;
        }
        self.at = at;
    }
}

fn keys(text: &str) -> Vec<String> {
    let parsed = toml_edit::Key::parse(text.trim()).unwrap_or_default();
    parsed.iter().map(|key| key.get().to_owned()).collect()
}
