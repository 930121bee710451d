//! How many calls a server works on at once. A call that waits for its client's answer gives its
//! turn to others meanwhile: the server waits for us, not we for it. Never waits but for a turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;
use tokio::task::yield_now;

/// The turns of one connection.
pub(crate) struct Turns {
    free: Semaphore,
    /// Turns in use beyond what there are: taken back as calls end.
    owed: AtomicUsize,
}

impl Turns {
    pub(crate) fn new(limit: u32) -> Arc<Self> {
        Arc::new(Self { free: Semaphore::new(limit as usize), owed: AtomicUsize::new(0) })
    }

    /// Waits for a turn; `None` if there will be none. Whoever has one gives it back.
    pub(crate) async fn take(&self) -> Option<Turn<'_>> {
        self.free.acquire().await.ok()?.forget();
        let turn = Turn(self);
        // Whoever gave it back woke us at once. First all that is ready is finished, then all that waited is begun:
        // the server gets its work in one go, and is not woken for each call (0047).
        yield_now().await;
        Some(turn)
    }

    /// A turn, if one is free and nobody waits for it.
    pub(crate) fn try_take(&self) -> Option<Turn<'_>> {
        self.free.try_acquire().ok()?.forget();
        Some(Turn(self))
    }

    /// Lends the turn of a call that waits for its client.
    pub(crate) fn lend(&self) {
        self.add(1);
    }

    /// Takes a lent turn back. The call that goes on is not held up again, as the server works on
    /// it already: if others have all turns, the next that ends gives its own.
    pub(crate) fn reclaim(&self) {
        self.remove(1);
    }

    /// Lends a turn until the guard is dropped.
    pub(crate) fn lent(&self) -> Lent<'_> {
        self.lend();
        Lent(self)
    }

    /// Another limit, from now on.
    pub(crate) fn resize(&self, old: u32, new: u32) {
        match new.checked_sub(old) {
            Some(more) => self.add(more as usize),
            None => self.remove((old - new) as usize),
        }
    }

    fn add(&self, turns: usize) {
        let less = |owed: usize| Some(owed.saturating_sub(turns));
        let owed = self.owed.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
        let owed = owed.unwrap_or_else(|owed| owed);
        self.free.add_permits(turns.saturating_sub(owed));
    }

    fn remove(&self, turns: usize) {
        let free = self.free.forget_permits(turns);
        self.owed.fetch_add(turns - free, Ordering::AcqRel);
    }
}

/// A turn in use.
pub(crate) struct Turn<'t>(&'t Turns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.add(1);
    }
}

/// A turn that others may have.
pub(crate) struct Lent<'t>(&'t Turns);

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.0.reclaim();
    }
}

#[cfg(test)]
mod tests;
