//! Adds rows at the end of the log: few statements a batch, whatever number of rows it has.

use std::sync::LazyLock;

use serde_json::json;

use super::block::{Added, Block};
use super::chain::Link;
use super::sheet::{Noted, Sheet};
use super::tail::{self, Tail};
use super::{Entry, Head, span, subjects};
use crate::actor::Actor;
use crate::db::{Many, Tx, sql};
use crate::error::{Error, Result};
use crate::sealed;
use crate::store::Store;
use crate::vault::Vault;

/// Every so many rows one is vouched for, so that a forged chain is found near the place.
pub(super) const MARK: i64 = 1_000;

static INDEX: LazyLock<Many> = LazyLock::new(|| {
    let after = "ON CONFLICT (subject, block) DO NOTHING";
    Many::new("INSERT INTO audit_index (subject, block) VALUES", 2, after)
});

/// Adds rows to the chain; its new end. The log is locked until the transaction ends: it should be the last
/// thing that a transaction does.
pub(crate) async fn append(tx: &mut Tx, store: &Store, sheet: &Sheet<'_>) -> Result<Head> {
    tail::lock(tx).await?;
    let tail = tail::find(tx).await?;
    let Some(at) = sheet.rows().first().map(|(_, row)| row.at()) else {
        return Ok(Head { seq: tail.end.seq, hash: tail.end.hash });
    };
    let mut end = End {
        generation: tail.generation,
        number: tail.last.as_ref().map_or(0, |last| last.number + 1),
        link: tail.end,
        block: store.log().block(tail.end),
    };
    if end.block.is_none() {
        // Somebody else wrote last, and may have been no instance at all.
        match suspicion(tx, store, &tail).await? {
            Some(entry) => {
                end.write(tx, store, &Sheet::of([Noted::Entry(&entry)].into_iter())).await?
            }
            None => end.block = tail.reopen(tx, at).await?,
        }
    }
    end.write(tx, store, sheet).await?;
    store.vault().put(tx, sealed::HEAD, &end.link.bytes()).await?;
    if let Some(block) = end.block {
        store.log().keep(block);
    }
    Ok(Head { seq: end.link.seq, hash: end.link.hash })
}

/// Vouches for a row: without the vault's key nobody can.
pub(super) async fn write_mark(
    tx: &mut Tx,
    vault: &Vault,
    link: Link,
    kind: &'static str,
) -> Result<()> {
    let query = sql("INSERT INTO audit_marks (seq, kind, hash) VALUES ($1, $2, $3)
         ON CONFLICT (seq) DO UPDATE SET kind = excluded.kind");
    query.bind(link.seq).bind(kind).bind(&link.hash).run(tx).await?;
    // What kind it is is sealed too, or a mark could be made the beginning.
    let value = [&link.bytes()[..], kind.as_bytes()].concat();
    vault.put(tx, sealed::mark(&link.seq.to_string()), &value).await
}

/// The end of the log while it is written.
struct End {
    generation: i64,
    link: Link,
    /// Of the next block.
    number: i64,
    block: Option<Block>,
}

impl End {
    async fn write(&mut self, tx: &mut Tx, store: &Store, sheet: &Sheet<'_>) -> Result<()> {
        let numbers = subjects::numbers(tx, store.log(), self.generation, sheet).await?;
        let mut rows = sheet.rows();
        while let Some((_, row)) = rows.first() {
            let open = self.block.take().filter(|block| block.takes(row.at()));
            let count = match open {
                Some(mut block) => {
                    let (count, added) = block.fill(rows, sheet.words(), &numbers)?;
                    extend(tx, &block, added).await?;
                    self.block = Some(block);
                    count
                }
                None => {
                    let mut block = Block::after(self.link, self.number);
                    self.number += 1;
                    let (count, added) = block.fill(rows, sheet.words(), &numbers)?;
                    insert(tx, &block, added).await?;
                    self.block = Some(block);
                    count
                }
            };
            rows = rows.get(count.max(1)..).unwrap_or_default();
            self.link = self.block.as_ref().map_or(self.link, Block::link);
            if self.link.seq % MARK == 0 {
                write_mark(tx, store.vault(), self.link, "mark").await?;
            }
        }
        Ok(())
    }
}

async fn insert(tx: &mut Tx, block: &Block, added: Added) -> Result<()> {
    let query = sql("INSERT INTO audit_blocks (first, last, number, low, high, hash, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7)");
    let query = query.bind(block.first).bind(block.last).bind(block.number);
    let query = query.bind(block.low).bind(block.high).bind(&block.link().hash);
    query.bind(added.lines).run(tx).await?;
    index(tx, block, &added.subjects).await?;
    span::close(tx, block).await
}

async fn extend(tx: &mut Tx, block: &Block, added: Added) -> Result<()> {
    let query = sql("UPDATE audit_blocks SET last = $2, low = $3, high = $4, hash = $5,
         body = body || $6 WHERE first = $1");
    let query = query.bind(block.first).bind(block.last).bind(block.low).bind(block.high);
    query.bind(&block.link().hash).bind(added.lines).run(tx).await?;
    index(tx, block, &added.subjects).await
}

async fn index(tx: &mut Tx, block: &Block, mut subjects: &[i64]) -> Result<()> {
    while !subjects.is_empty() {
        let (query, count) = INDEX.next(tx.engine(), subjects.len());
        let (some, more) = subjects.split_at(count);
        subjects = more;
        let bind = |query: crate::db::Sql, subject: &i64| query.bind(*subject).bind(block.first);
        some.iter().fold(query, bind).run(tx).await?;
    }
    Ok(())
}

/// Rows that were cut off are not forgotten by writing on: the log says that it does not end where it was
/// vouched for.
async fn suspicion(tx: &mut Tx, store: &Store, tail: &Tail) -> Result<Option<Entry>> {
    let sealed = match store.vault().get(tx, sealed::HEAD).await {
        Ok(sealed) => sealed,
        Err(Error::Tampered { .. }) => None,
        Err(error) => return Err(error),
    };
    if sealed.as_ref().is_some_and(|sealed| sealed[..] == tail.end.bytes()) {
        return Ok(None);
    }
    let vouched = sealed.as_ref().and_then(|sealed| sealed.first_chunk());
    let vouched = vouched.map(|seq| i64::from_be_bytes(*seq));
    tracing::error!(found = tail.end.seq, ?vouched, "the audit log does not end where it was left");
    let mut entry = Entry::act(store.now(), &Actor::system(), "audit.broken");
    entry.detail = Some(json!({"found": tail.end.seq, "vouched": vouched}));
    Ok(Some(entry))
}
