//! How long to wait before the next try: doubling, capped, and spread so that servers which failed
//! together do not come back together. Never gives up.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// The wait after the `attempt`th failure in a row (from 1); `share` is where in the span it falls,
/// from 0 to 1. Never less than a tenth of the span, so that a crash at start is no busy loop.
pub(crate) fn wait(attempt: u32, share: f64) -> Duration {
    let doubled = FIRST.saturating_mul(1 << attempt.saturating_sub(1).min(6));
    let span = doubled.min(LONGEST);
    span.mul_f64(share.clamp(0.1, 1.0))
}

/// The same, with chance.
pub(crate) fn jittered(attempt: u32) -> Duration {
    wait(attempt, fastrand::f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_a_minute() {
        let spans: Vec<u64> = (0..10).map(|attempt| wait(attempt, 1.0).as_secs()).collect();
        assert_eq!(spans, [1, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(wait(u32::MAX, 0.5), Duration::from_secs(30));
        assert_eq!(wait(1, 0.0), Duration::from_millis(100));
    }
}
