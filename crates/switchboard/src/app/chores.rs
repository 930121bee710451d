//! What keeps the store from growing for ever: old audit rows, counts, events and approvals go, now
//! and then. How much of the log is kept is a setting, heeded as soon as it is changed.

use std::time::Duration;

use switchboard_model::Clock;
use switchboard_store::{Result, Store, Topic};
use tokio_util::sync::CancellationToken;

/// Between two rounds; the first comes soon after the start.
const EVERY: Duration = Duration::from_secs(60 * 60);
const FIRST: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Does them until the hub stops.
pub(super) async fn run(
    store: Store,
    clock: std::sync::Arc<dyn Clock>,
    shutdown: CancellationToken,
) {
    let mut pause = FIRST;
    let mut settings = store.watch(Topic::Settings);
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            // Whoever says that less is kept sees it go.
            Ok(()) = settings.changed() => {}
            () = shutdown.cancelled() => return,
        }
        if let Err(error) = round(&store, &*clock).await {
            tracing::warn!(%error, "old rows of the store could not be taken away");
        }
        pause = EVERY;
    }
}

async fn round(store: &Store, clock: &dyn Clock) -> Result<()> {
    let keep = store.settings().retention().await?;
    let gone = store.audit().retain(keep.retention).await?;
    if gone > 0 {
        tracing::info!("{gone} rows of the audit log are past their time and gone");
    }
    store.usage().prune(90 * DAY, 5 * 365 * DAY).await?;
    store.events().prune(7 * DAY).await?;
    let month_ago = clock.now().checked_sub(30 * DAY).unwrap_or(std::time::UNIX_EPOCH);
    store.approvals().expire(month_ago).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use switchboard_model::SystemClock;
    use switchboard_store::{Actor, Address, Entry, KeySource, Options, Retention, Verdict};
    use tokio_util::task::TaskTracker;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_is_no_longer_kept_goes_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let options = Options {
            address: Address::Sqlite(directory.path().join("store.db")),
            key: KeySource::File(directory.path().join("master.key")),
            clock: Arc::new(SystemClock),
        };
        let (store, by) = (Store::open(options).await.unwrap(), Actor::system());
        for _ in 0..1500 {
            let entry = Entry::act(SystemClock.now(), &by, "test.act");
            store.audit().append(entry).await.unwrap();
        }
        let (tasks, end) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(run(store.clone(), Arc::new(SystemClock), end.clone()));
        tasks.close();
        let keep = Retention::of(None, Some(100), None);
        let mut rows = 1500;
        for _ in 0..600 {
            // Said again, as the first time may be before anybody listens.
            store.settings().set_retention(keep, None, &by).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
            let Verdict::Whole { rows: now, .. } = store.audit().verify().await.unwrap() else {
                panic!("the log is broken");
            };
            rows = now;
            if rows < 1000 {
                break;
            }
        }
        assert!(rows < 1000, "{rows} rows are still there");
        end.cancel();
        tasks.wait().await;
        store.close().await.unwrap();
    }
}
