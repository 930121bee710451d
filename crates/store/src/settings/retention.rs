//! How much of the audit log is kept, as a setting. Never takes anything away itself.

use std::time::Duration;

use serde_json::{Value, json};

use super::Settings;
use crate::actor::Actor;
use crate::audit::Retention;
use crate::change::{Change, To};
use crate::db::{millis, sql};
use crate::error::{Error, Result};
use crate::topics::Topic;

/// The setting: `{"days": 365, "rows": 10000000, "megabytes": null}`; `null` or nothing in a place keeps everything
/// there.
const NAME: &str = "audit_retention";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const MEGABYTE: u64 = 1_000_000;

/// What is kept unless somebody says otherwise.
const KEPT: Retention = Retention {
    age: Some(Duration::from_secs(365 * 24 * 60 * 60)),
    rows: Some(10_000_000),
    bytes: None,
};

/// How much of the audit log is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// So much.
    pub retention: Retention,
    /// Changes with every change; 0 as long as nobody said anything.
    pub revision: i64,
}

impl Retention {
    /// Of whole days and millions of bytes.
    pub fn of(days: Option<u32>, rows: Option<u64>, megabytes: Option<u64>) -> Self {
        let bytes = megabytes.map(|megabytes| megabytes.saturating_mul(MEGABYTE));
        Self { age: days.map(|days| DAY * days), rows, bytes }
    }

    /// The size in whole megabytes.
    pub fn megabytes(&self) -> Option<u64> {
        self.bytes.map(|bytes| bytes / MEGABYTE)
    }

    /// The age in whole days.
    pub fn days(&self) -> Option<u32> {
        self.age.map(|age| u32::try_from(age.as_secs() / DAY.as_secs()).unwrap_or(u32::MAX))
    }
}

impl Settings<'_> {
    /// How much of the audit log is kept.
    pub async fn retention(self) -> Result<Kept> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT value, updated_at FROM settings WHERE name = $1").bind(NAME);
        let Some(row) = query.optional(&mut tx).await? else {
            return Ok(Kept { retention: KEPT, revision: 0 });
        };
        let value: Value = serde_json::from_str(&row.text("value")?)
            .map_err(|error| Error::malformed("setting", error))?;
        Ok(Kept { retention: read(&value), revision: row.int("updated_at")? })
    }

    /// Says how much is kept. With a revision, only if it is still that one.
    pub async fn set_retention(
        self,
        keep: Retention,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<Kept> {
        let mut change = Change::begin(self.0).await?;
        let tx = &mut change.tx;
        let value = json!({"days": keep.days(), "rows": keep.rows, "megabytes": keep.megabytes()});
        // The first to insert holds the row, so that two who saw nothing do not both count.
        let query = sql("INSERT INTO settings (name, value, updated_at) VALUES ($1, 'null', 0)
             ON CONFLICT (name) DO UPDATE SET updated_at = settings.updated_at RETURNING updated_at");
        let found = query.bind(NAME).one(tx).await?.int("updated_at")?;
        if expected.is_some_and(|expected| expected != found) {
            return Err(Error::Stale { what: "setting", id: NAME.to_owned() });
        }
        // Two changes in one millisecond are two.
        let revision = millis(self.0.now()).max(found + 1);
        let query = sql("UPDATE settings SET value = $2, updated_at = $3 WHERE name = $1");
        query.bind(NAME).bind(value.to_string()).bind(revision).run(tx).await?;
        change.act(by, "audit.retention", To::Named(NAME), value).touch(Topic::Settings);
        change.commit().await?;
        Ok(Kept { retention: keep, revision })
    }
}

fn read(setting: &Value) -> Retention {
    let number = |name: &str| setting.get(name).and_then(Value::as_u64);
    let days = number("days").map(|days| u32::try_from(days).unwrap_or(u32::MAX));
    Retention::of(days, number("rows"), number("megabytes"))
}
