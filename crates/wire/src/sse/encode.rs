//! From messages to a stream of events. What is passed in cannot break out of its field.

use crate::id::push_number;

/// Appends an event. Data with line ends is spread over several fields, and comes out joined by
/// `\n`. A type or an id loses its line ends and NULs: a reader would end there, or not take an id.
pub fn event(out: &mut Vec<u8>, kind: Option<&str>, id: Option<&str>, data: &[u8]) {
    out.reserve(data.len() + 64);
    if let Some(kind) = kind {
        field(out, b"event: ", kind);
    }
    if let Some(id) = id {
        field(out, b"id: ", id);
    }
    let mut rest = data;
    loop {
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(&rest[..end]);
        out.push(b'\n');
        rest = match &rest[end..] {
            [] => break,
            [b'\r', b'\n', more @ ..] | [_, more @ ..] => more,
        };
    }
    out.push(b'\n');
}

/// Appends the number of milliseconds after which a reader may come back.
pub fn retry(out: &mut Vec<u8>, milliseconds: u64) {
    out.extend_from_slice(b"retry: ");
    push_number(out, milliseconds);
    out.extend_from_slice(b"\n\n");
}

/// Appends a comment, which readers pass over: it keeps the connection alive.
pub fn comment(out: &mut Vec<u8>, text: &str) {
    field(out, b": ", text);
    out.push(b'\n');
}

fn field(out: &mut Vec<u8>, name: &[u8], value: &str) {
    out.extend_from_slice(name);
    out.extend(value.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r' | 0)));
    out.push(b'\n');
}
