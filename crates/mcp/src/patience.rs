//! How long to wait before a server, or a hub, that refused is asked again. Never asks anybody.

use std::time::Duration;

/// Before it is asked again: at first, doubled each time, and at most.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// Before one more try, after so many.
pub(crate) fn wait(tries: u32) -> Duration {
    FIRST.saturating_mul(1 << tries.min(10)).min(LONGEST)
}
