//! The text of a file that problems point into, with what is secret in it masked. Knows lines and
//! columns; never reads a file.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::mask;

/// A file's text, fit for showing.
pub struct Source {
    path: PathBuf,
    /// The file's own text, which never leaves here.
    raw: Box<str>,
    secrets: Box<FindSecrets>,
    /// Made when something is first shown, which for a good file is never.
    shown: OnceLock<Shown>,
}

struct Shown {
    /// The same bytes at the same places as the file's, secrets replaced by `*`.
    text: String,
    line_starts: Vec<usize>,
    /// Where every character is a byte, columns need no counting.
    ascii: bool,
}

/// Finds the places of a text that must not be shown.
type FindSecrets = dyn Fn(&str) -> Vec<Range<usize>> + Send + Sync;

impl Source {
    /// Takes a text in. What `secrets` finds in it, and words that look like secrets, are masked;
    /// it is asked when something is first shown.
    pub fn new(
        path: impl Into<PathBuf>,
        text: &str,
        secrets: impl Fn(&str) -> Vec<Range<usize>> + Send + Sync + 'static,
    ) -> Self {
        let (raw, secrets) = (text.into(), Box::new(secrets));
        Self { path: path.into(), raw, secrets, shown: OnceLock::new() }
    }

    fn shown(&self) -> &Shown {
        self.shown.get_or_init(|| Shown::new(&self.raw, &(self.secrets)(&self.raw)))
    }

    /// Where the text came from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The masked text.
    pub fn text(&self) -> &str {
        &self.shown().text
    }

    /// Line and column of a byte, both from 1, the column in characters.
    pub fn line_column(&self, at: usize) -> (usize, usize) {
        let (at, shown) = (self.floor(at), self.shown());
        let line = shown.line_starts.partition_point(|start| *start <= at);
        let start = shown.line_starts[line - 1];
        let before = match shown.ascii {
            true => at - start,
            false => shown.text[start..at].chars().count(),
        };
        (line, before + 1)
    }

    /// The masked text of a line, counted from 1, without its end.
    pub fn line(&self, line: usize) -> &str {
        let shown = self.shown();
        let Some(start) = line.checked_sub(1).and_then(|i| shown.line_starts.get(i)) else {
            return "";
        };
        let end = shown.line_starts.get(line).copied().unwrap_or(shown.text.len());
        let line = &shown.text[*start..end];
        // One line end only: returns that stand alone are part of the line, and may be pointed at.
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Where a line, counted from 1, begins.
    pub fn line_start(&self, line: usize) -> usize {
        let start = line.checked_sub(1).and_then(|i| self.shown().line_starts.get(i));
        start.copied().unwrap_or(self.raw.len())
    }

    /// The range, made to fit the text and to fall on characters of it.
    pub fn clamp(&self, span: &Range<usize>) -> Range<usize> {
        let start = self.floor(span.start);
        start..self.floor(span.end).max(start)
    }

    fn floor(&self, at: usize) -> usize {
        let mut at = at.min(self.raw.len());
        while !self.raw.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

impl Shown {
    fn new(raw: &str, secrets: &[Range<usize>]) -> Self {
        let mut bytes = raw.as_bytes().to_vec();
        let suspicious = secret_words(raw);
        for range in secrets.iter().chain(&suspicious) {
            let end = range.end.min(bytes.len());
            for byte in &mut bytes[range.start.min(end)..end] {
                if !matches!(byte, b'\n' | b'\r') {
                    *byte = b'*';
                }
            }
        }
        // A range that cuts a character would leave half of one; `*` for the rest of it too.
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|e| e.into_bytes().iter().map(|b| ascii_or_star(*b)).collect());
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        let line_starts = std::iter::once(0).chain(starts).collect();
        Self { ascii: text.is_ascii(), text, line_starts }
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.raw == other.raw
    }
}

impl Eq for Source {}

/// The path only: a text is never worth a log.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.path.display())
    }
}

fn ascii_or_star(byte: u8) -> char {
    if byte.is_ascii() { byte as char } else { '*' }
}

fn secret_words(text: &str) -> Vec<Range<usize>> {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && is_word(bytes[at]) {
            at += 1;
        }
        if mask::looks_secret(&text[start..at]) {
            found.push(start..at);
        }
        at += 1;
        while at < bytes.len() && !text.is_char_boundary(at) {
            at += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests;
