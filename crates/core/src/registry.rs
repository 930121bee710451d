//! Turns what the servers offer into one routable snapshot, swapped as a whole. Never talks to a
//! server.

mod audience;
mod freed;
mod offer;
mod pages;
mod part;
mod snapshot;
#[cfg(test)]
mod tests;
mod uri_template;
mod view;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use switchboard_model::ServerKey;
use tokio::sync::watch;

pub use audience::Audience;
pub use offer::{Freshness, Home, Kind, Offer};
pub use pages::{BadCursor, ListPage};
pub(crate) use part::Part;
pub use snapshot::Snapshot;
pub(crate) use view::Place;
pub use view::{Listed, View};

/// How lists are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Entries on one page of a list. Many clients never ask for a second page, and the others have to read
    /// the first one before they can, so this is large: it only keeps an answer from growing without bound.
    pub page: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { page: 25_000 }
    }
}

/// Everything that is on offer, and to whom. Cheap to clone; all clones are the same. Readers take
/// a snapshot and are never in anybody's way.
#[derive(Clone)]
pub struct Registry(Arc<Inner>);

struct Inner {
    now: ArcSwap<Snapshot>,
    /// One change at a time.
    change: Mutex<()>,
    changes: watch::Sender<u64>,
}

impl Registry {
    /// Nothing is on offer, and nobody is there.
    pub fn new(settings: Settings) -> Self {
        Self(Arc::new(Inner {
            now: ArcSwap::from_pointee(Snapshot::empty(settings)),
            change: Mutex::default(),
            changes: watch::Sender::new(0),
        }))
    }

    /// What is on offer now. Load it once for a call, and never again in that call.
    pub fn load(&self) -> Arc<Snapshot> {
        self.0.now.load_full()
    }

    /// Looks at what is on offer now, for what is found there at once: without counting who has it, which every
    /// thread would write to the same place for each call.
    pub fn look<T>(&self, look: impl FnOnce(&Snapshot) -> T) -> T {
        look(&self.0.now.load())
    }

    /// A server offers this from now on. Costs what this server has, and the views of it that somebody uses,
    /// which are there when this returns; views without it notice nothing. Where it offers what it did, nobody does.
    pub fn publish(&self, key: &ServerKey, offer: Arc<Offer>) {
        self.change(|now| match now.offer(key) {
            Some(known) if known.is_same(&offer) => None,
            _ => now.with(key, Some(offer)),
        });
    }

    /// A server is gone. One that is only unreachable keeps its offer, marked as stale.
    pub fn withdraw(&self, key: &ServerKey) {
        self.change(|now| now.with(key, None));
    }

    /// Who there is, and what they may see.
    pub fn set_audience(&self, audience: Audience) {
        self.change(|now| now.with_audience(audience));
    }

    /// Nobody sees any more what they will not see in `next`, where what is new may have to wait.
    pub fn narrow_audience(&self, next: &Audience) {
        self.change(|now| now.with_audience(now.audience().within(next)));
    }

    /// Hears of every new snapshot, by its version; which views changed, their digests tell.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    fn change(&self, make: impl FnOnce(&Snapshot) -> Option<Snapshot>) {
        let _one_at_a_time: MutexGuard<'_, ()> =
            self.0.change.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(next) = make(&self.0.now.load()) {
            let version = next.version();
            self.0.now.store(Arc::new(next));
            self.0.changes.send_replace(version);
        }
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}
