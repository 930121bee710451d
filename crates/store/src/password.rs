//! Passwords as argon2id hashes, a few at a time. Never keeps a password, and takes the same time for a
//! person who is not there.

use std::time::Duration;

use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Argon2, PasswordHash};
use switchboard_model::Secret;
use tokio::sync::Semaphore;

use crate::error::{Error, Result};

/// The shortest password taken; length is what counts.
const SHORTEST: usize = 10;

/// Hashing takes 19 MB on purpose, and anybody may ask for it: so many at once, whoever asks.
const AT_ONCE: usize = 4;
/// How long somebody waits for their turn.
const TURN: Duration = Duration::from_secs(3);

static TURNS: Semaphore = Semaphore::const_new(AT_ONCE);

/// The hash to keep. It takes a while on purpose, off the async threads.
pub(crate) async fn hash(password: Secret) -> Result<String> {
    if password.expose().chars().count() < SHORTEST {
        return Err(Error::Invalid("the password is too short: ten characters at least"));
    }
    let mut salt = [0; 16];
    getrandom::fill(&mut salt)?;
    let hashed = in_turn(&TURNS, TURN, move || {
        Argon2::default().hash_password_with_salt(password.expose().as_bytes(), &salt)
    });
    hashed
        .await?
        .map(|hash: PasswordHash| hash.to_string())
        .map_err(|e| Error::malformed("password", e))
}

/// Whether it is the password of this hash; without a hash never, after the same work.
pub(crate) async fn matches(password: Secret, kept: Option<String>) -> Result<bool> {
    match kept {
        Some(kept) => {
            let verify = move || {
                Argon2::default()
                    .verify_password(password.expose().as_bytes(), kept.as_str())
                    .is_ok()
            };
            in_turn(&TURNS, TURN, verify).await
        }
        None => {
            let stand_in = Secret::new(format!("{}..........", password.expose()));
            hash(stand_in).await.map(|_| false)
        }
    }
}

/// Does the work off the async threads, when it is its turn.
async fn in_turn<T: Send + 'static>(
    turns: &'static Semaphore,
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let Ok(Ok(turn)) = tokio::time::timeout(patience, turns.acquire()).await else {
        return Err(Error::Busy);
    };
    // The turn ends with the work, also if nobody waits for it any more.
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    match done.await {
        Ok(done) => Ok(done),
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn whoever_does_not_get_a_turn_is_told() {
        static TURNS: Semaphore = Semaphore::const_new(1);
        let turn = TURNS.acquire().await.unwrap();
        assert!(matches!(
            in_turn(&TURNS, Duration::from_millis(50), || ()).await,
            Err(Error::Busy)
        ));
        drop(turn);
        in_turn(&TURNS, TURN, || ()).await.unwrap();
    }

    #[tokio::test]
    async fn only_a_few_at_once() {
        static TURNS: Semaphore = Semaphore::const_new(2);
        static NOW: AtomicUsize = AtomicUsize::new(0);
        const LONG: Duration = Duration::from_secs(60);
        let work = || {
            let now = NOW.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
            NOW.fetch_sub(1, Ordering::SeqCst);
            now
        };
        let mut all = tokio::task::JoinSet::new();
        (0..16).for_each(|_| drop(all.spawn(in_turn(&TURNS, LONG, work))));
        for others in all.join_all().await {
            assert!(others.unwrap() < 2);
        }
    }
}
