//! Secrets that the words before them announce: `password=…`, `"token": "…"`, `--api-key …`, `Authorization: …`,
//! `Bearer …`, `-u name:…`, `IDENTIFIED BY '…'`.

use std::ops::Range;

use super::names;

/// What stands before a credential in a header.
const SCHEMES: [&str; 6] = ["apikey", "basic", "bearer", "digest", "negotiate", "token"];
/// Options whose value is `name:password`.
const USERS: [&str; 4] = ["-u", "-U", "--user", "--proxy-user"];
/// A credential behind a scheme is at least so long.
const CREDENTIAL: usize = 6;
/// One without anything that words do not have, at least so long.
const PLAIN: usize = 20;

pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let mut before: Range<usize> = 0..0;
    let mut at = 0;
    while let Some(start) = text[at..].find(is_word).map(|start| at + start) {
        let end = text[start..].find(|c| !is_word(c)).map_or(text.len(), |end| start + end);
        let word = &text[start..end];
        // `api key` is a name as well.
        let both = (text.get(before.end..start) == Some(" ")).then(|| &text[before.start..end]);
        let says = names::says_secret(word) || both.is_some_and(names::says_secret);
        found.extend(if says { announced(text, start..end) } else { None });
        found.extend(credential(text, start..end));
        if USERS.contains(&word) {
            found.extend(user_and_password(text, end));
        }
        (before, at) = (start..end, end);
    }
}

/// How far a value goes.
enum Until {
    /// A password may have blanks in it, a header's value has.
    Line,
    Word,
}

/// The value that a name announces, if it does.
fn announced(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    // The quote that closes the name, and in a text within a text its backslash.
    let after = skip(text, name.end, |c| matches!(c, '"' | '\'' | '`' | '\\' | ']'));
    let next = skip(text, after, is_blank);
    let rest = &text[next..];
    if rest.starts_with([':', '=']) && !rest.starts_with("://") {
        let from = skip(text, next, |c| matches!(c, ':' | '=' | '>'));
        let value = skip(text, from, is_blank);
        let is_line = rest.starts_with(':') && value > from;
        return value_at(text, value, if is_line { Until::Line } else { Until::Word });
    }
    if next == after {
        return None;
    }
    let is_option = text[name.start..].starts_with('-') && !rest.starts_with('-');
    let is_quoted = rest.starts_with(['"', '\'', '`', '\\']);
    match rest.strip_prefix("is ") {
        Some(_) => value_at(text, next + 3, Until::Word),
        None if is_option || is_quoted => value_at(text, next, Until::Word),
        None => None,
    }
}

/// A value: quoted, in brackets, or as far as it goes.
fn value_at(text: &str, at: usize, until: Until) -> Option<Range<usize>> {
    let start = skip(text, at, |c| c == '\\');
    let escaped = start > at;
    let rest = &text[start..];
    let end = match rest.chars().next()? {
        quote @ ('"' | '\'' | '`') => {
            let from = start + 1;
            let closes =
                |(close, _): &(usize, &str)| escaped || !text[from..from + close].ends_with('\\');
            let close = text[from..].match_indices(quote).find(closes);
            return Some(from..close.map_or(text.len(), |(close, _)| from + close));
        }
        '{' | '[' => start + bracketed(rest),
        _ => match until {
            Until::Line => start + rest.find(['\n', '\r', '"', '\'', '`']).unwrap_or(rest.len()),
            Until::Word => {
                let end = word_end(text, start);
                let is_scheme = SCHEMES.iter().any(|s| text[start..end].eq_ignore_ascii_case(s));
                if is_scheme { word_end(text, skip(text, end, is_blank)) } else { end }
            }
        },
    };
    Some(start..end)
}

/// A credential behind its scheme.
fn credential(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    SCHEMES.iter().find(|scheme| text[word.clone()].eq_ignore_ascii_case(scheme))?;
    let start = skip(text, word.end, is_blank);
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    let value = text[start..].split(|c| !is_part(c)).next().unwrap_or_default();
    let value = value.trim_end_matches('.');
    // A word has small letters, behind a capital at most.
    let is_plain =
        |at: usize, c: char| c.is_ascii_lowercase() || (at == 0 && c.is_ascii_uppercase());
    let is_odd = value.char_indices().any(|(at, c)| !is_plain(at, c));
    let looks = value.len() >= PLAIN || (value.len() >= CREDENTIAL && is_odd);
    (start > word.end && looks).then_some(start..start + value.len())
}

fn user_and_password(text: &str, option: usize) -> Option<Range<usize>> {
    let start = skip(text, option, |c| is_blank(c) || matches!(c, '"' | '\''));
    let end = word_end(text, start);
    let colon = text[start..end].find(':')?;
    (start > option).then_some(start + colon + 1..end)
}

/// How long it is up to the bracket that closes the first one; to the end where none does.
fn bracketed(text: &str) -> usize {
    let mut open = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => open += 1,
            '}' | ']' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return at + c.len_utf8();
        }
    }
    text.len()
}

fn word_end(text: &str, start: usize) -> usize {
    let ends = |c: char| c.is_whitespace() || "&;,|<>)}]\"'`".contains(c);
    text[start..].find(ends).map_or(text.len(), |end| start + end)
}

fn skip(text: &str, at: usize, what: impl Fn(char) -> bool) -> usize {
    text[at..].find(|c| !what(c)).map_or(text.len(), |found| at + found)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}
