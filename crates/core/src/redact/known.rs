//! Secrets that are known as such, found wherever they stand in a text. Keeps fingerprints of them, never the
//! secrets: they can be recognised by it and not read out of it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;

/// Bytes of a secret that are compared; of a longer one, the first.
pub(super) const LONGEST: usize = 1024;
/// Shorter ones would be found in every other word.
const SHORTEST: usize = 6;
/// A prime, so that sums of powers are fingerprints (Rabin and Karp's).
const PRIME: u64 = (1 << 61) - 1;

/// Secrets by their fingerprints.
pub struct Known {
    /// The powers' base. Nobody can prepare a text that is taken for a secret, or guess one outside.
    base: u64,
    /// By how much of a secret is compared: fingerprints, each with the secret's length.
    lengths: BTreeMap<usize, HashMap<u64, usize>>,
}

impl Default for Known {
    fn default() -> Self {
        let base = RandomState::new().build_hasher().finish() % (PRIME - 256) + 256;
        Self { base, lengths: BTreeMap::new() }
    }
}

impl Known {
    /// Takes a secret in, unless it is too short to be one.
    pub fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        let Some(start) = secret.as_bytes().get(..secret.len().min(LONGEST)) else { return };
        if start.len() >= SHORTEST {
            let print = start.iter().fold(0, |print, byte| self.with(print, *byte));
            self.lengths.entry(start.len()).or_default().insert(print, secret.len());
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Whether one stands in the text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let mut found = Vec::new();
        self.find(text, &mut found);
        !found.is_empty()
    }

    /// Where they stand in the text.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        for (length, prints) in &self.lengths {
            self.find_of(text.as_bytes(), *length, prints, found);
        }
    }

    fn find_of(
        &self,
        text: &[u8],
        length: usize,
        prints: &HashMap<u64, usize>,
        found: &mut Vec<Range<usize>>,
    ) {
        let Some(first) = text.get(..length) else { return };
        // What a byte adds that is about to leave the window.
        let power = (1..length).fold(1, |power, _| times(power, self.base));
        let mut print = first.iter().fold(0, |print, byte| self.with(print, *byte));
        for start in 0.. {
            if let Some(whole) = prints.get(&print) {
                found.push(start..(start + whole).min(text.len()));
            }
            let Some(next) = text.get(start + length) else { return };
            let gone = times(u64::from(text[start]), power);
            print = self.with((print + PRIME - gone) % PRIME, *next);
        }
    }

    fn with(&self, print: u64, byte: u8) -> u64 {
        (times(print, self.base) + u64::from(byte)) % PRIME
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count: usize = self.lengths.values().map(HashMap::len).sum();
        write!(f, "Known({count})")
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the rest is smaller than the prime")]
fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}
