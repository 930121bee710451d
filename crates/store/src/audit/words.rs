//! The words of a row, which are what filters ask for: rows with the same words have the same subject. Pure.

use crate::db::Row;
use crate::error::Result;

/// Their columns.
pub(super) const COLUMNS: [&str; COUNT] =
    ["action", "source", "user_id", "agent", "server", "tool", "origin", "decision", "outcome"];
pub(super) const COUNT: usize = 9;

/// One after the other, each with its kind and length: missing is not the same as empty, and no two lists
/// are written alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Words(Vec<u8>);

impl Words {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The next word, in pieces.
    pub(super) fn put(&mut self, pieces: &[&str]) {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        self.0.push(1);
        self.0.extend_from_slice(&(length as u64).to_be_bytes());
        for piece in pieces {
            self.0.extend_from_slice(piece.as_bytes());
        }
    }

    /// The next word, of which nobody knows what is in it: PostgreSQL refuses one character.
    pub(super) fn put_any(&mut self, word: &str) {
        if word.contains('\0') {
            self.put(&[&word.replace('\0', "\u{fffd}")]);
        } else {
            self.put(&[word]);
        }
    }

    /// The next word is missing.
    pub(super) fn skip(&mut self) {
        self.0.push(0);
    }

    pub(super) fn put_if(&mut self, word: Option<&str>) {
        match word {
            Some(word) => self.put(&[word]),
            None => self.skip(),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn hash(&self) -> [u8; 32] {
        blake3::hash(&self.0).into()
    }

    /// The words themselves.
    pub(super) fn split(&self) -> [Option<String>; COUNT] {
        let mut rest = &self.0[..];
        std::array::from_fn(|_| next(&mut rest))
    }

    /// As the dictionary has them.
    pub(super) fn read(row: &Row) -> Result<Self> {
        let mut words = Self::default();
        for column in COLUMNS {
            words.put_if(row.get::<Option<String>>(column)?.as_deref());
        }
        Ok(words)
    }
}

fn next(rest: &mut &[u8]) -> Option<String> {
    let (kind, more) = rest.split_first()?;
    *rest = more;
    if *kind == 0 {
        return None;
    }
    let (length, more) = rest.split_first_chunk()?;
    let (word, more) = more.split_at_checked(usize::try_from(u64::from_be_bytes(*length)).ok()?)?;
    *rest = more;
    String::from_utf8(word.to_vec()).ok()
}
