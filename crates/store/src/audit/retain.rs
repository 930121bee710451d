//! How long the audit log is kept. What goes, goes from its beginning, and leaves an anchor from
//! which the rest still verifies.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::chain::Link;
use super::{Audit, Entry, append, write_mark};
use crate::actor::Actor;
use crate::db::{Tx, sql};
use crate::error::Result;

/// How long the log is kept; whichever limit is reached first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Rows older than this go.
    pub age: Option<Duration>,
    /// The oldest rows beyond so many go.
    pub rows: Option<u64>,
}

/// Rows that go in one transaction: writers wait only that long.
const BATCH: i64 = 5_000;

impl Audit<'_> {
    /// Takes away what is kept no longer; how many rows.
    pub async fn retain(self, keep: Retention) -> Result<u64> {
        let limit =
            keep.age.map(|age| self.0.now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH));
        // Fixed now: each batch adds a row of its own, which must not push out another.
        let head = self.head().await?.seq;
        let count = keep.rows.map_or(0, |rows| head.saturating_sub_unsigned(rows));
        let mut gone = 0;
        loop {
            let mut tx = self.0.db().begin().await?;
            // Nobody else takes away at the same time; writers go on.
            crate::migrate::lock(&mut tx).await?;
            let first = sql("SELECT MIN(seq) AS first FROM audit").one(&mut tx).await?;
            let Some(first) = first.get::<Option<i64>>("first")? else { break };
            let until = until(&mut tx, first, head, count, limit).await?;
            if until < first {
                break;
            }
            let row = sql("SELECT hash FROM audit WHERE seq = $1").bind(until).one(&mut tx).await?;
            let anchor = Link { seq: until, hash: row.hash("hash")? };
            self.cut(&mut tx, anchor).await?;
            let mut entry = Entry::act(self.0.now(), &Actor::system(), "audit.retain");
            entry.detail = Some(json!({"until": until, "rows": until - first + 1}));
            append(&mut tx, self.0.vault(), &[entry]).await?;
            tx.commit().await?;
            gone += (until - first + 1).max(0).unsigned_abs();
        }
        Ok(gone)
    }

    async fn cut(self, tx: &mut Tx, anchor: Link) -> Result<()> {
        sql("DELETE FROM audit WHERE seq <= $1").bind(anchor.seq).run(tx).await?;
        let query = sql("DELETE FROM audit_marks WHERE seq < $1 RETURNING seq");
        for row in query.bind(anchor.seq).all(tx).await? {
            self.0.vault().forget(tx, "audit", &row.int("seq")?.to_string()).await?;
        }
        write_mark(tx, self.0.vault(), anchor, "anchor").await
    }
}

/// The last row to go in this batch. The row that was the newest stays: the log is never empty.
async fn until(
    tx: &mut Tx,
    first: i64,
    head: i64,
    count: i64,
    limit: Option<SystemTime>,
) -> Result<i64> {
    let end = first + BATCH - 1;
    let by_age = match limit {
        Some(limit) => {
            // The first row that stays: times need not follow the numbers exactly.
            let query = sql("SELECT MIN(seq) AS stays FROM audit WHERE seq <= $1 AND at >= $2");
            let stays: Option<i64> = query.bind(end).bind(limit).one(tx).await?.get("stays")?;
            stays.map_or(end, |stays| stays - 1)
        }
        None => 0,
    };
    Ok(by_age.max(count).min(end).min(head - 1))
}
