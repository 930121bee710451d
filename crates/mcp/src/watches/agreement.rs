//! Whether a server has agreed to tell of a resource. One asks, and all who wait meanwhile have its
//! answer. Never knows whom it is about.

use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_core::port::CallError;
use tokio::sync::OnceCell;

/// Whether a server has agreed.
#[derive(Default)]
pub(super) struct Agreement {
    given: OnceCell<()>,
    refusals: Mutex<Refusals>,
}

#[derive(Default)]
struct Refusals {
    count: u64,
    last: Option<CallError>,
}

impl Agreement {
    pub(super) fn is_given(&self) -> bool {
        self.given.initialized()
    }

    /// Asks, unless the server has agreed. While another asks, theirs is the answer: were each to ask in turn,
    /// the last would wait for as many silences as there are before it.
    pub(super) async fn ask(
        &self,
        ask: impl Future<Output = Result<(), CallError>>,
    ) -> Result<(), CallError> {
        let before = self.refusals().count;
        let asked = async {
            if let Some(refusal) = self.refused_since(before) {
                return Err(refusal);
            }
            let asked = ask.await;
            if let Err(error) = &asked {
                self.refuse(error);
            }
            asked
        };
        self.given.get_or_try_init(|| asked).await.copied()
    }

    /// Tells the server off, unless it was asked anew meanwhile. Whoever wants to ask waits for the end of it.
    pub(super) async fn tell_off(
        &self,
        tell: impl Future<Output = Result<(), CallError>>,
    ) -> Result<(), CallError> {
        let told = async { Err::<(), _>(tell.await) };
        self.given.get_or_try_init(|| told).await.map_or_else(|answer| answer, |()| Ok(()))
    }

    fn refused_since(&self, before: u64) -> Option<CallError> {
        let refusals = self.refusals();
        refusals.last.clone().filter(|_| refusals.count > before)
    }

    fn refuse(&self, error: &CallError) {
        // These are about who asked, and come without waiting for anybody.
        if matches!(error, CallError::Denied { .. } | CallError::Blocked { .. }) {
            return;
        }
        let mut refusals = self.refusals();
        refusals.count += 1;
        refusals.last = Some(error.clone());
    }

    fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
