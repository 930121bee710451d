//! Names that carry a hash: stable over starts, machines and versions. Never used where the plain
//! name will do.

use sha2::{Digest as _, Sha256};

/// `_x` and eight digits: no natural name looks like it, and one that does gets a mark itself.
const MARK: &str = "_x";
const DIGITS: usize = 8;

/// The length of a mark.
pub(super) const MARK_LEN: usize = MARK.len() + DIGITS;

/// `natural`, with what providers refuse replaced, cut so that it and the hash of the pair fit into
/// `limit`.
pub(super) fn marked(natural: &str, server: &str, tool: &str, limit: usize) -> String {
    let mut name: String = natural.chars().map(safe).take(limit - MARK_LEN).collect();
    name.push_str(MARK);
    let hash = digest([server.as_bytes(), tool.as_bytes()]) >> 32;
    name.push_str(&format!("{hash:08x}"));
    name
}

/// Whether the name could have been made by [`marked`].
pub(super) fn looks_marked(name: &str) -> bool {
    let Some(at) = name.len().checked_sub(MARK_LEN) else { return false };
    let digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.as_bytes()[at..].strip_prefix(MARK.as_bytes()).is_some_and(|hex| hex.iter().all(digit))
}

/// The character, or what stands for one that a model's provider refuses.
pub(super) fn safe(character: char) -> char {
    if is_safe(character) { character } else { '_' }
}

/// Whether every provider takes it.
pub(super) fn is_safe(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// A digest that is the same everywhere and always; where one part ends and the next begins counts.
pub(crate) fn digest<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let bytes = hash.finalize();
    bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}
