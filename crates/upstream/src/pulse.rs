//! The time that a call may take: extended by progress, stopped while the server waits for us.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use switchboard_core::port::{CallError, Delivery};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Without progress.
    pub(crate) quiet: Duration,
    /// In all.
    pub(crate) total: Duration,
}

impl Patience {
    pub(crate) const fn of(limit: Duration) -> Self {
        Self { quiet: limit, total: limit }
    }
}

/// Signs of life of one request.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    beats: Notify,
    waiting: AtomicU32,
}

impl Pulse {
    /// There is progress.
    pub(crate) fn beat(&self) {
        self.beats.notify_one();
    }

    /// The server waits for an answer of ours until the guard is dropped.
    pub(crate) fn hold(&self) -> Hold<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.beat();
        Hold(self)
    }

    /// Whether the server waits for an answer of ours.
    pub(crate) fn is_held(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

/// While it lives, the time of the request does not run.
pub(crate) struct Hold<'p>(&'p Pulse);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.beat();
    }
}

/// Waits for the answer within the limits.
pub(crate) async fn wait<T>(
    mut answer: oneshot::Receiver<T>,
    pulse: &Pulse,
    patience: Patience,
) -> Result<T, CallError> {
    let mut end = Instant::now() + patience.total;
    loop {
        let quiet = Instant::now() + patience.quiet;
        let began = Instant::now();
        let limit = if pulse.is_held() { None } else { Some(quiet.min(end)) };
        let late = async {
            match limit {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            answer = &mut answer => {
                return answer.map_err(|_| {
                    CallError::lost("it was closed", Delivery::Perhaps)
                });
            }
            () = pulse.beats.notified() => {
                if limit.is_none() {
                    end += began.elapsed();
                }
            }
            () = late => {
                let after = if quiet < end { patience.quiet } else { patience.total };
                return Err(CallError::TimedOut { after });
            }
        }
    }
}

#[cfg(test)]
mod tests;
