//! Many blocks together, with their least and greatest time: a filter on time passes over them at once. Exact whatever
//! times the rows have, as only what cannot match is passed over.

use super::block::Block;
use crate::db::{Tx, sql};
use crate::error::Result;

/// So many blocks; those that are newer than the last span are looked at one by one.
const BLOCKS: i64 = 64;

/// A time that a page asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) since: i64,
    pub(super) until: i64,
}

impl Time {
    pub(super) fn has(self, at: i64) -> bool {
        self.since <= at && at < self.until
    }
}

/// Puts the blocks before this one together, now and then.
pub(super) async fn close(tx: &mut Tx, block: &Block) -> Result<()> {
    if block.number % BLOCKS != 0 {
        return Ok(());
    }
    let query = sql("INSERT INTO audit_spans (first, last, low, high)
         SELECT MIN(first), MAX(last), MIN(low), MAX(high) FROM audit_blocks
         WHERE first > (SELECT COALESCE(MAX(last), 0) FROM audit_spans) AND first < $1
         HAVING COUNT(*) > 0");
    query.bind(block.first).run(tx).await.map(drop)
}

/// The newest block that begins at this row or before, and may hold a row of that time.
pub(super) async fn newest(tx: &mut Tx, upto: i64, time: Time) -> Result<Option<i64>> {
    let query = sql("SELECT COALESCE(MAX(last), 0) AS last FROM audit_spans");
    let mut from = query.one(tx).await?.int("last")?;
    let mut upto = upto;
    loop {
        let query = sql("SELECT first FROM audit_blocks WHERE first > $1 AND first <= $2
             AND low < $3 AND high >= $4 ORDER BY first DESC LIMIT 1");
        let query = query.bind(from).bind(upto).bind(time.until).bind(time.since);
        if let Some(row) = query.optional(tx).await? {
            return row.int("first").map(Some);
        }
        let query = sql("SELECT first, last FROM audit_spans WHERE first <= $1
             AND low < $2 AND high >= $3 ORDER BY first DESC LIMIT 1");
        let query = query.bind(upto.min(from)).bind(time.until).bind(time.since);
        let Some(row) = query.optional(tx).await? else { return Ok(None) };
        (from, upto) = (row.int("first")? - 1, row.int("last")?.min(upto));
    }
}
