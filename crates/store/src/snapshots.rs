//! What was known at the last start or change, so that the next start tells only what is new.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::db::sql;
use crate::error::{Error, Result};
use crate::store::Store;

/// What was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// When.
    pub taken_at: SystemTime,
    /// Which servers.
    pub servers: Vec<SnapshotEntry>,
}

/// One server in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SnapshotEntry {
    /// What it is called.
    pub name: String,
    /// `internal` or `external`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Snapshots.
#[derive(Clone, Copy, Debug)]
pub struct Snapshots<'a>(pub(crate) &'a Store);

impl Snapshots<'_> {
    /// The last one; none at the first start.
    pub async fn last(self) -> Result<Option<Snapshot>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT taken_at, content FROM snapshots WHERE id = 1");
        let Some(row) = query.optional(&mut tx).await? else { return Ok(None) };
        let servers = serde_json::from_str(&row.text("content")?);
        let servers = servers.map_err(|e| Error::malformed("snapshot", e))?;
        Ok(Some(Snapshot { taken_at: row.time("taken_at")?, servers }))
    }

    /// Keeps what is known now; returns what was kept before.
    pub async fn save(self, servers: &[SnapshotEntry]) -> Result<Option<Snapshot>> {
        let before = self.last().await?;
        let content =
            serde_json::to_string(servers).map_err(|e| Error::malformed("snapshot", e))?;
        let mut tx = self.0.db().begin().await?;
        let query = sql("INSERT INTO snapshots (id, taken_at, content) VALUES (1, $1, $2)
             ON CONFLICT (id) DO UPDATE SET taken_at = excluded.taken_at, content = excluded.content");
        query.bind(self.0.now()).bind(content).run(&mut tx).await?;
        tx.commit().await?;
        Ok(before)
    }
}
