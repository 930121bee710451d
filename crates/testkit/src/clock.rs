//! A clock that moves only when a test says so.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use switchboard_model::Clock;

/// Stands still until it is turned.
#[derive(Debug)]
pub struct ManualClock {
    start: Instant,
    elapsed: Mutex<Duration>,
}

impl ManualClock {
    /// A clock that has just started.
    #[expect(clippy::disallowed_methods, reason = "an instant can be had in no other way")]
    pub fn new() -> Self {
        Self { start: Instant::now(), elapsed: Mutex::default() }
    }

    /// Turns it forward.
    pub fn advance(&self, by: Duration) {
        *self.elapsed.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }

    fn elapsed(&self) -> Duration {
        *self.elapsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.elapsed()
    }

    fn monotonic(&self) -> Instant {
        self.start + self.elapsed()
    }
}
