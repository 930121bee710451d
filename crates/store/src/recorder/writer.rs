//! The one task that takes records out of the queue and writes them. Keeps a batch until the
//! database takes it, and never writes one twice.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Record, RecorderOptions, Tally};
use crate::actor::Actor;
use crate::audit::{self, Entry, Noted, Sheet};
use crate::db::sql;
use crate::error::Result;
use crate::random;
use crate::store::Store;
use crate::usage;

/// Between two tries, and between two remarks on what was dropped.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);
const REMARK: Duration = Duration::from_secs(10);
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

pub(super) struct Writer {
    store: Store,
    options: RecorderOptions,
    tally: Arc<Tally>,
    instance: String,
    batch: i64,
    /// How many of the dropped ones have been said in the audit log.
    said: u64,
    /// How many have been said in the program's log, and when.
    logged: (u64, Option<std::time::Instant>),
}

impl Writer {
    pub(super) fn new(store: Store, options: RecorderOptions, tally: Arc<Tally>) -> Result<Self> {
        let instance = random::id("")?;
        Ok(Self { store, options, tally, instance, batch: 0, said: 0, logged: (0, None) })
    }

    pub(super) async fn run(
        mut self,
        mut records: mpsc::Receiver<Record>,
        (end, give_up): (CancellationToken, CancellationToken),
    ) {
        if let Err(error) = self.forget_old_instances().await {
            tracing::debug!(%error, "what earlier instances left is forgotten next time");
        }
        let size = self.options.batch.max(1);
        let mut batch = Vec::with_capacity(size);
        loop {
            let first = tokio::select! {
                first = records.recv_many(&mut batch, size) => first,
                () = end.cancelled(), if !records.is_closed() => {
                    // What is in the queue still comes out of it.
                    records.close();
                    continue;
                }
            };
            if first == 0 {
                break;
            }
            self.gather(&mut records, &mut batch, &end).await;
            self.tally.in_hand.store(batch.len(), Ordering::Relaxed);
            tokio::select! {
                () = self.deliver(&batch) => {}
                () = give_up.cancelled() => {
                    let lost = batch.len() + records.len();
                    self.tally.dropped.fetch_add(lost as u64, Ordering::Relaxed);
                    tracing::error!(lost, "the database stayed away: records are lost");
                    self.tally.in_hand.store(0, Ordering::Relaxed);
                    return;
                }
            }
            batch.clear();
            self.tally.in_hand.store(0, Ordering::Relaxed);
        }
        // Those that were dropped after the last batch are said too.
        let nothing: [Record; 0] = [];
        if self.tally.dropped.load(Ordering::Relaxed) > self.said {
            let _ = self.write(&nothing).await;
        }
    }

    /// Nobody tries a batch of last week again.
    async fn forget_old_instances(&self) -> Result<()> {
        let limit = self.store.now().checked_sub(WEEK);
        let mut tx = self.store.db().begin().await?;
        sql("DELETE FROM batches WHERE at < $1").bind(limit).run(&mut tx).await?;
        tx.commit().await
    }

    /// Waits for more, until there are many or the time is over. Sleeps meanwhile: to be woken for each
    /// record would cost the calls more than the records themselves.
    async fn gather(
        &self,
        records: &mut mpsc::Receiver<Record>,
        batch: &mut Vec<Record>,
        end: &CancellationToken,
    ) {
        if batch.len() < self.options.batch && records.is_empty() {
            tokio::select! {
                () = self.tally.many.notified() => {}
                () = tokio::time::sleep(self.options.interval) => {}
                () = end.cancelled() => {}
            }
        }
        while batch.len() < self.options.batch {
            let Ok(record) = records.try_recv() else { return };
            batch.push(record);
        }
    }

    /// Tries until the database takes it; what it will never take is dropped alone.
    async fn deliver(&mut self, batch: &[Record]) {
        let mut pause = SHORTEST;
        self.batch += 1;
        loop {
            self.remark();
            match self.write(batch).await {
                Ok(()) => {
                    self.tally.written.fetch_add(batch.len() as u64, Ordering::Relaxed);
                    return;
                }
                Err(error) if error.is_transient() => {
                    tracing::warn!(%error, "records wait for the database");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST);
                }
                Err(error) => match batch {
                    [] | [_] => {
                        tracing::error!(%error, "a record was refused by the database and is lost");
                        self.tally.dropped.fetch_add(batch.len() as u64, Ordering::Relaxed);
                        return;
                    }
                    _ => {
                        let (left, right) = batch.split_at(batch.len() / 2);
                        Box::pin(self.deliver(left)).await;
                        return Box::pin(self.deliver(right)).await;
                    }
                },
            }
        }
    }

    async fn write(&mut self, batch: &[Record]) -> Result<()> {
        let dropped = self.tally.dropped.load(Ordering::Relaxed);
        let now = self.store.now();
        let mut tx = self.store.db().begin().await?;
        // A commit whose answer was lost may have happened: then this batch is there already.
        let query = sql("INSERT INTO batches (instance, batch, at) VALUES ($1, $2, $3)
             ON CONFLICT (instance) DO UPDATE SET batch = excluded.batch, at = excluded.at
             WHERE batches.batch < excluded.batch RETURNING batch");
        let query = query.bind(&self.instance).bind(self.batch).bind(now);
        if query.optional(&mut tx).await?.is_none() && !batch.is_empty() {
            return Ok(());
        }
        let mut sheet = Sheet::of(batch.iter().map(Record::noted));
        usage::add(&mut tx, &sheet).await?;
        let remark = (dropped > self.said).then(|| {
            let mut entry = Entry::act(now, &Actor::system(), "audit.dropped");
            entry.detail = Some(json!({"records": dropped - self.said}));
            entry
        });
        if let Some(remark) = &remark {
            sheet.add(Noted::Entry(remark));
        }
        audit::append(&mut tx, &self.store, &sheet).await?;
        tx.commit().await?;
        self.said = dropped;
        Ok(())
    }

    /// Says in the program's log what was dropped, now and then.
    fn remark(&mut self) {
        let dropped = self.tally.dropped.load(Ordering::Relaxed);
        let now = self.store.clock().monotonic();
        let (known, at) = self.logged;
        let due = at.is_none_or(|at| now.saturating_duration_since(at) >= REMARK);
        if dropped > known && due {
            tracing::warn!(
                dropped = dropped - known,
                total = dropped,
                "records were dropped: more came than the database takes"
            );
            self.logged = (dropped, Some(now));
        }
    }
}

impl Record {
    fn noted(&self) -> Noted<'_> {
        match self {
            Self::Call(call) => Noted::Call(call),
            Self::Entry(entry) => Noted::Entry(entry),
        }
    }
}
