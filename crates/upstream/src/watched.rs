//! Resources of one server that somebody wants to hear of. They outlive a connection, so that one
//! that comes back is asked again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The URIs, as the server knows them.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    uris: Mutex<BTreeMap<String, Place>>,
    bell: Notify,
}

/// One of them. It is there while it is promised, or somebody waits for the answer.
#[derive(Debug, Default)]
struct Place {
    /// A hash of what it held when it was looked at, if it ever was.
    held: Option<u64>,
    /// Whether the server has agreed to tell of it, and not taken that back.
    is_promised: bool,
    /// How many wait for its word.
    waiting: usize,
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
    /// Somebody waits for the server's word; `false` if it was among them.
    pub(crate) fn wish(&self, uri: &str) -> bool {
        let mut uris = self.lock();
        let is_new = !uris.contains_key(uri);
        uris.entry(uri.to_owned()).or_default().waiting += 1;
        if is_new {
            self.bell.notify_one();
        }
        is_new
    }

    /// Whoever waited is promised it.
    pub(crate) fn grant(&self, uri: &str) {
        self.change(uri, |place| {
            place.waiting = place.waiting.saturating_sub(1);
            place.is_promised = true;
        });
    }

    /// The server has answered whoever waited, and is not asked for it again by itself.
    pub(crate) fn refuse(&self, uri: &str) {
        self.change(uri, |place| place.waiting = place.waiting.saturating_sub(1));
    }

    /// Whoever waited waits no more. The answer may never come: the server is asked again for what others want.
    pub(crate) fn give_up(&self, uri: &str) {
        if self.change(uri, |place| place.waiting = place.waiting.saturating_sub(1)) {
            self.bell.notify_one();
        }
    }

    /// Nobody wants the promise any more.
    pub(crate) fn remove(&self, uri: &str) {
        if self.change(uri, |place| place.is_promised = false) {
            self.bell.notify_one();
        }
    }

    /// The server takes its promise back, without a word to it; `false` if there was none. For whoever waits it is
    /// still asked.
    pub(crate) fn lose(&self, uri: &str) -> bool {
        let mut was_promised = false;
        self.change(uri, |place| was_promised = std::mem::take(&mut place.is_promised));
        was_promised
    }

    /// Changes one of them; whether it is not among them any more by that.
    fn change(&self, uri: &str, change: impl FnOnce(&mut Place)) -> bool {
        let mut uris = self.lock();
        let Some(place) = uris.get_mut(uri) else { return false };
        change(place);
        let is_over = !place.is_promised && place.waiting == 0;
        if is_over {
            uris.remove(uri);
        }
        is_over
    }

    pub(crate) fn has(&self, uri: &str) -> bool {
        self.lock().contains_key(uri)
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Takes over what one holds now.
    pub(crate) fn look(&self, uri: &str, now: u64) -> Look {
        match self.lock().get_mut(uri).map(|place| place.held.replace(now)) {
            None => Look::Unwanted,
            Some(Some(before)) if before == now => Look::Same,
            Some(_) => Look::Other,
        }
    }

    /// Returns when there may be others than before.
    pub(crate) async fn changed(&self) {
        self.bell.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Place>> {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
