//! A person who is no more: everything of theirs goes, so that whoever gets their id later finds nothing of it. Only
//! the audit log stays, since it is a chain.

use serde_json::json;
use switchboard_model::{Scope, ServerKey, ServerName, UserId};

use super::{Removed, Users, found, one_at_a_time, some_administrator};
use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Tx, sql};
use crate::error::Result;
use crate::topics::Topic;
use crate::{idempotency, key, sealed, servers};

impl Users<'_> {
    /// Deletes a person and what is theirs, in one transaction. What is returned must stop.
    pub async fn remove(self, id: &UserId, by: &Actor) -> Result<Removed> {
        let mut change = Change::begin(self.0).await?;
        let tx = &mut change.tx;
        one_at_a_time(tx).await?;
        // Locks the row, so that nothing new becomes theirs meanwhile.
        let query = sql("UPDATE users SET name = name WHERE id = $1");
        found(query.bind(id.as_str()).run(tx).await?, id)?;
        let removed = self.belongings(tx, id).await?;
        for server in &removed.servers {
            servers::forget(tx, self.0.vault(), server).await?;
        }
        for server in &removed.credentials {
            let credential = crate::credentials::id(server, Some(id));
            self.0.vault().forget(tx, "credentials", &credential).await?;
            // What is known of the connection that they had by it.
            servers::forget(tx, self.0.vault(), &own(id, &server.name)).await?;
        }
        let query = sql("DELETE FROM credentials WHERE owner = $1");
        query.bind(id.as_str()).run(tx).await?;
        let query = sql("DELETE FROM approvals WHERE user_id = $1 RETURNING id");
        for row in query.bind(id.as_str()).all(tx).await? {
            let approval = row.text("id")?;
            self.0.vault().forget(tx, sealed::arguments(&approval).owner, &approval).await?;
        }
        records(tx, id).await?;
        idempotency::forget(tx, self.0.vault(), id).await?;
        sql("DELETE FROM users WHERE id = $1").bind(id.as_str()).run(tx).await?;
        some_administrator(tx).await?;
        let counts = json!({"servers": removed.servers.len(), "agents": removed.agents.len()});
        change.act(by, "user.remove", To::User(id), counts);
        change.touch(Topic::People).touch(Topic::Servers).touch(Topic::Approvals);
        change.commit().await?;
        Ok(removed)
    }

    async fn belongings(self, tx: &mut Tx, id: &UserId) -> Result<Removed> {
        let mut removed = Removed::default();
        let query = sql("SELECT id FROM agents WHERE owner = $1 ORDER BY id");
        for row in query.bind(id.as_str()).all(tx).await? {
            removed.agents.push(crate::agents::id(&row.text("id")?)?);
        }
        let query =
            sql("SELECT scope, owner, name FROM servers WHERE (scope = 'user' AND owner = $1)
             OR (scope = 'agent' AND owner IN (SELECT id FROM agents WHERE owner = $1))
             ORDER BY scope, owner, name");
        for row in query.bind(id.as_str()).all(tx).await? {
            let (scope, owner) = (row.text("scope")?, row.text("owner")?);
            removed.servers.push(key::from_columns(&scope, &owner, &row.text("name")?)?);
        }
        let query = sql("SELECT server FROM credentials WHERE owner = $1 ORDER BY server");
        for row in query.bind(id.as_str()).all(tx).await? {
            let server = key::parse_key(&row.text("server")?)?;
            if !removed.servers.contains(&server) {
                removed.credentials.push(server);
            }
        }
        Ok(removed)
    }
}

/// What is written down about them, but for the audit log: counts, and what happened to them and to what was theirs.
async fn records(tx: &mut Tx, id: &UserId) -> Result<()> {
    sql("DELETE FROM usage WHERE user_id = $1").bind(id.as_str()).run(tx).await?;
    // The text of a key begins with whose it is.
    let query = sql("DELETE FROM events WHERE user_id = $1
         OR substr(server, 1, length($2)) = $2");
    query.bind(id.as_str()).bind(format!("user:{id}/")).run(tx).await?;
    Ok(())
}

fn own(id: &UserId, name: &ServerName) -> ServerKey {
    ServerKey { scope: Scope::User(id.clone()), name: name.clone() }
}
