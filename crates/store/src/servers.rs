//! Servers that the store declares, with the approval of their command lines; and what happened to
//! any server. Secret parts of a declaration lie in the vault.

mod removal;
mod spec;
mod stats;
mod template;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;
use switchboard_model::steering::steers;
use switchboard_model::{ServerKey, ServerSpec, Transport};

use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Row, Tx, made, sql};
use crate::error::{Error, Result};
use crate::key::{columns, from_columns, write_key};
use crate::store::Store;
use crate::topics::Topic;
use crate::{random, sealed};
pub use removal::InFiles;
pub(crate) use removal::forget;
use spec::Parts;
pub use spec::command_hash;
pub use stats::ServerStats;

/// A server that the store declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRow {
    /// Its id, which stays when it is edited.
    pub id: String,
    /// Whose it is and what it is called.
    pub key: ServerKey,
    /// What is declared about it.
    pub spec: Arc<ServerSpec>,
    /// When it was added.
    pub added_at: SystemTime,
    /// When its declaration was last changed.
    pub updated_at: SystemTime,
    /// Counts its changes.
    pub revision: i64,
    /// Who approved this very command line.
    pub approval: Option<CommandApproval>,
}

impl ServerRow {
    /// Whether it may be started: a URL always, a command once it is approved.
    pub fn may_start(&self) -> bool {
        self.approval.is_some() || !matches!(self.spec.transport, Transport::Stdio(_))
    }
}

/// An administrator's word that a command line may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandApproval {
    /// Of the command line.
    pub hash: [u8; 32],
    /// Who said so.
    pub by: String,
    /// When.
    pub at: SystemTime,
}

/// Whether a command line is approved with the change that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approve {
    /// By the administrator who makes the change.
    Now,
    /// By whoever approves it later.
    Later,
}

/// Whether a server may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// It may.
    On,
    /// It may not.
    Off,
}

/// Servers.
#[derive(Clone, Copy, Debug)]
pub struct Servers<'a>(pub(crate) &'a Store);

const COLUMNS: &str = "SELECT id, scope, owner, name, declaration, added_at, updated_at, revision,
     approved_hash, approved_by, approved_at FROM servers";

impl<'a> Servers<'a> {
    /// Adds a server. A command that it runs is not approved yet.
    pub async fn create(self, key: &ServerKey, spec: &ServerSpec, by: &Actor) -> Result<ServerRow> {
        self.create_all(&[(key.clone(), spec)], Approve::Later, by).await?;
        self.existing(key).await
    }

