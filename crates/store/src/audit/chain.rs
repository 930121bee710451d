//! How the log is hashed: a block after the one before it, line by line, with the words of each subject
//! where it is first used. Pure; the same in every version, or old logs would no longer verify.

/// A place in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) seq: i64,
    pub(super) hash: [u8; 32],
}

impl Link {
    /// Before the first row.
    pub(super) const BEGINNING: Self = Self { seq: 0, hash: [0; 32] };

    /// What is sealed of it.
    pub(super) fn bytes(self) -> [u8; 40] {
        let mut bytes = [0; 40];
        bytes[..8].copy_from_slice(&self.seq.to_be_bytes());
        bytes[8..].copy_from_slice(&self.hash);
        bytes
    }
}

/// The hash of a block so far. What was hashed up to a row says what the log was when that row was the last.
#[derive(Clone)]
pub(super) struct Chain(blake3::Hasher);

impl Chain {
    /// Of a block that follows this place.
    pub(super) fn after(link: Link) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"switchboard audit 2\0");
        hasher.update(&link.hash);
        hasher.update(&link.seq.wrapping_add(1).to_be_bytes());
        Self(hasher)
    }

    /// A subject is used for the first time, by the line that follows. A line begins with a bracket, so that
    /// this cannot be taken for one.
    pub(super) fn subject(&mut self, words: &[u8]) {
        self.0.update(&[0]);
        self.0.update(words);
    }

    /// Lines, each with its end.
    pub(super) fn lines(&mut self, lines: &[u8]) {
        self.0.update(lines);
    }

    pub(super) fn hash(&self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests;
