//! What waits to be written: one list that grows while the last one is written, and takes its place then. A
//! record lies in it as it is, so that taking one in asks nobody for memory. Never waits.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Record;

pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    /// So many may wait, those included that are being written.
    bound: usize,
    /// When so many wait, they should be written now.
    enough: usize,
    /// Rung for the first one.
    some: Notify,
    /// Rung when there are enough.
    many: Notify,
}

#[derive(Default)]
struct Waiting {
    records: Vec<Record>,
    /// Being written, and not there yet.
    in_hand: usize,
    closed: bool,
}

impl Queue {
    pub(super) fn new(bound: usize, enough: usize) -> Self {
        let waiting = Mutex::default();
        Self { waiting, bound, enough, some: Notify::new(), many: Notify::new() }
    }

    /// Takes a record in; `false` if there is no room, or nobody who would write it.
    pub(super) fn push(&self, record: Record) -> bool {
        let count = {
            let mut waiting = self.lock();
            if waiting.closed || waiting.records.len() + waiting.in_hand >= self.bound {
                return false;
            }
            waiting.records.push(record);
            waiting.records.len()
        };
        // Whoever writes sleeps meanwhile, and is not woken for each.
        if count == 1 {
            self.some.notify_one();
        }
        if count == self.enough {
            self.many.notify_one();
        }
        true
    }

    /// Returns when there is something, or may be.
    pub(super) async fn some(&self) {
        if self.waits() == 0 {
            self.some.notified().await;
        }
    }

    /// Returns when there are so many that they should be written now.
    pub(super) async fn many(&self) {
        if self.waits() < self.enough {
            self.many.notified().await;
        }
    }

    /// Everything that waits, for an empty list in its place.
    pub(super) fn take(&self, empty: Vec<Record>) -> Vec<Record> {
        let mut waiting = self.lock();
        waiting.in_hand = waiting.records.len();
        std::mem::replace(&mut waiting.records, empty)
    }

    /// So many of those that were taken are done with.
    pub(super) fn done(&self, count: usize) {
        let mut waiting = self.lock();
        waiting.in_hand = waiting.in_hand.saturating_sub(count);
    }

    /// Takes nothing in any more.
    pub(super) fn close(&self) {
        self.lock().closed = true;
    }

    /// Nobody will write any more; how many that leaves unwritten.
    pub(super) fn abandon(&self) -> usize {
        let mut waiting = self.lock();
        let left = std::mem::replace(&mut *waiting, Waiting { closed: true, ..Waiting::default() });
        left.records.len() + left.in_hand
    }

    /// How many wait, those that are being written included.
    pub(super) fn len(&self) -> usize {
        let waiting = self.lock();
        waiting.records.len() + waiting.in_hand
    }

    /// How many wait to be taken.
    fn waits(&self) -> usize {
        self.lock().records.len()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
