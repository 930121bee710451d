//! Text as a header value: as it is where that is safe, else as `=?base64?…?=`.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// A header value that claims to be encoded and is not, or that no header may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid header value")]
pub struct BadValue;

/// Makes `text` safe to be a header's value.
pub fn encode(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let padded = text.starts_with(' ') || text.ends_with(' ');
    if plain && !padded && sentinel(text).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{OPEN}{}{CLOSE}", STANDARD.encode(text)))
}

/// The text that a header's value means.
pub fn decode(value: &str) -> Result<Cow<'_, str>, BadValue> {
    match sentinel(value) {
        Some(encoded) => {
            let bytes = STANDARD.decode(encoded).map_err(|_| BadValue)?;
            String::from_utf8(bytes).map(Cow::Owned).map_err(|_| BadValue)
        }
        None if value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) => {
            Ok(Cow::Borrowed(value))
        }
        None => Err(BadValue),
    }
}

/// Whether a value is that text, and means it as it is.
pub(super) fn is_plainly(value: &[u8], text: &str) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~');
    value == text.as_bytes() && !text.starts_with(OPEN) && value.iter().all(is_plain)
}

/// What is between the marks, if both are there.
fn sentinel(value: &str) -> Option<&str> {
    value.strip_prefix(OPEN)?.strip_suffix(CLOSE)
}
