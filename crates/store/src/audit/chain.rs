//! How a row is hashed: every field with its kind and length, after the hash of the row before.
//! Pure; the same in every version, or old logs would no longer verify.

use sha2::{Digest, Sha256};

use crate::db::{Row, Sql};
use crate::error::Result;

/// A place in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) seq: i64,
    pub(super) hash: [u8; 32],
}

/// What is hashed of a row, as it is stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub(super) at: i64,
    pub(super) action: String,
    pub(super) source: String,
    /// user, agent, server, tool, origin, decision, outcome
    pub(super) words: [Option<String>; 7],
    /// duration, bytes in, bytes out
    pub(super) numbers: [Option<i64>; 3],
    /// trace, detail
    pub(super) texts: [Option<String>; 2],
}

pub(super) const WORDS: [&str; 7] =
    ["user_id", "agent", "server", "tool", "origin", "decision", "outcome"];
pub(super) const NUMBERS: [&str; 3] = ["duration_us", "bytes_in", "bytes_out"];
pub(super) const TEXTS: [&str; 2] = ["trace", "detail"];

impl Link {
    /// Before the first row.
    pub(super) const BEGINNING: Self = Self { seq: 0, hash: [0; 32] };

    /// The place of the row that follows.
    pub(super) fn next(self, fields: &Fields) -> Self {
        let seq = self.seq + 1;
        let mut hash = Sha256::new_with_prefix(b"switchboard audit 1\0");
        hash.update(self.hash);
        hash.update(seq.to_be_bytes());
        hash.update(fields.at.to_be_bytes());
        let texts = [Some(&fields.action), Some(&fields.source)].into_iter();
        let texts = texts.chain(fields.words.iter().map(Option::as_ref));
        for text in texts.chain(fields.texts.iter().map(Option::as_ref)) {
            add(&mut hash, text.map(|text| text.as_bytes()));
        }
        for number in fields.numbers {
            add(&mut hash, number.map(i64::to_be_bytes).as_ref().map(|bytes| &bytes[..]));
        }
        Self { seq, hash: hash.finalize().into() }
    }

    /// What is sealed of it.
    pub(super) fn bytes(self) -> [u8; 40] {
        let mut bytes = [0; 40];
        bytes[..8].copy_from_slice(&self.seq.to_be_bytes());
        bytes[8..].copy_from_slice(&self.hash);
        bytes
    }
}

impl Fields {
    /// In the order of the columns from `at` to `detail`.
    pub(super) fn bind(self, query: Sql) -> Sql {
        let query = query.bind(self.at).bind(self.action).bind(self.source);
        let query = self.words.into_iter().fold(query, Sql::bind);
        let query = self.numbers.into_iter().fold(query, Sql::bind);
        self.texts.into_iter().fold(query, Sql::bind)
    }

    pub(super) fn read(row: &Row) -> Result<Self> {
        let mut fields = Self {
            at: row.int("at")?,
            action: row.text("action")?,
            source: row.text("source")?,
            ..Self::default()
        };
        for (field, column) in fields.words.iter_mut().zip(WORDS) {
            *field = row.get(column)?;
        }
        for (field, column) in fields.numbers.iter_mut().zip(NUMBERS) {
            *field = row.get(column)?;
        }
        for (field, column) in fields.texts.iter_mut().zip(TEXTS) {
            *field = row.get(column)?;
        }
        Ok(fields)
    }
}

/// Missing is not the same as empty, and no two lists of fields are written alike.
fn add(hash: &mut Sha256, field: Option<&[u8]>) {
    match field {
        None => hash.update([0]),
        Some(bytes) => {
            hash.update([1]);
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        }
    }
}

#[cfg(test)]
mod tests;
