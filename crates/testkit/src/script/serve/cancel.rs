//! Whether a call has been given up by its caller. Never ends one by force.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::outlet::Outlet;
use super::world::{held, now};

/// How long nobody looks whether the caller has left.
const STEP: Duration = Duration::from_millis(50);

#[derive(Default)]
pub(super) struct Cancel {
    cancelled: Mutex<bool>,
    changed: Condvar,
}

impl Cancel {
    pub(super) fn cancel(&self) {
        *held(&self.cancelled) = true;
        self.changed.notify_all();
    }

    pub(super) fn is_cancelled(&self) -> bool {
        *held(&self.cancelled)
    }

    /// Waits; `false` if the call was given up meanwhile.
    pub(super) fn pause(&self, ms: u64, outlet: &dyn Outlet) -> bool {
        let end = now() + Duration::from_millis(ms);
        loop {
            if outlet.is_gone() {
                self.cancel();
            }
            let left = end.saturating_duration_since(now());
            let cancelled = held(&self.cancelled);
            if *cancelled || left.is_zero() {
                return !*cancelled;
            }
            let waited = self.changed.wait_timeout(cancelled, left.min(STEP));
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}
