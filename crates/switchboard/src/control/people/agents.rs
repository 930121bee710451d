//! Which agents there are, by what the files and the store declare together, and which ones a command may
//! make, remove, or make tokens for. What a file declares is changed in the file alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use switchboard_model::{AgentId, AgentSpec, Scope, ServerKey, ServerName, UserId};
use switchboard_rest::port::{Declared, Hub as _, contested};
use switchboard_store::{Actor, Agent, Store};

use super::super::Operations;
use super::super::protocol::{AgentReport, Failure};
use super::failed;
use crate::hub::local_agent;

/// Near enough to be meant.
const NEAR: f64 = 0.8;

/// Every agent, the files' and the store's.
pub(super) fn all(operations: &Operations, store: &Store) -> Vec<AgentReport> {
    let declared = operations.declared().unwrap_or_default();
    let rows = store.access().agents();
    let stored = rows.iter().filter(|row| !declared.agents.contains_key(&row.id));
    let files = declared.agents.iter().filter_map(|(id, place)| {
        let report = report(id, declared.desired.agents.get(id)?);
        Some(AgentReport { file: Some(place.to_string()), ..report })
    });
    let mut all: Vec<AgentReport> = stored.map(|row| shown(row)).chain(files).collect();
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all
}

/// An agent of the store.
pub(super) fn shown(agent: &Agent) -> AgentReport {
    AgentReport { owner: Some(agent.owner.to_string()), ..report(&agent.id, &agent.spec) }
}

/// Whether an agent of this id may be added: not if a file declares it.
pub(super) async fn free(operations: &Operations, id: &AgentId) -> Result<(), Failure> {
    match fresh(operations).await.agents.get(id) {
        Some(place) => Err(Failure::new(
            format!("the agent `{id}` is declared in {place}"),
            format!(
                "change it there; `switchboard token create --agent {id}` makes a token for it"
            ),
        )),
        None => Ok(()),
    }
}

/// Whether an agent may be removed: what a file declares goes with the file's word, and only what
/// somebody else has under its id is removed here.
pub(super) fn removable(
    operations: &Operations,
    store: &Store,
    id: &AgentId,
) -> Result<(), Failure> {
    let declared = operations.declared().unwrap_or_default();
    let contested = store.access().contested().iter().any(|row| row.id == *id);
    match declared.agents.get(id).filter(|_| !contested) {
        Some(place) => Err(Failure::new(
            format!("the agent `{id}` is declared in {place}"),
            "remove it there; `switchboard token revoke` makes a token worthless",
        )),
        None => Ok(()),
    }
}

/// The servers of these names, if there are any that the agent could use.
pub(super) fn servers(
    operations: &Operations,
    id: &AgentId,
    owner: &UserId,
    names: &[String],
) -> Result<BTreeSet<ServerName>, Failure> {
    let declared = operations.declared().unwrap_or_default();
    let reaches = |scope: &Scope| match scope {
        Scope::Global => true,
        Scope::User(user) => user == owner,
        Scope::Agent(agent) => agent == id,
    };
    let keys = declared.desired.servers.keys().filter(|key| reaches(&key.scope));
    let known: BTreeSet<&ServerName> = keys.map(|key| &key.name).collect();
    let find = |name: &String| match ServerName::parse(name) {
        Ok(parsed) if known.contains(&parsed) => Ok(parsed),
        _ => {
            let near = nearest(name, known.iter().map(|name| name.as_str()));
            let near = near.map(|near| format!("did you mean `{near}`? "));
            let remedy = "`switchboard list` shows what is declared";
            let remedy = format!("{}{remedy}", near.unwrap_or_default());
            Err(Failure::new(format!("there is no server `{name}`"), remedy))
        }
    };
    names.iter().map(find).collect()
}

/// Takes a server that was removed from a file out of the lists of the store's agents, unless the name still means one
/// to them; those that named it. Not done when somebody edits a file: what vanishes from it may come back.
pub(super) async fn unassign(
    operations: &Operations,
    store: &Store,
    server: &str,
    by: &Actor,
) -> Result<Vec<Arc<Agent>>, Failure> {
    let Ok(name) = ServerName::parse(server) else { return Ok(Vec::new()) };
    let declared = fresh(operations).await;
    // It may have been removed from one of several files.
    if declared.desired.servers.contains_key(&ServerKey::global(name.clone())) {
        return Ok(Vec::new());
    }
    let ids = store.servers().unassign(&name, by).await.map_err(failed)?;
    Ok(ids.iter().filter_map(|id| store.access().agent(id)).collect())
}

/// Makes sure that an agent can have a token. One that nobody has declared is not made up: a word that was
/// mistyped would be an agent with everything that agents have by default.
pub(super) async fn known(
    operations: &Operations,
    store: &Store,
    id: &AgentId,
    owner: &UserId,
    by: &Actor,
) -> Result<(), Failure> {
    let mut declared = operations.declared().unwrap_or_default();
    let row = store.agents().get(id).await.map_err(failed)?;
    if row.is_none() && !declared.agents.contains_key(id) {
        declared = fresh(operations).await;
    }
    if let Some(place) = declared.agents.get(id) {
        let rows = store.access().contested();
        if let Some(row) = rows.iter().find(|row| row.id == *id) {
            let remedy = format!("remove that one first: `switchboard agent remove {id}`");
            return Err(Failure::new(contested(row, place), remedy));
        }
        return store.agents().stand_in(id, owner, by).await.map(drop).map_err(failed);
    }
    match row {
        Some(_) => Ok(()),
        None if *id == local_agent() => {
            let made = store.agents().create(id, owner, &AgentSpec::default(), by).await;
            made.map(drop).map_err(failed)
        }
        None => Err(nobody(&declared, store, id)),
    }
}

fn nobody(declared: &Declared, store: &Store, id: &AgentId) -> Failure {
    let rows = store.access().agents();
    let all = declared.agents.keys().chain(rows.iter().map(|row| &row.id));
    let near = nearest(id.as_str(), all.map(AgentId::as_str));
    let near = near.map(|near| format!("did you mean `{near}`? "));
    let remedy = format!(
        "{}declare it in a file, or add it with `switchboard agent add {id}`",
        near.unwrap_or_default()
    );
    Failure::new(format!("there is no agent `{id}`"), remedy)
}

/// What is declared, with what was saved in a file a moment ago.
async fn fresh(operations: &Operations) -> Arc<Declared> {
    if let Some(sources) = &operations.sources {
        let watch = sources.watch.clone();
        // The watch has a thread of its own, which is waited for; that must not stop this one.
        let _ = tokio::task::spawn_blocking(move || watch.reload()).await;
        if let Err(error) = sources.declarations.apply().await {
            tracing::warn!(%error, "the store does not answer; what was declared last counts");
        }
    }
    operations.declared().unwrap_or_default()
}

fn nearest<'n>(word: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let like = |name: &&str| strsim::jaro_winkler(name, word);
    known.max_by(|a, b| like(a).total_cmp(&like(b))).filter(|near| like(near) > NEAR)
}

fn report(id: &AgentId, spec: &AgentSpec) -> AgentReport {
    let names = |names: &BTreeSet<ServerName>| names.iter().map(ToString::to_string).collect();
    AgentReport {
        id: id.to_string(),
        owner: None,
        file: None,
        enabled: spec.enabled,
        servers: spec.servers.as_ref().map(names),
        description: spec.description.clone(),
    }
}
