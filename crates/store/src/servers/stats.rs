//! What happened to a server, declared in a file or in the store: how often it was used, how it
//! stands. Never part of its declaration.

use std::collections::BTreeMap;
use std::time::SystemTime;

use switchboard_model::ServerKey;

use super::Servers;
use crate::db::{Row, Tx, sql};
use crate::error::Result;
use crate::key::{parse_key, write_key};

/// What happened to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerStats {
    /// When it was first heard of.
    pub added_at: Option<SystemTime>,
    /// When it was last called.
    pub last_used: Option<SystemTime>,
    /// How often.
    pub use_count: u64,
    /// How often that failed.
    pub error_count: u64,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// The code of its state, as it was last written.
    pub connection_status: Option<String>,
    /// When it last answered.
    pub last_connected_at: Option<SystemTime>,
    /// How many tools it had then.
    pub tool_count: Option<u64>,
}

impl Servers<'_> {
    /// What happened to a server.
    pub async fn stats(self, key: &ServerKey) -> Result<ServerStats> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT * FROM server_stats WHERE server = $1").bind(write_key(key));
        let row = query.optional(&mut tx).await?;
        row.as_ref().map_or_else(|| Ok(ServerStats::default()), read)
    }

    /// What happened to each.
    pub async fn all_stats(self) -> Result<BTreeMap<ServerKey, ServerStats>> {
        let mut tx = self.0.db().read().await?;
        let rows = sql("SELECT * FROM server_stats").all(&mut tx).await?;
        rows.iter().map(|row| Ok((parse_key(&row.text("server")?)?, read(row)?))).collect()
    }

    /// It stands so. `tool_count` is given when it answers, which is noted as the time too; `error`
    /// when it does not, and must hold nothing secret.
    pub async fn note_status(
        self,
        key: &ServerKey,
        status: &str,
        tool_count: Option<usize>,
        error: Option<&str>,
    ) -> Result<()> {
        let now = self.0.now();
        let tools = tool_count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let mut tx = self.0.db().begin().await?;
        begin(&mut tx, key, now).await?;
        let query = sql("UPDATE server_stats SET connection_status = $2,
             tool_count = COALESCE($3, tool_count),
             last_connected_at = COALESCE($4, last_connected_at),
             last_error = COALESCE($5, last_error) WHERE server = $1");
        let query = query.bind(write_key(key)).bind(status).bind(tools);
        query.bind(tools.map(|_| now)).bind(error).run(&mut tx).await?;
        tx.commit().await
    }
}

/// The row of a server, if it has none yet.
pub(crate) async fn begin(tx: &mut Tx, key: &ServerKey, now: SystemTime) -> Result<()> {
    let query = sql("INSERT INTO server_stats (server, added_at) VALUES ($1, $2)
         ON CONFLICT (server) DO NOTHING");
    query.bind(write_key(key)).bind(now).run(tx).await.map(drop)
}

fn read(row: &Row) -> Result<ServerStats> {
    let tools: Option<i64> = row.get("tool_count")?;
    Ok(ServerStats {
        added_at: row.time_if("added_at")?,
        last_used: row.time_if("last_used")?,
        use_count: row.count("use_count")?,
        error_count: row.count("error_count")?,
        last_error: row.get("last_error")?,
        connection_status: row.get("connection_status")?,
        last_connected_at: row.time_if("last_connected_at")?,
        tool_count: tools.map(|count| count.max(0).unsigned_abs()),
    })
}
