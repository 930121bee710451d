//! From the inside of a JSON string to text and back. Never sees anything but strings.

use std::borrow::Cow;

/// What becomes of half a surrogate pair, which JSON can write and text cannot hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LoneSurrogate {
    Refuse,
    Replace,
}

/// The text that `inside` (a valid string without its quotes) means.
#[inline]
pub(super) fn decode(inside: &[u8], lone: LoneSurrogate) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(inside).ok()?;
    match memchr::memchr(b'\\', inside) {
        None => Some(Cow::Borrowed(text)),
        Some(first) => unescape(text, first, lone).map(Cow::Owned),
    }
}

/// Where `inside` can be cut so that at most `limit` bytes are kept and neither an escape nor a character is
/// cut in two.
pub(super) fn whole_up_to(inside: &[u8], limit: usize) -> usize {
    if inside.len() <= limit {
        return inside.len();
    }
    let mut after = 0;
    while let Some(found) = memchr::memchr(b'\\', &inside[after..limit]) {
        let slash = after + found;
        let length = if inside.get(slash + 1) == Some(&b'u') { 6 } else { 2 };
        if slash + length > limit {
            return slash;
        }
        after = slash + length;
    }
    let is_inside = |at: &usize| inside[*at] & 0b1100_0000 == 0b1000_0000;
    (after..=limit).rev().find(|at| !is_inside(at)).unwrap_or(after)
}

/// Appends `text` as a JSON string, quotes included.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let plain = super::skip::special(rest, 0);
        out.extend_from_slice(&rest[..plain]);
        let Some(&byte) = rest.get(plain) else { break };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
        }
        rest = &rest[plain + 1..];
    }
    out.push(b'"');
}

fn unescape(text: &str, first: usize, lone: LoneSurrogate) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut slash = Some(first);
    while let Some(at) = slash {
        out.push_str(&rest[..at]);
        let kind = *rest.as_bytes().get(at + 1)?;
        rest = &rest[at + 2..];
        match kind {
            b'n' => out.push('\n'),
            b't' => out.push('\t'),
            b'r' => out.push('\r'),
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'u' => match character(rest) {
                (Some(character), after) => {
                    out.push(character);
                    rest = after;
                }
                (None, _) if lone == LoneSurrogate::Refuse => return None,
                (None, after) => {
                    out.push(char::REPLACEMENT_CHARACTER);
                    rest = after;
                }
            },
            other => out.push(char::from(other)),
        }
        slash = memchr::memchr(b'\\', rest.as_bytes());
    }
    out.push_str(rest);
    Some(out)
}

/// The character of which `rest` is what follows `\u`, and what comes after it.
fn character(rest: &str) -> (Option<char>, &str) {
    let Some(unit) = unit(rest) else { return (None, rest.get(4..).unwrap_or_default()) };
    let after = &rest[4..];
    if !(0xD800..0xDC00).contains(&unit) {
        return (char::from_u32(unit), after);
    }
    let low = after.strip_prefix("\\u").and_then(|low| Some((self::unit(low)?, &low[4..])));
    match low {
        Some((low @ 0xDC00..0xE000, after)) => {
            (char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), after)
        }
        _ => (None, after),
    }
}

fn unit(digits: &str) -> Option<u32> {
    u32::from_str_radix(digits.get(..4)?, 16).ok()
}
