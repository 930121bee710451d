//! Settings as JSON under names, and those that are secret in the vault.

mod retention;

use serde_json::{Value, json};
use switchboard_model::Secret;

use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::sql;
use crate::error::{Error, Result};
use crate::sealed;
use crate::store::Store;
use crate::topics::Topic;
pub use retention::Kept;

/// Settings.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a>(pub(crate) &'a Store);

impl Settings<'_> {
    /// The setting of this name.
    pub async fn get(self, name: &str) -> Result<Option<Value>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT value FROM settings WHERE name = $1").bind(name);
        let Some(row) = query.optional(&mut tx).await? else { return Ok(None) };
        serde_json::from_str(&row.text("value")?).map_err(|e| Error::malformed("setting", e))
    }

    /// Sets it.
    pub async fn set(self, name: &str, value: &Value, by: &Actor) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("INSERT INTO settings (name, value, updated_at) VALUES ($1, $2, $3)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at");
        query.bind(name).bind(value.to_string()).bind(self.0.now()).run(&mut change.tx).await?;
        change.act(by, "setting.set", To::Named(name), json!({})).touch(Topic::Settings);
        change.commit().await
    }

    /// The secret of this name.
    pub async fn secret(self, name: &str) -> Result<Option<Secret>> {
        let mut tx = self.0.db().read().await?;
        self.0.vault().get_text(&mut tx, sealed::setting(name)).await
    }

    /// Sets a secret, or takes it away.
    pub async fn set_secret(self, name: &str, value: Option<&Secret>, by: &Actor) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        let (vault, slot) = (self.0.vault(), sealed::setting(name));
        match value {
            Some(value) => vault.put(&mut change.tx, slot, value.expose().as_bytes()).await?,
            None => vault.forget(&mut change.tx, slot.owner, name).await?,
        }
        change.act(by, "setting.set", To::Named(name), json!({"secret": true}));
        change.touch(Topic::Settings);
        change.commit().await
    }

    /// Takes it away.
    pub async fn remove(self, name: &str, by: &Actor) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        sql("DELETE FROM settings WHERE name = $1").bind(name).run(&mut change.tx).await?;
        change.act(by, "setting.remove", To::Named(name), json!({})).touch(Topic::Settings);
        change.commit().await
    }
}
