//! How long the audit log is kept. What goes, goes from its beginning, whole blocks at a time, and leaves an anchor
//! from which the rest still verifies.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::append::write_mark;
use super::chain::Link;
use super::{Audit, Entry, Noted, Sheet, append, subjects};
use crate::actor::Actor;
use crate::db::{Engine, Tx, millis, sql};
use crate::error::Result;

/// How long the log is kept; whichever limit is reached first. A block stays as long as one of its rows does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Rows older than this go.
    pub age: Option<Duration>,
    /// The oldest rows beyond so many go.
    pub rows: Option<u64>,
    /// The oldest go until the blocks have so many bytes at most, as they are written.
    pub bytes: Option<u64>,
}

/// Blocks that go in one transaction: writers wait only that long.
const BATCH: i64 = 64;

/// Pages that SQLite gives back in one transaction.
const PAGES: &str = "PRAGMA incremental_vacuum(2000)";

/// What goes in one transaction.
struct Cut {
    first: i64,
    anchor: Link,
}

impl Audit<'_> {
    /// Takes away what is kept no longer; how many rows.
    pub async fn retain(self, keep: Retention) -> Result<u64> {
        let limit =
            keep.age.map(|age| self.0.now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH));
        let limit = limit.map_or(i64::MIN, millis);
        // Fixed now: each batch adds a row of its own, which must not push out another.
        let head = self.head().await?.seq;
        let count = keep.rows.map_or(0, |rows| head.saturating_sub_unsigned(rows));
        let count = match keep.bytes {
            Some(bytes) => count.max(self.beyond(bytes).await?),
            None => count,
        };
        let mut gone = 0;
        loop {
            let mut tx = self.0.db().begin().await?;
            // Nobody else takes away at the same time; writers go on.
            crate::migrate::lock(&mut tx).await?;
            let Some(Cut { first, anchor }) = next(&mut tx, head, count, limit).await? else {
                break;
            };
            self.cut(&mut tx, anchor).await?;
            let rows = anchor.seq - first + 1;
            let mut entry = Entry::act(self.0.now(), &Actor::system(), "audit.retain");
            entry.detail = Some(json!({"until": anchor.seq, "rows": rows}));
            append(&mut tx, self.0, &Sheet::of([Noted::Entry(&entry)].into_iter())).await?;
            tx.commit().await?;
            gone += rows.max(0).unsigned_abs();
        }
        if gone > 0 {
            self.forget().await?;
            self.give_back().await?;
        }
        Ok(gone)
    }

    /// The last row of the newest block that does not fit into so many bytes together with those after it.
    async fn beyond(self, bytes: u64) -> Result<i64> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT COALESCE(MAX(last), 0) AS last FROM
             (SELECT last, SUM(octet_length(body)) OVER (ORDER BY first DESC) AS size FROM audit_blocks) AS sized
             WHERE size > $1");
        query.bind(i64::try_from(bytes).unwrap_or(i64::MAX)).one(&mut tx).await?.int("last")
    }

    /// What became free goes back to the system, where the file was made so. PostgreSQL uses its own again.
    async fn give_back(self) -> Result<()> {
        let mut before = i64::MAX;
        while self.0.db().engine() == Engine::Sqlite {
            let mut tx = self.0.db().begin().await?;
            sql(PAGES).run(&mut tx).await?;
            let free = sql("PRAGMA freelist_count").one(&mut tx).await?.int("freelist_count")?;
            tx.commit().await?;
            if free == 0 || free >= before {
                break;
            }
            before = free;
        }
        Ok(())
    }

    async fn cut(self, tx: &mut Tx, anchor: Link) -> Result<()> {
        sql("DELETE FROM audit_blocks WHERE first <= $1").bind(anchor.seq).run(tx).await?;
        sql("DELETE FROM audit_spans WHERE last <= $1").bind(anchor.seq).run(tx).await?;
        let query = sql("DELETE FROM audit_marks WHERE seq < $1 RETURNING seq");
        for row in query.bind(anchor.seq).all(tx).await? {
            self.0.vault().forget(tx, "audit", &row.int("seq")?.to_string()).await?;
        }
        write_mark(tx, self.0.vault(), anchor, "anchor").await
    }

    /// What the index and the dictionary say of blocks that are gone goes too. Nobody is misled by it
    /// meanwhile, and what a crash leaves of it goes the next time.
    async fn forget(self) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        let query = sql("DELETE FROM audit_index WHERE subject IN (SELECT id FROM audit_subjects)
             AND block < (SELECT COALESCE(MIN(first), 0) FROM audit_blocks)");
        query.run(&mut tx).await?;
        tx.commit().await?;
        let mut tx = self.0.db().begin().await?;
        subjects::prune(&mut tx).await?;
        tx.commit().await
    }
}

/// The blocks at the beginning of which no row stays. The block that holds the row that was the newest stays: the log
/// is never empty.
async fn next(tx: &mut Tx, head: i64, count: i64, limit: i64) -> Result<Option<Cut>> {
    let query = sql("SELECT first, last, high, hash FROM audit_blocks ORDER BY first LIMIT $1");
    let rows = query.bind(BATCH).all(tx).await?;
    let (mut from, mut anchor) = (None, None);
    for row in &rows {
        let (first, last) = (row.int("first")?, row.int("last")?);
        if last >= head || (last > count && row.int("high")? >= limit) {
            break;
        }
        from = from.or(Some(first));
        anchor = Some(Link { seq: last, hash: row.hash("hash")? });
    }
    Ok(from.zip(anchor).map(|(first, anchor)| Cut { first, anchor }))
}
