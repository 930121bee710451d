//! A block: consecutive rows as one text, with its chain. Knows when it is full; never touches the database.

use std::collections::{BTreeSet, HashMap};

use super::chain::{Chain, Link};
use super::line::peek;
use super::sheet::Noted;
use super::words::Words;
use crate::error::{Error, Result};

/// A block ends at a number that this divides, so that rows that are vouched for are the last of theirs.
const ROWS: i64 = 500;
/// It ends when it has so many bytes, and is extended later only while it has fewer than these.
const LONG: usize = 64 * 1024;
const SHORT: usize = 8 * 1024;
/// It is not extended by rows of another time: a filter on time would read it in vain.
const HOUR: u64 = 3_600_000;

/// A block as far as it was written.
pub(super) struct Block {
    pub(super) first: i64,
    pub(super) last: i64,
    /// Counts the blocks.
    pub(super) number: i64,
    pub(super) low: i64,
    pub(super) high: i64,
    size: usize,
    used: BTreeSet<i64>,
    chain: Chain,
    hash: [u8; 32],
}

/// What was added to a block.
pub(super) struct Added {
    pub(super) lines: String,
    /// Subjects that the block did not use before.
    pub(super) subjects: Vec<i64>,
}

impl Block {
    /// A block that follows this place.
    pub(super) fn after(link: Link, number: i64) -> Self {
        Self {
            first: link.seq + 1,
            last: link.seq,
            number,
            low: i64::MAX,
            high: i64::MIN,
            size: 0,
            used: BTreeSet::new(),
            chain: Chain::after(link),
            hash: link.hash,
        }
    }

    /// The place that it ends at.
    pub(super) fn link(&self) -> Link {
        Link { seq: self.last, hash: self.hash }
    }

    /// The subjects that it uses.
    pub(super) fn subjects(&self) -> impl Iterator<Item = i64> {
        self.used.iter().copied()
    }

    /// Adds rows until it is full; how many, and what.
    pub(super) fn fill(
        &mut self,
        rows: &[(u32, Noted<'_>)],
        words: &[Words],
        numbers: &[i64],
    ) -> Result<(usize, Added)> {
        let mut lines = Vec::with_capacity(rows.len().min(500) * 160);
        let (mut subjects, mut hashed, mut count) = (Vec::new(), 0, 0);
        let mut used: Vec<bool> = numbers.iter().map(|id| self.used.contains(id)).collect();
        for (place, row) in rows {
            let place = *place as usize;
            let (Some(id), Some(used)) = (numbers.get(place), used.get_mut(place)) else { break };
            if !*used {
                *used = true;
                self.chain.lines(&lines[hashed..]);
                hashed = lines.len();
                self.chain.subject(words.get(place).map_or(&[], Words::bytes));
                self.used.insert(*id);
                subjects.push(*id);
            }
            row.write(*id, &mut lines)?;
            let at = row.at();
            (self.low, self.high) = (self.low.min(at), self.high.max(at));
            self.last += 1;
            count += 1;
            if self.last % ROWS == 0 || self.size + lines.len() >= LONG {
                break;
            }
        }
        self.chain.lines(&lines[hashed..]);
        self.size += lines.len();
        self.hash = self.chain.hash();
        let lines = String::from_utf8(lines).map_err(|e| Error::malformed("audit row", e))?;
        Ok((count, Added { lines, subjects }))
    }

    /// Whether a row of this time may be added, though the block was ended.
    pub(super) fn takes(&self, at: i64) -> bool {
        self.last % ROWS != 0 && self.size < SHORT && extends(self.low, at)
    }

    /// A block read again, up to a row: what it was when that row was its last.
    pub(super) fn read(
        before: Link,
        number: i64,
        body: &str,
        until: i64,
        words: &HashMap<i64, Words>,
    ) -> Result<Self> {
        let mut block = Self::after(before, number);
        let mut hashed = 0;
        for line in body.split_inclusive('\n') {
            if block.last >= until {
                break;
            }
            let (at, subject) = peek(line)?;
            if block.used.insert(subject) {
                block.chain.lines(&body.as_bytes()[hashed..block.size]);
                hashed = block.size;
                let missing = || Error::malformed("audit row", "its subject is gone");
                block.chain.subject(words.get(&subject).ok_or_else(missing)?.bytes());
            }
            (block.low, block.high) = (block.low.min(at), block.high.max(at));
            block.size += line.len();
            block.last += 1;
        }
        block.chain.lines(&body.as_bytes()[hashed..block.size]);
        block.hash = block.chain.hash();
        Ok(block)
    }
}

/// Whether a block that is in the database may be extended by a row of this time.
pub(super) fn extendable(last: i64, size: i64, low: i64, at: i64) -> bool {
    last % ROWS != 0 && size < SHORT as i64 && extends(low, at)
}

/// The subjects that a body uses.
pub(super) fn subjects(body: &str) -> Result<BTreeSet<i64>> {
    body.lines().map(|line| peek(line).map(|(_, subject)| subject)).collect()
}

fn extends(low: i64, at: i64) -> bool {
    low.abs_diff(at) < HOUR
}
