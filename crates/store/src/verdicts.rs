//! What servers were found to speak, as texts under keys: whoever asks knows what they mean.

use std::collections::BTreeMap;

use crate::db::sql;
use crate::error::Result;
use crate::store::Store;

/// Verdicts.
#[derive(Clone, Copy, Debug)]
pub struct Verdicts<'a>(pub(crate) &'a Store);

impl Verdicts<'_> {
    /// Everything that is known, for a start.
    pub async fn all(self) -> Result<BTreeMap<String, String>> {
        let mut tx = self.0.db().read().await?;
        let rows = sql("SELECT target, verdict FROM era_verdicts").all(&mut tx).await?;
        rows.iter().map(|row| Ok((row.text("target")?, row.text("verdict")?))).collect()
    }

    /// Learns one.
    pub async fn set(self, target: &str, verdict: &str) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        let query =
            sql("INSERT INTO era_verdicts (target, verdict, updated_at) VALUES ($1, $2, $3)
             ON CONFLICT (target) DO UPDATE SET verdict = excluded.verdict,
             updated_at = excluded.updated_at");
        query.bind(target).bind(verdict).bind(self.0.now()).run(&mut tx).await?;
        tx.commit().await
    }

    /// It was wrong.
    pub async fn forget(self, target: &str) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        sql("DELETE FROM era_verdicts WHERE target = $1").bind(target).run(&mut tx).await?;
        tx.commit().await
    }
}
