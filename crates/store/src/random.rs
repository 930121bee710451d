//! Ids and secrets made of random bytes, and the hashes under which secrets are kept.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use switchboard_model::Secret;
use zeroize::Zeroizing;

use crate::error::Result;

/// An id that nobody can guess and no two instances make twice.
pub(crate) fn id(prefix: &str) -> Result<String> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    let letters = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    Ok(prefix.chars().chain(letters).collect())
}

/// 256 random bits behind a prefix that people and scanners recognise.
pub(crate) fn secret(prefix: &str) -> Result<Secret> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut())?;
    let mut text = String::with_capacity(prefix.len() + 43);
    text.push_str(prefix);
    URL_SAFE_NO_PAD.encode_string(bytes.as_ref(), &mut text);
    Ok(Secret::new(text))
}

/// How a secret of so many random bits is kept: nobody can try them all, so no salt and no slow
/// hash, and a look-up by it tells nothing by its time.
pub(crate) fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}
