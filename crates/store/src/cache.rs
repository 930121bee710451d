//! Catalogs as servers gave them, byte for byte, so that after a restart the endpoint answers before
//! the servers are there.

use std::collections::BTreeMap;
use std::time::SystemTime;

use switchboard_model::ServerKey;

use crate::db::{Row, sql};
use crate::error::Result;
use crate::key::{parse_key, write_key};
use crate::store::Store;

/// A catalog that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    /// Byte for byte.
    pub catalog: Vec<u8>,
    /// The revision of the protocol it came in.
    pub revision: String,
    /// When it came.
    pub saved_at: SystemTime,
    /// Whether it still counts.
    pub freshness: Freshness,
}

/// Whether a catalog still counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// As far as is known.
    Fresh,
    /// The declaration changed since, or the server says that it did.
    Stale,
}

/// Catalogs.
#[derive(Clone, Copy, Debug)]
pub struct ToolCache<'a>(pub(crate) &'a Store);

impl ToolCache<'_> {
    /// Keeps a catalog, over what was there.
    pub async fn put(self, server: &ServerKey, catalog: &[u8], revision: &str) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        let query = sql("INSERT INTO tool_cache (server, catalog, revision, saved_at, stale)
             VALUES ($1, $2, $3, $4, 0) ON CONFLICT (server) DO UPDATE SET
             catalog = excluded.catalog, revision = excluded.revision,
             saved_at = excluded.saved_at, stale = 0");
        let query = query.bind(write_key(server)).bind(catalog).bind(revision);
        query.bind(self.0.now()).run(&mut tx).await?;
        tx.commit().await
    }

    /// The catalog of a server.
    pub async fn get(self, server: &ServerKey) -> Result<Option<Cached>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT * FROM tool_cache WHERE server = $1").bind(write_key(server));
        query.optional(&mut tx).await?.as_ref().map(read).transpose()
    }

    /// Every catalog, for a start.
    pub async fn all(self) -> Result<BTreeMap<ServerKey, Cached>> {
        let mut tx = self.0.db().read().await?;
        let rows = sql("SELECT * FROM tool_cache").all(&mut tx).await?;
        rows.iter().map(|row| Ok((parse_key(&row.text("server")?)?, read(row)?))).collect()
    }

    /// It may not be so any more; it stays until another replaces it.
    pub async fn mark_stale(self, server: &ServerKey) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        let query = sql("UPDATE tool_cache SET stale = 1 WHERE server = $1");
        query.bind(write_key(server)).run(&mut tx).await?;
        tx.commit().await
    }

    /// Forgets it.
    pub async fn remove(self, server: &ServerKey) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        let query = sql("DELETE FROM tool_cache WHERE server = $1");
        query.bind(write_key(server)).run(&mut tx).await?;
        tx.commit().await
    }
}

fn read(row: &Row) -> Result<Cached> {
    Ok(Cached {
        catalog: row.blob("catalog")?,
        revision: row.text("revision")?,
        saved_at: row.time("saved_at")?,
        freshness: if row.flag("stale")? { Freshness::Stale } else { Freshness::Fresh },
    })
}
