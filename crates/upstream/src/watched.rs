//! Resources of one server that somebody wants to hear of. They outlive a connection, so that one
//! that comes back is asked again.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The URIs, as the server knows them.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    uris: Mutex<BTreeSet<String>>,
    bell: Notify,
}

impl Watched {
    /// `false` if it was among them.
    pub(crate) fn add(&self, uri: &str) -> bool {
        let is_new = self.lock().insert(uri.to_owned());
        if is_new {
            self.bell.notify_one();
        }
        is_new
    }

    pub(crate) fn remove(&self, uri: &str) {
        if self.lock().remove(uri) {
            self.bell.notify_one();
        }
    }

    /// Takes one out without a word: the server does not tell of it anyway.
    pub(crate) fn forget(&self, uri: &str) {
        self.lock().remove(uri);
    }

    pub(crate) fn has(&self, uri: &str) -> bool {
        self.lock().contains(uri)
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.lock().iter().cloned().collect()
    }

    /// Returns when there may be others than before.
    pub(crate) async fn changed(&self) {
        self.bell.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
