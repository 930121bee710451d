//! Where the log ends, and who may write there: all writers of all instances take turns.

use std::collections::HashMap;

use super::block::{self, Block};
use super::chain::Link;
use super::subjects;
use crate::db::{Engine, Row, Tx, sql};
use crate::error::Result;

/// The end of the log.
pub(super) struct Tail {
    pub(super) generation: i64,
    pub(super) end: Link,
    /// The last block, if there is one.
    pub(super) last: Option<Header>,
}

/// A block without its body.
pub(super) struct Header {
    first: i64,
    pub(super) number: i64,
    low: i64,
    size: i64,
}

/// Locks the log until the transaction ends; SQLite's lock is the transaction itself.
pub(super) async fn lock(tx: &mut Tx) -> Result<()> {
    if tx.engine() == Engine::Postgres {
        sql("SELECT generation FROM audit_state WHERE id = 1 FOR UPDATE").one(tx).await?;
    }
    Ok(())
}

/// Reads the end. Whoever is going to write there holds the lock, and has not looked at anything before that a writer
/// before them may have changed.
pub(super) async fn find(tx: &mut Tx) -> Result<Tail> {
    let query = sql("SELECT s.generation, b.first, b.last, b.number, b.low, b.hash,
         CAST(octet_length(b.body) AS BIGINT) AS size FROM audit_state s
         LEFT JOIN audit_blocks b ON b.first = (SELECT MAX(first) FROM audit_blocks) WHERE s.id = 1");
    let row = query.one(tx).await?;
    let generation = row.int("generation")?;
    let Some(first) = row.get::<Option<i64>>("first")? else {
        return Ok(Tail { generation, end: Link::BEGINNING, last: None });
    };
    let end = Link { seq: row.int("last")?, hash: row.hash("hash")? };
    let last =
        Header { first, number: row.int("number")?, low: row.int("low")?, size: row.int("size")? };
    Ok(Tail { generation, end, last: Some(last) })
}

impl Tail {
    /// The last block, if rows of this time may still be added to it.
    pub(super) async fn reopen(&self, tx: &mut Tx, at: i64) -> Result<Option<Block>> {
        let Some(header) = &self.last else { return Ok(None) };
        if !block::extendable(self.end.seq, header.size, header.low, at) {
            return Ok(None);
        }
        let query = sql("SELECT first, number, body FROM audit_blocks WHERE first = $1");
        let row = query.bind(header.first).one(tx).await?;
        let found = read(tx, &row, self.end.seq, &mut HashMap::new()).await;
        // One that was tampered with stays as it is, for whoever verifies.
        Ok(found.ok().filter(|block| block.link() == self.end))
    }
}

/// A block of the database up to a row, hashed anew after what stands before it.
pub(super) async fn read(
    tx: &mut Tx,
    row: &Row,
    until: i64,
    words: &mut HashMap<i64, super::words::Words>,
) -> Result<Block> {
    let (first, body) = (row.int("first")?, row.text("body")?);
    let before = before(tx, first).await?;
    subjects::words(tx, words, block::subjects(&body)?).await?;
    Block::read(before, row.int("number")?, &body, until, words)
}

/// The place that a block follows: the one before it, or what retention took away.
async fn before(tx: &mut Tx, first: i64) -> Result<Link> {
    let query =
        sql("SELECT last, hash FROM audit_blocks WHERE first < $1 ORDER BY first DESC LIMIT 1");
    if let Some(row) = query.bind(first).optional(tx).await? {
        return Ok(Link { seq: row.int("last")?, hash: row.hash("hash")? });
    }
    Ok(anchor(tx).await?.unwrap_or(Link::BEGINNING))
}

/// The last row that retention took away.
pub(super) async fn anchor(tx: &mut Tx) -> Result<Option<Link>> {
    let query =
        sql("SELECT seq, hash FROM audit_marks WHERE kind = 'anchor' ORDER BY seq DESC LIMIT 1");
    let Some(row) = query.optional(tx).await? else { return Ok(None) };
    Ok(Some(Link { seq: row.int("seq")?, hash: row.hash("hash")? }))
}
