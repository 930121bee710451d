//! The one task that takes records out of the queue and writes them. Keeps a batch until the
//! database takes it, and never writes one twice.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::queue::Queue;
use super::{Record, RecorderOptions, Tally};
use crate::actor::Actor;
use crate::audit::{self, Entry, Noted, Sheet};
use crate::db::sql;
use crate::error::Result;
use crate::outage::Outage;
use crate::random;
use crate::store::Store;
use crate::usage;

/// Between two tries, and between two remarks on what was dropped.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);
const REMARK: Duration = Duration::from_secs(10);
/// Room for so many records is kept from one time to the next.
const KEPT: usize = 4096;
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

pub(super) struct Writer {
    store: Store,
    options: RecorderOptions,
    tally: Arc<Tally>,
    instance: String,
    batch: i64,
    outage: Outage,
    /// How many of the dropped ones have been said in the audit log.
    said: u64,
    /// How many have been said in the program's log, and when.
    logged: (u64, Option<std::time::Instant>),
}

impl Writer {
    pub(super) fn new(store: Store, options: RecorderOptions, tally: Arc<Tally>) -> Result<Self> {
        let instance = random::id("")?;
        let outage = Outage::new("records wait for the database");
        let (batch, said, logged) = (0, 0, (0, None));
        Ok(Self { store, options, tally, instance, batch, outage, said, logged })
    }

    pub(super) async fn run(
        mut self,
        queue: Arc<Queue>,
        (end, give_up): (CancellationToken, CancellationToken),
    ) {
        if let Err(error) = self.forget_old_instances().await {
            tracing::debug!(%error, "what earlier instances left is forgotten next time");
        }
        let mut spare = Vec::new();
        loop {
            self.gather(&queue, &end).await;
            let last = end.is_cancelled();
            if last {
                // What is in the queue still comes out of it.
                queue.close();
            }
            let mut records = queue.take(spare);
            self.tally.meter.add(&records);
            tokio::select! {
                () = self.deliver_all(&records, &queue) => {}
                () = give_up.cancelled() => {
                    let lost = queue.abandon();
                    self.tally.dropped.fetch_add(lost as u64, Ordering::Relaxed);
                    tracing::error!(lost, "the database stayed away: records are lost");
                    return;
                }
            }
            if last {
                break;
            }
            records.clear();
            records.shrink_to(KEPT);
            spare = records;
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

    /// Waits until there is something, and then for more: until there are many or the time is over. Sleeps
    /// meanwhile: to be woken for each record would cost the calls more than the records themselves.
    async fn gather(&self, queue: &Queue, end: &CancellationToken) {
        tokio::select! {
            () = queue.some() => {}
            () = end.cancelled() => return,
        }
        tokio::select! {
            () = queue.many() => {}
            () = tokio::time::sleep(self.options.interval) => {}
            () = end.cancelled() => {}
        }
    }

    /// Everything, as many together as belong together.
    async fn deliver_all(&mut self, records: &[Record], queue: &Queue) {
        for batch in records.chunks(self.options.batch.max(1)) {
            self.deliver(batch).await;
            queue.done(batch.len());
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
                    self.outage.over();
                    self.tally.written.fetch_add(batch.len() as u64, Ordering::Relaxed);
                    return;
                }
                Err(error) if error.is_transient() || error.is_of_the_key() => {
                    self.outage.met(&error);
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
