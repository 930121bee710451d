//! Resources of one server that somebody wants to hear of. They outlive a connection, so that one
//! that comes back is asked again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The URIs, as the server knows them.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// With each, a hash of what it held when it was looked at, if it ever was.
    uris: Mutex<BTreeMap<String, Option<u64>>>,
    bell: Notify,
}

/// What a look at a resource shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// It holds what it held.
    Same,
    /// It holds something else, or nobody knows what it held.
    Other,
    /// Nobody wants to hear of it any more.
    Unwanted,
}

impl Watched {
    /// `false` if it was among them.
    pub(crate) fn add(&self, uri: &str) -> bool {
        let mut uris = self.lock();
        let is_new = !uris.contains_key(uri);
        if is_new {
            uris.insert(uri.to_owned(), None);
            self.bell.notify_one();
        }
        is_new
    }

    pub(crate) fn remove(&self, uri: &str) {
        if self.lock().remove(uri).is_some() {
            self.bell.notify_one();
        }
    }

    /// Takes one out without a word: the server does not tell of it anyway.
    pub(crate) fn forget(&self, uri: &str) {
        self.lock().remove(uri);
    }

    pub(crate) fn has(&self, uri: &str) -> bool {
        self.lock().contains_key(uri)
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Takes over what one holds now.
    pub(crate) fn look(&self, uri: &str, now: u64) -> Look {
        match self.lock().get_mut(uri).map(|held| held.replace(now)) {
            None => Look::Unwanted,
            Some(Some(before)) if before == now => Look::Same,
            Some(_) => Look::Other,
        }
    }

    /// Returns when there may be others than before.
    pub(crate) async fn changed(&self) {
        self.bell.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Option<u64>>> {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
