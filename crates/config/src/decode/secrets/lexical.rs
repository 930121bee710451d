//! Where the secrets of a text probably are that cannot be read as a tree. It rather hides too much:
//! whoever mends a comma needs to see the comma, not the values. Quotes are not trusted, since one
//! of them may be what is missing.

use std::ops::Range;

use switchboard_model::mask;

use super::{is_holder, is_secret_key, url_secrets};

/// The places: on each line what follows the first key that may have a secret, and every line of an
/// environment or of headers.
pub(crate) fn lexical_spans(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    // Up to here, everything is an environment or headers.
    let mut until = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('[') && line.trim_end().ends_with(']') {
            until = start;
        }
        let from = if start < until { Some(0) } else { first_secret(line) };
        if let Some(from) = from {
            hide(&line[from..], start + from, &mut found);
        }
        if start >= until
            && let Some(holder) = last_holder(line)
        {
            until = end_of_region(text, start, holder);
        }
        for (at, _) in line.match_indices("://") {
            let end = line[at..].find([' ', '"', '\'', '\n']).map_or(line.len(), |n| at + n);
            url_secrets(&line[at..end], start + at, &mut found);
        }
        start += line.len();
    }
    found
}

/// The words of a line, with where each begins.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| !c.is_whitespace() && !"\"'{}[],:=".contains(c);
    let starts = line.char_indices().scan(false, move |inside, (at, c)| {
        let begins = is_word(c) && !*inside;
        *inside = is_word(c);
        Some(begins.then_some(at))
    });
    starts.flatten().map(move |at| {
        let end = line[at..].find(|c| !is_word(c)).map_or(line.len(), |n| at + n);
        (at, &line[at..end])
    })
}

/// Behind which byte of a line secrets may stand.
fn first_secret(line: &str) -> Option<usize> {
    let secret = |(at, word): &(usize, &str)| {
        let name = word.rsplit('.').next().unwrap_or_default();
        let option = word.starts_with('-') && mask::is_secret_key(word);
        option || ((is_holder(name) || names_secret(name)) && is_key(line, *at, word))
    };
    words(line).find(secret).map(|(at, word)| at + word.len())
}

/// Whether a word stands before `:`, `=` or the `]` of a table's header.
fn is_key(line: &str, at: usize, word: &str) -> bool {
    let after = line[at + word.len()..].trim_start_matches(['"', '\'', ' ', '\t']);
    after.starts_with([':', '=']) || (after.starts_with(']') && line.trim_start().starts_with('['))
}

/// A key that usually stands for a secret, a variable's name, or a header of somebody's own.
fn names_secret(key: &str) -> bool {
    let upper = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    let variable = key.len() > 1 && key.bytes().all(upper);
    let own_header = key.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("x-"));
    is_secret_key(key) || variable || own_header
}

/// Hides every word but keys, `Bearer` and `${VARIABLE}`.
fn hide(part: &str, offset: usize, found: &mut Vec<Range<usize>>) {
    let mut variable_until = 0;
    for (at, word) in words(part) {
        let end = at + word.len();
        let scheme = mask::is_scheme(&format!("{word} "));
        let before = part[..at].trim_end_matches(['"', '\'', ' ', '\t']);
        let key = is_key(part, at, word) && before.ends_with(['{', ',']);
        if at >= variable_until && !scheme && !key {
            found.push(offset + at..offset + at + word.trim_end_matches('$').len());
        }
        if word.ends_with('$') && part[end..].starts_with('{') {
            let name = |c: char| c.is_ascii_alphanumeric() || c == '{' || c == '_';
            variable_until = end + part[end..].find(|c| !name(c)).unwrap_or(0);
        }
    }
}

/// Where on a line the last environment or headers begin.
fn last_holder(line: &str) -> Option<usize> {
    let holder = |(at, word): &(usize, &str)| {
        is_holder(word.rsplit('.').next().unwrap_or_default()) && is_key(line, *at, word)
    };
    words(line).filter(holder).last().map(|(at, word)| at + word.len())
}

/// Where the table ends whose key ends `at` bytes into the line that begins at `line`.
fn end_of_region(text: &str, line: usize, at: usize) -> usize {
    let rest = &text[line + at..];
    let after = rest.trim_start_matches(['"', '\'', ' ', '\t', ':', '=']);
    let start = text.len() - after.len();
    if after.starts_with(']') {
        return text[start..].find("\n[").map_or(text.len(), |n| start + n);
    }
    if after.starts_with('{') {
        return end_of_braces(text, start);
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(&text[line..]);
    let mut end = text[start..].find('\n').map_or(text.len(), |n| start + n + 1);
    for line in text[end..].split_inclusive('\n') {
        if !line.trim().is_empty() && indent(line) <= own {
            break;
        }
        end += line.len();
    }
    end
}

fn end_of_braces(text: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (n, byte) in text[start..].bytes().enumerate() {
        depth = match byte {
            b'{' => depth + 1,
            b'}' => depth.saturating_sub(1),
            _ => depth,
        };
        if depth == 0 {
            return start + n;
        }
    }
    text.len()
}
