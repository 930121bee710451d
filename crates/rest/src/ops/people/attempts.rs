//! Passwords that were wrong, counted for each person, so that they cannot be guessed at leisure.
//! Never knows a password.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use switchboard_model::UserId;

/// So many may be wrong within the time.
const ALLOWED: u32 = 5;
/// The time.
pub(super) const WINDOW: Duration = Duration::from_secs(60);
/// The same in seconds, for whoever has to wait.
pub(super) const AFTER: &str = "60";
/// So many people are remembered, and not one more.
const KEPT: usize = 10_000;

/// Passwords that were wrong.
#[derive(Default)]
pub(crate) struct Attempts(Mutex<HashMap<UserId, (u32, Instant)>>);

impl Attempts {
    /// Whether somebody may try again.
    pub(super) fn may_try(&self, user: &UserId, now: Instant) -> bool {
        let attempts = self.lock();
        let failed = attempts.get(user).filter(|(_, since)| now < *since + WINDOW);
        failed.is_none_or(|(count, _)| *count < ALLOWED)
    }

    /// It was wrong.
    pub(super) fn failed(&self, user: &UserId, now: Instant) {
        let mut attempts = self.lock();
        if attempts.len() >= KEPT && !attempts.contains_key(user) {
            attempts.retain(|_, (_, since)| now < *since + WINDOW);
            forget_least(&mut attempts);
        }
        let (count, since) = attempts.entry(user.clone()).or_insert((0, now));
        if now >= *since + WINDOW {
            (*count, *since) = (0, now);
        }
        *count += 1;
    }

    /// It was right.
    pub(super) fn forget(&self, user: &UserId) {
        self.lock().remove(user);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<UserId, (u32, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes room by forgetting whoever was tried least: names that are made up to push another out were each
/// tried less often than the one that is guessed at.
fn forget_least(attempts: &mut HashMap<UserId, (u32, Instant)>) {
    if attempts.len() < KEPT {
        return;
    }
    let least = attempts.iter().min_by_key(|(_, tried)| **tried).map(|(user, _)| user.clone());
    if let Some(user) = least {
        attempts.remove(&user);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_names_is_forgotten_before_the_one_that_is_guessed_at() {
        let (attempts, now) = (
            Attempts::default(),
            switchboard_model::Clock::monotonic(&switchboard_model::SystemClock),
        );
        let user = |id: &str| UserId::parse(id).unwrap();
        (0..ALLOWED).for_each(|_| attempts.failed(&user("bob"), now));
        for nth in 0..KEPT + 500 {
            attempts.failed(&user(&format!("nobody-{nth}")), now);
        }
        assert_eq!(attempts.lock().len(), KEPT);
        assert!(!attempts.may_try(&user("bob"), now));
        assert!(attempts.may_try(&user("bob"), now + WINDOW));
    }
}
