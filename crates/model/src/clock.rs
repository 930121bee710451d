//! The one place where time comes from, so that tests can bring their own.

use std::time::{Instant, SystemTime};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time of day, for what people read and what is stored.
    fn now(&self) -> SystemTime;

    /// A time that never goes back, for measuring.
    fn monotonic(&self) -> Instant;
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    fn monotonic(&self) -> Instant {
        Instant::now()
    }
}
