//! Follows what happens at servers for whoever writes it to the store. What was missed while the store
//! did not answer, or because too much happened at once, is not told piece by piece: as soon as the
//! store answers, everything is written as it is then. Nothing waits for it.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use switchboard_model::{Event, EventKind, ServerKey};
use switchboard_store::{Outage, Result};
use switchboard_upstream::{Status, Upstreams};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A store that does not answer is tried again after this.
const AGAIN: Duration = Duration::from_secs(2);

/// Who writes.
pub(crate) trait Keeper: Send {
    /// Something happened.
    fn one(&mut self, event: &Event) -> impl Future<Output = Result<()>> + Send;

    /// Everything as it is now: these run, and those were known before and are no more.
    fn all(
        &mut self,
        running: &[Status],
        gone: &BTreeSet<ServerKey>,
    ) -> impl Future<Output = Result<()>> + Send;
}

/// What is done when the end comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtTheEnd {
    /// What happened before is written first.
    Finish,
    /// Nothing more.
    Leave,
}

/// Follows until the end. `outage` says what is not done meanwhile.
pub(crate) async fn follow(
    mut keeper: impl Keeper,
    upstreams: Upstreams,
    mut outage: Outage,
    (end, at_the_end): (CancellationToken, AtTheEnd),
) {
    let mut events = upstreams.changes();
    let mut known = BTreeSet::new();
    // When everything is to be written anew, if it is.
    let mut again: Option<Instant> = None;
    loop {
        let kept = tokio::select! {
            biased;
            () = end.cancelled() => break,
            event = events.recv() => match event {
                Ok(event) => {
                    known.insert(event.server.clone());
                    if again.is_some() {
                        continue;
                    }
                    let kept = keeper.one(&event).await;
                    if event.kind == EventKind::Removed && kept.is_ok() {
                        known.remove(&event.server);
                    }
                    kept
                }
                Err(RecvError::Lagged(_)) => {
                    again.get_or_insert_with(Instant::now);
                    continue;
                }
                Err(RecvError::Closed) => break,
            },
            () = at(again) => everything(&mut keeper, &upstreams, &mut known).await,
        };
        again = match kept {
            Ok(()) => {
                outage.over();
                None
            }
            Err(error) => {
                outage.met(&error);
                Some(Instant::now() + AGAIN)
            }
        };
    }
    let mut behind = again.is_some();
    while let Ok(event) = events.try_recv() {
        known.insert(event.server.clone());
        behind = true;
    }
    if at_the_end == AtTheEnd::Finish
        && behind
        && let Err(error) = everything(&mut keeper, &upstreams, &mut known).await
    {
        outage.met(&error);
    }
}

async fn everything(
    keeper: &mut impl Keeper,
    upstreams: &Upstreams,
    known: &mut BTreeSet<ServerKey>,
) -> Result<()> {
    let running = upstreams.status();
    let now: BTreeSet<ServerKey> = running.iter().map(|status| status.key.clone()).collect();
    let gone = known.difference(&now).cloned().collect();
    keeper.all(&running, &gone).await?;
    *known = now;
    Ok(())
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
