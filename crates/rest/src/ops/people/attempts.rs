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
/// So many people are remembered.
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
        if attempts.len() >= KEPT {
            attempts.retain(|_, (_, since)| now < *since + WINDOW);
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