    /// Adds all of these, or none. Their commands are approved with it, or not yet.
    pub async fn create_all(
        self,
        new: &[(ServerKey, &ServerSpec)],
        approve: Approve,
        by: &Actor,
    ) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        for (key, spec) in new {
            let id = self.insert(&mut change.tx, key, spec).await?;
            change.act(by, "server.create", To::Server(key), json!({"target": spec.target()}));
            if approve == Approve::Now && matches!(spec.transport, Transport::Stdio(_)) {
                self.approve_in(&mut change, (key, &id), spec, by).await?;
            }
        }
        change.touch(Topic::Servers);
        change.commit().await
    }

    async fn insert(self, tx: &mut Tx, key: &ServerKey, spec: &ServerSpec) -> Result<String> {
        let (id, parts) = (random::id("srv_")?, Parts::of(spec));
        let (scope, owner) = columns(&key.scope);
        let query = sql("INSERT INTO servers (id, scope, owner, name, transport, command, args,
             env_names, url, declaration, enabled, category, description, added_at, updated_at, revision)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, 1)");
        let query = query.bind(&id).bind(scope).bind(owner).bind(key.name.as_str());
        let query = parts.bind(query, spec).bind(self.0.now());
        query.run(tx).await.map_err(|e| e.or_exists("server", &key.to_string()))?;
        self.seal(tx, &id, &parts).await?;
        // What is known of an earlier one of that name is not about this one.
        let query = sql("DELETE FROM server_stats WHERE server = $1");
        query.bind(write_key(key)).run(tx).await?;
        stats::begin(tx, key, self.0.now()).await?;
        Ok(id)
    }

    /// Declares it anew. With a revision, only if it is still that one. Another command line is not
    /// approved any more.
    pub async fn update(
        self,
        key: &ServerKey,
        spec: &ServerSpec,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<ServerRow> {
        let parts = Parts::of(spec);
        let mut change = Change::begin(self.0).await?;
        let tx = &mut change.tx;
        let id = lock(tx, key, expected).await?;
        let query =
            sql("UPDATE servers SET transport = $2, command = $3, args = $4, env_names = $5,
             url = $6, declaration = $7, enabled = $8, category = $9, description = $10,
             updated_at = $11, revision = revision + 1 WHERE id = $1");
        parts.bind(query.bind(&id), spec).bind(self.0.now()).run(tx).await?;
        let query =
            sql("UPDATE servers SET approved_hash = NULL, approved_by = NULL, approved_at = NULL
             WHERE id = $1 AND approved_hash <> $2");
        query.bind(&id).bind(&command_hash(spec)).run(tx).await?;
        self.seal(tx, &id, &parts).await?;
        change.act(by, "server.update", To::Server(key), json!({"target": spec.target()}));
        change.touch(Topic::Servers);
        change.commit().await?;
        self.existing(key).await
    }

    /// Lets it run.
    pub async fn enable(self, key: &ServerKey, by: &Actor) -> Result<ServerRow> {
        self.switch(key, Power::On, None, by).await
    }

    /// Stops it.
    pub async fn disable(self, key: &ServerKey, by: &Actor) -> Result<ServerRow> {
        self.switch(key, Power::Off, None, by).await
    }

    /// Switches it on or off. With a revision, only if it is still that one.
    pub async fn switch(
        self,
        key: &ServerKey,
        power: Power,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<ServerRow> {
        let (enabled, action) = match power {
            Power::On => (true, "server.enable"),
            Power::Off => (false, "server.disable"),
        };
        let mut change = Change::begin(self.0).await?;
        let id = lock(&mut change.tx, key, expected).await?;
        let mut spec = (*self.row(&mut change.tx, &id).await?.spec).clone();
        spec.enabled = enabled;
        let query = sql("UPDATE servers SET enabled = $2, declaration = $3, updated_at = $4,
             revision = revision + 1 WHERE id = $1");
        let query = query.bind(&id).bind(enabled).bind(Parts::of(&spec).declaration());
        query.bind(self.0.now()).run(&mut change.tx).await?;
        change.act(by, action, To::Server(key), json!({})).touch(Topic::Servers);
        change.commit().await?;
        self.existing(key).await
    }

    /// An administrator saw the command line with this hash and lets it run. If it is another one
    /// by now, nothing is approved.
    pub async fn approve(self, key: &ServerKey, hash: &[u8; 32], by: &Actor) -> Result<ServerRow> {
        let mut change = Change::begin(self.0).await?;
        let id = lock(&mut change.tx, key, None).await?;
        let row = self.row(&mut change.tx, &id).await?;
        if command_hash(&row.spec) != *hash {
            return Err(Error::Stale { what: "server", id: key.to_string() });
        }
        self.approve_in(&mut change, (key, &id), &row.spec, by).await?;
        change.touch(Topic::Servers);
        change.commit().await?;
        self.existing(key).await
    }

    async fn approve_in(
        self,
        change: &mut Change<'_>,
        (key, id): (&ServerKey, &str),
        spec: &ServerSpec,
        by: &Actor,
    ) -> Result<()> {
        if spec.key_variable().is_some_and(steers) {
            return Err(Error::Refused("its key goes where it would say which code runs"));
        }
        let query =
            sql("UPDATE servers SET approved_hash = $2, approved_by = $3, approved_at = $4,
             revision = revision + 1 WHERE id = $1");
        let query = query.bind(id).bind(&command_hash(spec)).bind(by.name()).bind(self.0.now());
        query.run(&mut change.tx).await?;
        change.act(by, "server.approve", To::Server(key), json!({"target": spec.target()}));
        Ok(())
    }

    /// The server of this key.
    pub async fn get(self, key: &ServerKey) -> Result<Option<ServerRow>> {
        let (scope, owner) = columns(&key.scope);
        let mut tx = self.0.db().read().await?;
        let query = made(format!("{COLUMNS} WHERE scope = $1 AND owner = $2 AND name = $3"));
        let row = query.bind(scope).bind(owner).bind(key.name.as_str()).optional(&mut tx).await?;
        match row {
            Some(row) => self.read(&mut tx, &row).await.map(Some),
            None => Ok(None),
        }
    }

    /// The server of this id.
    pub async fn by_id(self, id: &str) -> Result<Option<ServerRow>> {
        let mut tx = self.0.db().read().await?;
        match made(format!("{COLUMNS} WHERE id = $1")).bind(id).optional(&mut tx).await? {
            Some(row) => self.read(&mut tx, &row).await.map(Some),
            None => Ok(None),
        }
    }

    /// Every server that the store declares. A row that cannot be read is left out and said: one bad
    /// row must not take the others with it.
    pub async fn list(self) -> Result<Vec<ServerRow>> {
        let mut tx = self.0.db().read().await?;
        let slot = sealed::server("");
        let mut secrets = match self.0.vault().all(&mut tx, slot.owner, slot.field).await {
            Ok(secrets) => Some(secrets),
            // Which one it is turns out row by row.
            Err(Error::Tampered { .. }) => None,
            Err(error) => return Err(error),
        };
        let rows = made(format!("{COLUMNS} ORDER BY scope, owner, name")).all(&mut tx).await?;
        let mut servers = Vec::with_capacity(rows.len());
        for row in &rows {
            let id = row.text("id")?;
            let server = match &mut secrets {
                Some(secrets) => read(row, secrets.remove(&id).as_ref().map(|all| all.as_slice())),
                None => self.read(&mut tx, row).await,
            };
            match server {
                Ok(server) => servers.push(server),
                Err(error @ (Error::Tampered { .. } | Error::Malformed { .. })) => {
                    let text = "a stored server cannot be read and is left out";
                    tracing::error!(%id, error = &error as &dyn std::error::Error, "{text}");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(servers)
    }

    /// What the store adds to the desired state.
    pub async fn declared(self) -> Result<BTreeMap<ServerKey, Arc<ServerSpec>>> {
        Ok(self.list().await?.into_iter().map(|row| (row.key, row.spec)).collect())
    }

    async fn seal(self, tx: &mut Tx, id: &str, parts: &Parts) -> Result<()> {
        match parts.secrets() {
            Some(secrets) => self.0.vault().put(tx, sealed::server(id), secrets.as_bytes()).await,
            None => self.0.vault().forget(tx, "servers", id).await,
        }
    }

    async fn row(self, tx: &mut Tx, id: &str) -> Result<ServerRow> {
        let row = made(format!("{COLUMNS} WHERE id = $1")).bind(id).one(tx).await?;
        self.read(tx, &row).await
    }

    async fn read(self, tx: &mut Tx, row: &Row) -> Result<ServerRow> {
        let secrets = self.0.vault().get(tx, sealed::server(&row.text("id")?)).await?;
        read(row, secrets.as_ref().map(|bytes| bytes.as_slice()))
    }

    async fn existing(self, key: &ServerKey) -> Result<ServerRow> {
        self.get(key).await?.ok_or_else(|| missing(key))
    }
}

/// Locks the row of a server, and says whether it is still the one that was read.
async fn lock(tx: &mut Tx, key: &ServerKey, expected: Option<i64>) -> Result<String> {
    let (scope, owner) = columns(&key.scope);
    let query = sql("UPDATE servers SET name = name WHERE scope = $1 AND owner = $2 AND name = $3
         RETURNING id, revision");
    let row = query.bind(scope).bind(owner).bind(key.name.as_str()).optional(tx).await?;
    let row = row.ok_or_else(|| missing(key))?;
    let revision = row.int("revision")?;
    if expected.is_some_and(|expected| expected != revision) {
        return Err(Error::Stale { what: "server", id: key.to_string() });
    }
    row.text("id")
}

fn read(row: &Row, secrets: Option<&[u8]>) -> Result<ServerRow> {
    let key = from_columns(&row.text("scope")?, &row.text("owner")?, &row.text("name")?)?;
    let spec = Arc::new(spec::read(&key.name, &row.text("declaration")?, secrets)?);
    let hash = row.get::<Option<Vec<u8>>>("approved_hash")?;
    let approval = match hash {
        // Approved was one command line; whatever else stands here by now is not.
        Some(hash) if hash == command_hash(&spec) => Some(CommandApproval {
            hash: command_hash(&spec),
            by: row.text("approved_by")?,
            at: row.time("approved_at")?,
        }),
        Some(_) | None => None,
    };
    Ok(ServerRow {
        id: row.text("id")?,
        key,
        spec,
        added_at: row.time("added_at")?,
        updated_at: row.time("updated_at")?,
        revision: row.int("revision")?,
        approval,
    })
}

fn missing(key: &ServerKey) -> Error {
    Error::NotFound { what: "server", id: key.to_string() }
}

#[cfg(test)]
mod tests;
