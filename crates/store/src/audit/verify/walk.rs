//! Goes through the log block by block and hashes it anew: what is there against what it says of itself. Also knows
//! whether the log holds a head.

use std::collections::{BTreeSet, HashMap};

use super::super::append::MARK;
use super::super::block::{self, Block};
use super::super::chain::Link;
use super::super::words::Words;
use super::super::{Head, subjects, tail};
use super::{Checked, Violation};
use crate::db::{Row, Sql, Tx, made, sql};
use crate::error::Result;

/// Pairs that are looked up in the index at once.
const PAIRS: usize = 400;

/// How far it has come.
pub(super) struct Walk {
    pub(super) link: Link,
    /// The last block begins here.
    pub(super) after: i64,
    /// The hashes of rows that may be vouched for.
    pub(super) ends: HashMap<i64, [u8; 32]>,
    words: HashMap<i64, Words>,
    /// The spans, the last one first.
    spans: Vec<Span>,
}

struct Span {
    first: i64,
    last: i64,
    low: i64,
    high: i64,
}

impl Walk {
    pub(super) async fn begin(tx: &mut Tx, start: Link) -> Result<Self> {
        let rows = sql("SELECT * FROM audit_spans ORDER BY first DESC").all(tx).await?;
        let read = |row: &Row| {
            let [first, last] = [row.int("first")?, row.int("last")?];
            Ok(Span { first, last, low: row.int("low")?, high: row.int("high")? })
        };
        let spans = rows.iter().map(read).collect::<Result<_>>()?;
        let (ends, words) = (HashMap::new(), HashMap::new());
        Ok(Self { link: start, after: start.seq, ends, words, spans })
    }

    /// The next blocks.
    pub(super) async fn blocks(&mut self, tx: &mut Tx, rows: &[Row]) -> Result<Checked<()>> {
        let mut pairs = Vec::new();
        for row in rows {
            let (from, to) = (row.int("first")?, row.int("last")?);
            if from != self.link.seq + 1 {
                return Ok(Err(Violation::Missing { seq: self.link.seq + 1 }));
            }
            let Some(block) = self.read(tx, row).await? else {
                return Ok(Err(Violation::Edited { from, to }));
            };
            let same = block.link() == Link { seq: to, hash: row.hash("hash")? }
                && (block.low, block.high) == (row.int("low")?, row.int("high")?);
            if !same {
                return Ok(Err(Violation::Edited { from, to }));
            }
            if !self.spanned(&block) {
                return Ok(Err(Violation::Hidden { from, to }));
            }
            pairs.extend(block.subjects().map(|subject| (subject, from, to)));
            self.after = from;
            self.link = block.link();
            if self.link.seq % MARK == 0 {
                self.ends.insert(self.link.seq, self.link.hash);
            }
        }
        Ok(match unindexed(tx, &pairs).await? {
            Some((from, to)) => Err(Violation::Hidden { from, to }),
            None => Ok(()),
        })
    }

    /// The block hashed anew; none if it cannot be read.
    async fn read(&mut self, tx: &mut Tx, row: &Row) -> Result<Option<Block>> {
        let body = row.text("body")?;
        let Ok(used) = block::subjects(&body) else { return Ok(None) };
        subjects::words(tx, &mut self.words, used).await?;
        Ok(Block::read(self.link, row.int("number")?, &body, i64::MAX, &self.words).ok())
    }

    /// Whether a filter on time looks at this block: by its span, or because it is newer than all spans.
    fn spanned(&mut self, block: &Block) -> bool {
        while self.spans.last().is_some_and(|span| span.last < block.first) {
            self.spans.pop();
        }
        self.spans.last().is_none_or(|span| {
            span.first <= block.first && span.low <= block.low && span.high >= block.high
        })
    }
}

/// A block that the index does not name for one of its subjects.
async fn unindexed(tx: &mut Tx, pairs: &[(i64, i64, i64)]) -> Result<Option<(i64, i64)>> {
    for pairs in pairs.chunks(PAIRS) {
        let places: Vec<String> =
            (0..pairs.len()).map(|n| format!("(${}, ${})", 2 * n + 1, 2 * n + 2)).collect();
        let query = made(format!(
            "SELECT subject, block FROM audit_index WHERE (subject, block) IN (VALUES {})",
            places.join(", ")
        ));
        let bind =
            |query: Sql, (subject, block, _): &(i64, i64, i64)| query.bind(*subject).bind(*block);
        let rows = pairs.iter().fold(query, bind).all(tx).await?;
        let read = |row: &Row| Ok((row.int("subject")?, row.int("block")?));
        let there = rows.iter().map(read).collect::<Result<BTreeSet<_>>>()?;
        let missing = pairs.iter().find(|(subject, block, _)| !there.contains(&(*subject, *block)));
        if let Some((_, from, to)) = missing {
            return Ok(Some((*from, *to)));
        }
    }
    Ok(None)
}

/// Whether the log was once what this head says: its block is hashed anew up to that row.
pub(in super::super) async fn holds(tx: &mut Tx, head: Head) -> Result<bool> {
    let query = sql("SELECT hash FROM audit_marks WHERE seq = $1").bind(head.seq);
    if let Some(row) = query.optional(tx).await? {
        return Ok(row.hash("hash")? == head.hash);
    }
    let query = sql("SELECT first, last, number, body FROM audit_blocks WHERE first <= $1
         ORDER BY first DESC LIMIT 1");
    let Some(row) = query.bind(head.seq).optional(tx).await? else { return Ok(false) };
    if row.int("last")? < head.seq {
        return Ok(false);
    }
    let block = tail::read(tx, &row, head.seq, &mut HashMap::new()).await?;
    Ok(block.link() == Link { seq: head.seq, hash: head.hash })
}
