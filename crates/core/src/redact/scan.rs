//! Where in a text secrets stand, by every rule there is, and the text without them. The rules are beside it.

use std::ops::Range;

use super::known::Known;
use super::{REDACTED, said, tokens, urls};

/// Shorter texts are not looked at, unless a secret is known to be in them.
const SHORTEST: usize = 6;

/// The parts of a text that are secret, in order, none touching another.
pub(super) fn find(text: &str, known: &Known) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    known.find(text, &mut found);
    if text.len() >= SHORTEST {
        private_keys(text, &mut found);
        urls::find(text, &mut found);
        said::find(text, &mut found);
        tokens::find(text, &mut found);
    }
    found.retain(|span| !span.is_empty());
    found.sort_by_key(|span| span.start);
    let mut spans: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for span in found {
        match spans.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => spans.push(span),
        }
    }
    spans
}

/// The first `most` bytes of a text without these parts, and where in it that ends: behind a part that begins
/// before, nothing is left of it.
pub(super) fn hidden(text: &str, spans: &[Range<usize>], most: usize) -> (String, usize) {
    let mut shown = String::with_capacity(most.min(text.len()));
    let mut at = 0;
    for span in spans.iter().take_while(|span| span.start < most) {
        shown.push_str(text.get(at..span.start).unwrap_or_default());
        shown.push_str(REDACTED);
        at = span.end;
    }
    let end = text.floor_char_boundary(most.max(at));
    shown.push_str(text.get(at..end).unwrap_or_default());
    (shown, end)
}

/// A block that says it is a private key, up to its end or that of the text.
fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    const MARKS: [(&str, &str); 2] =
        [("-----BEGIN ", "-----END "), ("PuTTY-User-Key-File", "\n\n")];
    for (begin, end) in MARKS {
        let mut at = 0;
        while let Some(start) = text[at..].find(begin).map(|start| at + start) {
            let rest = &text[start..];
            let line = rest.split(['\n', '\r']).next().unwrap_or_default();
            let close = rest.find(end).map_or(rest.len(), |close| {
                let after = rest[close + end.len()..].find("-----").map(|dashes| dashes + 5);
                close + end.len() + after.unwrap_or(0)
            });
            at = start + begin.len();
            if line.contains("PRIVATE") || begin.starts_with("PuTTY") {
                found.push(start..start + close);
                at = start + close;
            }
        }
    }
}
