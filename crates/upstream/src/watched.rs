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
    pub(crate) fn add(&self, uri: &str) {
        if self.lock().insert(uri.to_owned()) {
            self.bell.notify_one();
        }
    }

    pub(crate) fn remove(&self, uri: &str) {
        if self.lock().remove(uri) {
            self.bell.notify_one();
        }
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
