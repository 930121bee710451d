//! Servers that the store declares no longer, and what goes with them: what is kept by a server's name is kept for
//! whichever server has that name.

use serde_json::json;
use switchboard_model::{Scope, ServerKey, ServerName};

use super::{Servers, lock};
use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Tx, sql};
use crate::error::Result;
use crate::key::{columns, write_key};
use crate::topics::Topic;
use crate::vault::Vault;

impl Servers<'_> {
    /// Deletes it with its credentials, definitions and cache.
    pub async fn remove(self, key: &ServerKey, by: &Actor) -> Result<()> {
        self.remove_if(key, None, by).await
    }

    /// The same; with a revision, only if it is still that one. Agents that name it do so no longer.
    pub async fn remove_if(self, key: &ServerKey, expected: Option<i64>, by: &Actor) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        lock(&mut change.tx, key, expected).await?;
        forget(&mut change.tx, self.0.vault(), key).await?;
        if key.scope == Scope::Global && unassign(&mut change.tx, &key.name).await? {
            change.touch(Topic::People);
        }
        change.act(by, "server.remove", To::Server(key), json!({})).touch(Topic::Servers);
        change.commit().await
    }

    /// Deletes one that a file's of the same key counts instead of: only what is declared of it. Whatever else is
    /// kept by that key is about the file's.
    pub async fn remove_hidden(
        self,
        key: &ServerKey,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        lock(&mut change.tx, key, expected).await?;
        forget_declaration(&mut change.tx, self.0.vault(), key).await?;
        change.act(by, "server.remove", To::Server(key), json!({})).touch(Topic::Servers);
        change.commit().await
    }
}

/// Deletes a server and all that hangs on it, but for what agents name.
pub(crate) async fn forget(tx: &mut Tx, vault: &Vault, key: &ServerKey) -> Result<()> {
    let server = write_key(key);
    forget_declaration(tx, vault, key).await?;
    let query = sql("DELETE FROM credentials WHERE server = $1 RETURNING owner");
    for row in query.bind(&server).all(tx).await? {
        let owner = row.text("owner")?;
        let user = Some(owner).filter(|owner| !owner.is_empty());
        let user = user.map(|owner| crate::users::id(&owner)).transpose()?;
        vault.forget(tx, "credentials", &crate::credentials::id(key, user.as_ref())).await?;
    }
    sql("DELETE FROM tool_definitions WHERE server = $1").bind(&server).run(tx).await?;
    sql("DELETE FROM tool_cache WHERE server = $1").bind(&server).run(tx).await?;
    sql("DELETE FROM server_stats WHERE server = $1").bind(&server).run(tx).await?;
    Ok(())
}

/// The row and what of it is sealed.
async fn forget_declaration(tx: &mut Tx, vault: &Vault, key: &ServerKey) -> Result<()> {
    let (scope, owner) = columns(&key.scope);
    let query =
        sql("DELETE FROM servers WHERE scope = $1 AND owner = $2 AND name = $3 RETURNING id");
    let row = query.bind(scope).bind(owner).bind(key.name.as_str()).optional(tx).await?;
    match row {
        Some(row) => vault.forget(tx, "servers", &row.text("id")?).await,
        None => Ok(()),
    }
}

/// Takes a server of all out of the agents' lists, unless the name still means one to them, their owner's or their
/// own; whether it was in any. An agent whose list is another has another revision.
async fn unassign(tx: &mut Tx, name: &ServerName) -> Result<bool> {
    let query = sql("UPDATE agents SET revision = revision + 1
         WHERE id IN (SELECT agent_id FROM agent_servers WHERE server = $1)
         AND NOT EXISTS (SELECT 1 FROM servers WHERE servers.name = $1
             AND ((servers.scope = 'user' AND servers.owner = agents.owner)
                 OR (servers.scope = 'agent' AND servers.owner = agents.id)))
         RETURNING id");
    let agents = query.bind(name.as_str()).all(tx).await?;
    for row in &agents {
        let query = sql("DELETE FROM agent_servers WHERE agent_id = $1 AND server = $2");
        query.bind(row.text("id")?).bind(name.as_str()).run(tx).await?;
    }
    Ok(!agents.is_empty())
}
