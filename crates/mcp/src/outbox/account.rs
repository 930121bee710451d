//! What is kept for one caller or of one, counted together, and what is of all of them; such as what their streams keep,
//! beside what waits for that caller to read it. Only counts: whoever keeps something asks whether there is room.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that are kept of one caller, as part of all that is kept.
#[derive(Debug)]
pub(crate) struct Account {
    kept: AtomicUsize,
    most: usize,
    /// That of everybody together.
    all: Option<Arc<Account>>,
}

impl Account {
    /// Everybody's, or one that is no part of another.
    pub(crate) fn of_all(most: usize) -> Arc<Self> {
        Arc::new(Self { kept: AtomicUsize::new(0), most, all: None })
    }

    /// One caller's.
    pub(crate) fn of_one(all: &Arc<Self>, most: usize) -> Arc<Self> {
        Arc::new(Self { kept: AtomicUsize::new(0), most, all: Some(all.clone()) })
    }

    /// Whether nothing more should be kept, by this caller or by anybody.
    pub(crate) fn is_full(&self) -> bool {
        self.kept() > self.most || self.all.as_deref().is_some_and(Self::is_full)
    }

    /// Bytes that are kept.
    pub(crate) fn kept(&self) -> usize {
        self.kept.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, bytes: usize) {
        let before = self.kept.fetch_add(bytes, Ordering::Relaxed);
        if let Some(all) = &self.all {
            all.add(self.part(before + bytes) - self.part(before));
        }
    }

    pub(crate) fn subtract(&self, bytes: usize) {
        let before = self.kept.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(all) = &self.all {
            all.subtract(self.part(before) - self.part(before.saturating_sub(bytes)));
        }
    }

    /// What of so many bytes counts among those of all: what one has beyond its own bound takes nobody else's room.
    fn part(&self, bytes: usize) -> usize {
        bytes.min(self.most)
    }
}

/// All that is counted of one caller's streams.
#[derive(Clone, Debug)]
pub(crate) struct Accounts {
    /// For clients that come back: it gives way.
    pub(crate) kept: Arc<Account>,
    /// On channels, until it is read. It cannot give way, so it is no part of what all keep: nobody else has less for it.
    pub(crate) waiting: Arc<Account>,
}

impl Accounts {
    /// One caller's.
    pub(crate) fn of_one(all: &Arc<Account>, most: usize) -> Self {
        Self { kept: Account::of_one(all, most), waiting: Account::of_all(most) }
    }

    /// Bytes of both.
    pub(crate) fn bytes(&self) -> usize {
        self.kept.kept() + self.waiting.kept()
    }

    /// Whether nothing more should be kept or made for this caller.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.is_full() || self.bytes() > self.kept.most
    }

    /// Whether this caller has so much that it cannot all be kept for a client that comes back, which would
    /// have given way: it waits to be read.
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.bytes() / 2 > self.kept.most
    }
}
