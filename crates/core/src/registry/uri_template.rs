//! Whether a URI can have come from a template (RFC 6570), for servers whose URIs carry no name.
//! Never expands one, and never takes longer than the product of both lengths.

/// Longer URIs and templates fit nothing: both come from outside.
const LONGEST: usize = 4096;

/// How closely a URI fits a template: by how much of it is said before anything is left open, then by how much in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Closeness {
    pub(super) head: usize,
    pub(super) bytes: usize,
}

/// How closely the URI fits the template, in bytes that are the template's own; `None` if it does
/// not fit at all.
pub(super) fn fit(template: &str, uri: &str) -> Option<Closeness> {
    let head = head(template);
    let starts = uri.as_bytes().starts_with(&template.as_bytes()[..head]);
    if !starts || template.len() > LONGEST || uri.len() > LONGEST {
        return None;
    }
    let uri = uri.as_bytes();
    // Where in the URI the template read so far can end.
    let mut ends = vec![false; uri.len() + 1];
    ends[head] = true;
    let mut weight = head;
    for piece in pieces(&template[head..])? {
        ends = match piece {
            Piece::Text(text) => {
                weight += text.len();
                after_text(&ends, uri, text.as_bytes())
            }
            Piece::Value(value) => after_value(&ends, uri, value),
        };
    }
    ends[uri.len()].then_some(Closeness { head, bytes: weight })
}

/// How much of a template is said before anything is left open, in bytes.
pub(super) fn head(template: &str) -> usize {
    template.find('{').unwrap_or(template.len())
}

/// Whether a URI with that beginning can have come from the template.
pub(super) fn can_begin(template: &str, beginning: &str) -> bool {
    let head = &template[..head(template)];
    if head.starts_with(beginning) {
        return true;
    }
    if !beginning.starts_with(head) || template.len() > LONGEST {
        return false;
    }
    let beginning = beginning.as_bytes();
    let mut ends = vec![false; beginning.len() + 1];
    ends[head.len()] = true;
    for piece in pieces(&template[head.len()..]).unwrap_or_default() {
        ends = match piece {
            Piece::Text(text) => {
                let goes_beyond = |at: usize| text.as_bytes().starts_with(&beginning[at..]);
                if (0..ends.len()).any(|at| ends[at] && goes_beyond(at)) {
                    return true;
                }
                after_text(&ends, beginning, text.as_bytes())
            }
            Piece::Value(value) => after_value(&ends, beginning, value),
        };
        if ends[beginning.len()] {
            return true;
        }
    }
    false
}

enum Piece<'t> {
    Text(&'t str),
    Value(Value),
}

/// What an expression can have become.
#[derive(Clone, Copy)]
struct Value {
    /// What it begins with, if it is there at all.
    lead: Option<u8>,
    /// What it cannot contain.
    stops: &'static [u8],
}

/// The texts and expressions of a template; `None` if it is none.
fn pieces(template: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while !rest.is_empty() {
        let open = rest.find('{').unwrap_or(rest.len());
        if open > 0 {
            pieces.push(Piece::Text(&rest[..open]));
        }
        let Some(inside) = rest.get(open + 1..) else { break };
        let close = inside.find('}')?;
        pieces.push(Piece::Value(value(&inside[..close])));
        rest = &inside[close + 1..];
    }
    Some(pieces)
}

fn value(expression: &str) -> Value {
    let many = expression.ends_with('*');
    match expression.as_bytes().first() {
        Some(b'+') => Value { lead: None, stops: b"" },
        Some(b'#') => Value { lead: Some(b'#'), stops: b"" },
        Some(b'.') => Value { lead: Some(b'.'), stops: b"/?#" },
        Some(b'/') if many => Value { lead: Some(b'/'), stops: b"?#" },
        Some(b'/') if expression.contains(',') => Value { lead: Some(b'/'), stops: b"?#" },
        Some(b'/') => Value { lead: Some(b'/'), stops: b"/?#" },
        Some(b';') => Value { lead: Some(b';'), stops: b"/?#" },
        Some(b'?') => Value { lead: Some(b'?'), stops: b"#" },
        Some(b'&') => Value { lead: Some(b'&'), stops: b"#" },
        _ => Value { lead: None, stops: b"/?#" },
    }
}

fn after_text(ends: &[bool], uri: &[u8], text: &[u8]) -> Vec<bool> {
    let mut next = vec![false; ends.len()];
    for (at, _) in ends.iter().enumerate().filter(|(_, end)| **end) {
        if uri[at..].starts_with(text) {
            next[at + text.len()] = true;
        }
    }
    next
}

/// A value may be empty, and may be longer by each byte that does not stop it.
fn after_value(ends: &[bool], uri: &[u8], value: Value) -> Vec<bool> {
    let mut next = ends.to_vec();
    let mut inside = false;
    for (at, byte) in uri.iter().enumerate() {
        let begins = ends[at] && value.lead.is_none_or(|lead| lead == *byte);
        let goes_on = inside && !value.stops.contains(byte);
        let first = begins && (value.lead.is_some() || !value.stops.contains(byte));
        inside = first || goes_on;
        if inside {
            next[at + 1] = true;
        }
    }
    next
}
