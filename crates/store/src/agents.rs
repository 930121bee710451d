//! Agents that the store declares: whose they are and which servers they may use.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde_json::json;
use switchboard_model::{AgentId, AgentSpec, ServerKey, ServerName, UserId};

use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Row, Tx, made, sql};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::topics::Topic;
use crate::{servers, users};

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Who it is.
    pub id: AgentId,
    /// Whose it is.
    pub owner: UserId,
    /// What is declared about it.
    pub spec: AgentSpec,
    /// Since when it is known.
    pub created_at: SystemTime,
    /// Counts its changes.
    pub revision: i64,
}

/// Agents.
#[derive(Clone, Copy, Debug)]
pub struct Agents<'a>(pub(crate) &'a Store);

const COLUMNS: &str =
    "SELECT id, owner, description, enabled, names_servers, created_at, revision FROM agents";

impl Agents<'_> {
    /// Adds an agent.
    pub async fn create(
        self,
        id: &AgentId,
        owner: &UserId,
        spec: &AgentSpec,
        by: &Actor,
    ) -> Result<Agent> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("INSERT INTO agents
             (id, owner, description, enabled, names_servers, created_at, revision)
             VALUES ($1, $2, $3, $4, $5, $6, 1)");
        let query = query.bind(id.as_str()).bind(owner.as_str()).bind(spec.description.clone());
        let query = query.bind(spec.enabled).bind(spec.servers.is_some()).bind(self.0.now());
        query.run(&mut change.tx).await.map_err(|e| e.or_exists("agent", id.as_str()))?;
        assign(&mut change.tx, id, spec.servers.as_ref()).await?;
        change.act(by, "agent.create", To::Agent(id), json!({"owner": owner.as_str()}));
        change.touch(Topic::People);
        change.commit().await?;
        self.existing(id).await
    }

    /// The row that the tokens of an agent need which a file declares. By itself it is switched off and
    /// has nothing: when the file drops the agent, nothing is left of it.
    pub async fn stand_in(self, id: &AgentId, owner: &UserId, by: &Actor) -> Result<Agent> {
        match self.create(id, owner, &nothing(), by).await {
            Err(Error::Exists { .. }) => self.existing(id).await,
            made => made,
        }
    }

    /// Makes a stand-in of every row that counts for an agent of a file and says nothing of its own, but
    /// for one that has the defaults by right. Earlier versions made such rows, which would have the
    /// default servers once the file drops the agent.
    pub async fn close_stand_ins(self, except: &AgentId) -> Result<()> {
        let (open, by, nothing) = (self.0.access().open_stand_ins(), Actor::system(), nothing());
        for row in open.into_iter().filter(|row| row.id != *except) {
            match self.update(&row.id, &nothing, Some(row.revision), &by).await {
                Ok(_) => tracing::info!(agent = %row.id, "only its file says what it may use"),
                // Changed or gone meanwhile: whoever did it has made another snapshot of it.
                Err(Error::Stale { .. } | Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Declares it anew. With a revision, only if it is still that one.
    pub async fn update(
        self,
        id: &AgentId,
        spec: &AgentSpec,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<Agent> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("UPDATE agents SET description = $2, enabled = $3, names_servers = $4,
             revision = revision + 1 WHERE id = $1 RETURNING revision");
        let query = query.bind(id.as_str()).bind(spec.description.clone());
        let query = query.bind(spec.enabled).bind(spec.servers.is_some());
        let row = query.optional(&mut change.tx).await?.ok_or_else(|| missing(id))?;
        if expected.is_some_and(|expected| row.int("revision").is_ok_and(|is| is != expected + 1)) {
            return Err(Error::Stale { what: "agent", id: id.to_string() });
        }
        assign(&mut change.tx, id, spec.servers.as_ref()).await?;
        change.act(by, "agent.update", To::Agent(id), json!({"enabled": spec.enabled}));
        change.touch(Topic::People);
        change.commit().await?;
        self.existing(id).await
    }

    /// The agent of this id.
    pub async fn get(self, id: &AgentId) -> Result<Option<Agent>> {
        let mut tx = self.0.db().read().await?;
        let query = made(format!("{COLUMNS} WHERE id = $1")).bind(id.as_str());
        let Some(row) = query.optional(&mut tx).await? else { return Ok(None) };
        let query = sql("SELECT server FROM agent_servers WHERE agent_id = $1");
        let rows = query.bind(id.as_str()).all(&mut tx).await?;
        let servers = rows.iter().map(|row| name(&row.text("server")?)).collect::<Result<_>>()?;
        read(&row, servers).map(Some)
    }

    /// Every agent.
    pub async fn list(self) -> Result<Vec<Agent>> {
        all(&mut self.0.db().read().await?).await
    }

    /// Deletes it with its tokens and its own servers, which must stop.
    pub async fn remove(self, id: &AgentId, by: &Actor) -> Result<Vec<ServerKey>> {
        self.remove_if(id, None, by).await
    }

    /// The same; with a revision, only if it is still that one.
    pub async fn remove_if(
        self,
        id: &AgentId,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<Vec<ServerKey>> {
        let mut change = Change::begin(self.0).await?;
        let tx = &mut change.tx;
        // Locks the row, so that what was compared is what is deleted.
        let query = sql("UPDATE agents SET owner = owner WHERE id = $1 RETURNING revision");
        let row = query.bind(id.as_str()).optional(tx).await?.ok_or_else(|| missing(id))?;
        let revision = row.int("revision")?;
        if expected.is_some_and(|expected| expected != revision) {
            return Err(Error::Stale { what: "agent", id: id.to_string() });
        }
        let query =
            sql("SELECT name FROM servers WHERE scope = 'agent' AND owner = $1 ORDER BY name");
        let mut stopped = Vec::new();
        for row in query.bind(id.as_str()).all(tx).await? {
            let key = crate::key::from_columns("agent", id.as_str(), &row.text("name")?)?;
            servers::forget(tx, self.0.vault(), &key).await?;
            stopped.push(key);
        }
        if sql("DELETE FROM agents WHERE id = $1").bind(id.as_str()).run(tx).await? == 0 {
            return Err(missing(id));
        }
        change.act(by, "agent.remove", To::Agent(id), json!({"servers": stopped.len()}));
        change.touch(Topic::People).touch(Topic::Servers);
        change.commit().await?;
        Ok(stopped)
    }

    async fn existing(self, id: &AgentId) -> Result<Agent> {
        self.get(id).await?.ok_or_else(|| missing(id))
    }
}

/// Every agent, as one state sees them.
pub(crate) async fn all(tx: &mut Tx) -> Result<Vec<Agent>> {
    let mut servers: BTreeMap<String, BTreeSet<ServerName>> = BTreeMap::new();
    for row in sql("SELECT agent_id, server FROM agent_servers").all(tx).await? {
        servers.entry(row.text("agent_id")?).or_default().insert(name(&row.text("server")?)?);
    }
    let rows = made(format!("{COLUMNS} ORDER BY id")).all(tx).await?;
    let agent = |row: &Row| read(row, servers.remove(&row.text("id")?).unwrap_or_default());
    rows.iter().map(agent).collect()
}

/// The id in a column.
pub(crate) fn id(text: &str) -> Result<AgentId> {
    AgentId::parse(text).map_err(|e| Error::malformed("agent id", e))
}

async fn assign(tx: &mut Tx, id: &AgentId, servers: Option<&BTreeSet<ServerName>>) -> Result<()> {
    sql("DELETE FROM agent_servers WHERE agent_id = $1").bind(id.as_str()).run(tx).await?;
    for server in servers.into_iter().flatten() {
        let query = sql("INSERT INTO agent_servers (agent_id, server) VALUES ($1, $2)");
        query.bind(id.as_str()).bind(server.as_str()).run(tx).await?;
    }
    Ok(())
}

fn read(row: &Row, servers: BTreeSet<ServerName>) -> Result<Agent> {
    Ok(Agent {
        id: id(&row.text("id")?)?,
        owner: users::id(&row.text("owner")?)?,
        spec: AgentSpec {
            enabled: row.flag("enabled")?,
            servers: row.flag("names_servers")?.then_some(servers),
            description: row.get("description")?,
        },
        created_at: row.time("created_at")?,
        revision: row.int("revision")?,
    })
}

/// What an agent is that only has tokens.
fn nothing() -> AgentSpec {
    AgentSpec { enabled: false, servers: Some(BTreeSet::new()), description: None }
}

fn name(text: &str) -> Result<ServerName> {
    ServerName::parse(text).map_err(|e| Error::malformed("server name", e))
}

fn missing(id: &AgentId) -> Error {
    Error::NotFound { what: "agent", id: id.to_string() }
}
