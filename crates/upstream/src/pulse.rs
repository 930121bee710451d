//! The time that a call may take: extended by progress, stopped while the server waits for us.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
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
    ended: AtomicBool,
    end: Notify,
}

impl Pulse {
    /// There is progress.
    pub(crate) fn beat(&self) {
        self.beats.notify_one();
    }

    /// The server waits for an answer of ours, and the time does not run, until it is released. How
    /// many answers it waited for before; `None` if those are as many as it may.
    pub(crate) fn hold(&self, limit: u32) -> Option<u32> {
        let one_more = |waiting: u32| (waiting < limit).then_some(waiting + 1);
        let before =
            self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok()?;
        self.beat();
        Some(before)
    }

    /// The server has its answer; how many it still waits for.
    pub(crate) fn release(&self) -> u32 {
        let before = self.waiting.fetch_sub(1, Ordering::AcqRel);
        self.beat();
        before - 1
    }

    /// The request is answered or given up.
    pub(crate) fn finish(&self) {
        self.ended.store(true, Ordering::Release);
        self.end.notify_waiters();
    }

    /// Returns when the request is answered or given up.
    pub(crate) async fn over(&self) {
        let end = self.end.notified();
        if !self.ended.load(Ordering::Acquire) {
            end.await;
        }
    }

    /// Whether the server waits for an answer of ours.
    pub(crate) fn is_held(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

/// Waits for the answer within the limits.
pub(crate) async fn wait<T>(
    mut answer: oneshot::Receiver<T>,
    pulse: &Pulse,
    patience: Patience,
) -> Result<T, CallError> {
    let mut began = Instant::now();
    let mut end = began + patience.total;
    loop {
        let quiet = began + patience.quiet;
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
                let now = Instant::now();
                if limit.is_none() {
                    end += now.saturating_duration_since(began);
                }
                began = now;
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
