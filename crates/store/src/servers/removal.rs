//! Servers that the store declares no longer, and what goes with them: what is kept by a server's name is kept for
//! whichever server has that name.

use serde_json::json;
use switchboard_model::{AgentId, ServerKey, ServerName};

use super::{Servers, lock};
use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Tx, sql};
use crate::error::Result;
use crate::key::{columns, write_key};
use crate::topics::Topic;
use crate::vault::Vault;

/// What files declare by the name of a server of the store that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InFiles {
    /// Nothing that its agents would have by that name.
    Nothing,
    /// A server for all, where it is somebody's own: agents that name it mean that one from then on.
    ForAll,
    /// One of the same key, which counts instead of it: whatever else is kept by that key is about the file's.
    Same,
}

impl Servers<'_> {
    /// Deletes one of which files know nothing, with its credentials, definitions and cache.
    pub async fn remove(self, key: &ServerKey, by: &Actor) -> Result<()> {
        self.remove_if(key, None, InFiles::Nothing, by).await
    }

    /// The same, whatever files declare; with a revision, only if it is still that one. Agents to which its name
    /// then means no server name it no longer.
    pub async fn remove_if(
        self,
        key: &ServerKey,
        expected: Option<i64>,
        in_files: InFiles,
        by: &Actor,
    ) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        let (tx, vault) = (&mut change.tx, self.0.vault());
        lock(tx, key, expected).await?;
        match in_files {
            InFiles::Same => forget_declaration(tx, vault, key).await?,
            InFiles::Nothing | InFiles::ForAll => forget(tx, vault, key).await?,
        }
        if in_files == InFiles::Nothing && !unassign(tx, key).await?.is_empty() {
            change.touch(Topic::People);
        }
        change.act(by, "server.remove", To::Server(key), json!({})).touch(Topic::Servers);
        change.commit().await
    }

    /// After the files' last server for all of this name was removed: agents to which the name then means no server
    /// name it no longer. Which ones.
    pub async fn unassign(self, name: &ServerName, by: &Actor) -> Result<Vec<AgentId>> {
        let mut change = Change::begin(self.0).await?;
        let key = ServerKey::global(name.clone());
        let agents = unassign(&mut change.tx, &key).await?;
        if agents.is_empty() {
            return Ok(agents);
        }
        let names: Vec<&str> = agents.iter().map(AgentId::as_str).collect();
        change.act(by, "server.unassign", To::Server(&key), json!({"agents": names}));
        change.touch(Topic::People);
        change.commit().await?;
        Ok(agents)
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

/// Takes a server that is gone out of the lists of the agents that had it, unless the name still means one to them:
/// everybody's, their owner's or their own. An agent whose list is another has another revision.
async fn unassign(tx: &mut Tx, key: &ServerKey) -> Result<Vec<AgentId>> {
    let query = sql("UPDATE agents SET revision = revision + 1
         WHERE id IN (SELECT agent_id FROM agent_servers WHERE server = $1)
         AND ($2 = 'global' OR ($2 = 'user' AND owner = $3) OR ($2 = 'agent' AND id = $3))
         AND NOT EXISTS (SELECT 1 FROM servers WHERE servers.name = $1
             AND (servers.scope = 'global'
                 OR (servers.scope = 'user' AND servers.owner = agents.owner)
                 OR (servers.scope = 'agent' AND servers.owner = agents.id)))
         RETURNING id");
    let (scope, owner) = columns(&key.scope);
    let rows = query.bind(key.name.as_str()).bind(scope).bind(owner).all(tx).await?;
    let mut agents = Vec::new();
    for row in &rows {
        let query = sql("DELETE FROM agent_servers WHERE agent_id = $1 AND server = $2");
        query.bind(row.text("id")?).bind(key.name.as_str()).run(tx).await?;
        agents.push(crate::agents::id(&row.text("id")?)?);
    }
    agents.sort();
    Ok(agents)
}
