//! Writes calls down, off their path: in batches, from a bounded queue. Recording never waits; what
//! does not fit is dropped, counted and said.

mod meter;
mod queue;
mod writer;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard_model::ServerKey;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::meter::Meter;
pub use self::meter::{CLASSES, Durations, ServerCalls};
use self::queue::Queue;
use self::writer::Writer;
use crate::audit::Entry;
use crate::store::Store;
use crate::usage::CallRecord;

/// How records are gathered.
#[derive(Clone, Copy, Debug)]
pub struct RecorderOptions {
    /// A record waits at most so long for others to be written with; then for its write, and, if it came during one, for
    /// that one before. That is what a crash can lose.
    pub interval: Duration,
    /// So many are written together, at most, and at once where so many wait.
    pub batch: usize,
    /// So many may wait, as when the database is away.
    pub bound: usize,
}

impl Default for RecorderOptions {
    fn default() -> Self {
        Self { interval: Duration::from_millis(200), batch: 2_500, bound: 20_000 }
    }
}

/// What became of the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// In the database.
    pub written: u64,
    /// Lost, because the queue was full or the database refused them.
    pub dropped: u64,
    /// Still waiting.
    pub queued: u64,
}

/// Something to write down.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are calls, and those must not ask for memory"
)]
enum Record {
    Call(CallRecord),
    Entry(Box<Entry>),
}

/// Writes calls down. Clones share it.
#[derive(Clone)]
pub struct Recorder {
    queue: Arc<Queue>,
    tally: Arc<Tally>,
    tasks: TaskTracker,
    end: CancellationToken,
    give_up: CancellationToken,
}

#[derive(Debug, Default)]
struct Tally {
    written: AtomicU64,
    dropped: AtomicU64,
    meter: Meter,
}

impl Recorder {
    /// Begins; it must be closed before the store is.
    pub fn start(store: &Store, options: RecorderOptions) -> crate::Result<Self> {
        let bound = options.bound.max(1);
        // Long before there is no room.
        let enough = options.batch.min(bound / 4).max(1);
        let recorder = Self {
            queue: Arc::new(Queue::new(bound, enough)),
            tally: Arc::default(),
            tasks: TaskTracker::new(),
            end: CancellationToken::new(),
            give_up: CancellationToken::new(),
        };
        let writer = Writer::new(store.clone(), options, recorder.tally.clone())?;
        let ends = (recorder.end.clone(), recorder.give_up.clone());
        recorder.tasks.spawn(writer.run(recorder.queue.clone(), ends));
        recorder.tasks.close();
        Ok(recorder)
    }

    /// Takes a call in. Never waits and never fails.
    pub fn record(&self, call: CallRecord) {
        self.send(Record::Call(call));
    }

    /// Takes anything else in that need not be written at once.
    pub fn note(&self, entry: Entry) {
        self.send(Record::Entry(Box::new(entry)));
    }

    /// What became of the records so far.
    pub fn counters(&self) -> Counters {
        Counters {
            written: self.tally.written.load(Ordering::Relaxed),
            dropped: self.tally.dropped.load(Ordering::Relaxed),
            queued: self.queue.len() as u64,
        }
    }

    /// What the calls of each server come to since the start, some moments late; those that were dropped
    /// are not among them.
    pub fn calls(&self) -> BTreeMap<ServerKey, ServerCalls> {
        self.tally.meter.read()
    }

    /// Writes everything that was taken in, and ends. A database that stays away longer than
    /// `patience` is given up; what it did not take counts as dropped.
    pub async fn close(&self, patience: Duration) -> Counters {
        self.end.cancel();
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            self.give_up.cancel();
            self.tasks.wait().await;
        }
        self.counters()
    }

    fn send(&self, record: Record) {
        if !self.queue.push(record) {
            self.tally.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("counters", &self.counters()).finish_non_exhaustive()
    }
}
