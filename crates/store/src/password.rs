//! Passwords as argon2id hashes. Never keeps a password, and takes the same time for a person who
//! is not there.

use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Argon2, PasswordHash};
use switchboard_model::Secret;

use crate::error::{Error, Result};

/// The shortest password taken; length is what counts.
const SHORTEST: usize = 10;

/// The hash to keep. It takes a while on purpose, off the async threads.
pub(crate) async fn hash(password: Secret) -> Result<String> {
    if password.expose().chars().count() < SHORTEST {
        return Err(Error::Refused("the password is too short: ten characters at least"));
    }
    let mut salt = [0; 16];
    getrandom::fill(&mut salt)?;
    let hashed = blocking(move || {
        Argon2::default().hash_password_with_salt(password.expose().as_bytes(), &salt)
    });
    hashed
        .await
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
            Ok(blocking(verify).await)
        }
        None => {
            let stand_in = Secret::new(format!("{}..........", password.expose()));
            hash(stand_in).await.map(|_| false)
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
