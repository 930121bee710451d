//! What keeps the store from growing for ever: old audit rows, counts, events and approvals go, now
//! and then. How much is kept is a setting.

use std::time::Duration;

use serde_json::Value;
use switchboard_model::Clock;
use switchboard_store::{Result, Retention, Store};
use tokio_util::sync::CancellationToken;

/// Between two rounds; the first comes soon after the start.
const EVERY: Duration = Duration::from_secs(60 * 60);
const FIRST: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The setting that says how much of the audit log is kept: `{"days": 365, "rows": 10000000}`.
pub(crate) const RETENTION: &str = "audit_retention";
/// What is kept unless the setting says otherwise.
pub(crate) const KEPT: Retention =
    Retention { age: Some(Duration::from_secs(365 * 24 * 60 * 60)), rows: Some(10_000_000) };

/// Does them until the hub stops.
pub(super) async fn run(
    store: Store,
    clock: std::sync::Arc<dyn Clock>,
    shutdown: CancellationToken,
) {
    let mut pause = FIRST;
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = shutdown.cancelled() => return,
        }
        if let Err(error) = round(&store, &*clock).await {
            tracing::warn!(%error, "old rows of the store could not be taken away");
        }
        pause = EVERY;
    }
}

async fn round(store: &Store, clock: &dyn Clock) -> Result<()> {
    let keep = retention(store.settings().get(RETENTION).await?.as_ref());
    let gone = store.audit().retain(keep).await?;
    if gone > 0 {
        tracing::info!("{gone} rows of the audit log are past their time and gone");
    }
    store.usage().prune(90 * DAY, 5 * 365 * DAY).await?;
    store.events().prune(7 * DAY).await?;
    let month_ago = clock.now().checked_sub(30 * DAY).unwrap_or(std::time::UNIX_EPOCH);
    store.approvals().expire(month_ago).await?;
    Ok(())
}

/// What the setting says; `null` or nothing in a place keeps everything there.
pub(crate) fn retention(setting: Option<&Value>) -> Retention {
    let Some(setting) = setting else { return KEPT };
    let number = |name: &str| setting.get(name).and_then(Value::as_u64);
    let days = number("days").and_then(|days| u32::try_from(days).ok());
    Retention { age: days.map(|days| DAY * days), rows: number("rows") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings() {
        assert_eq!(retention(None), KEPT);
        let some = retention(Some(&json!({"days": 2, "rows": 10})));
        assert_eq!(some, Retention { age: Some(2 * DAY), rows: Some(10) });
        let all = retention(Some(&json!({"days": null})));
        assert_eq!(all, Retention { age: None, rows: None });
    }
}
