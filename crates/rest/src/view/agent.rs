//! An agent as the API shows it.

use std::collections::BTreeSet;

use serde::Serialize;
use switchboard_model::{AgentId, AgentSpec, ServerName};
use switchboard_store::Agent;
use utoipa::ToSchema;

use super::time::time;

/// An agent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentView {
    /// Who it is.
    pub(crate) id: String,
    /// Whose it is; nobody's, if a file declares it.
    pub(crate) owner: Option<String>,
    /// `store` or `file`. What a file declares is changed in the file.
    pub(crate) source: String,
    /// A disabled agent uses nothing.
    pub(crate) enabled: bool,
    /// For people.
    pub(crate) description: Option<String>,
    /// The servers it names; none is an agent that has the defaults.
    pub(crate) servers: Option<Vec<String>>,
    /// Since when it is known.
    pub(crate) created_at: Option<String>,
    /// Counts its changes; the etag is made of it.
    pub(crate) revision: Option<i64>,
    /// What is wrong: that somebody has an agent of the same id in the store, which does not count.
    pub(crate) problem: Option<String>,
}

impl From<&Agent> for AgentView {
    fn from(agent: &Agent) -> Self {
        Self {
            owner: Some(agent.owner.to_string()),
            source: "store".to_owned(),
            created_at: Some(time(agent.created_at)),
            revision: Some(agent.revision),
            ..declared(&agent.id, &agent.spec)
        }
    }
}

/// An agent of a file.
pub(crate) fn declared(id: &AgentId, spec: &AgentSpec) -> AgentView {
    let names = |servers: &BTreeSet<ServerName>| servers.iter().map(ToString::to_string).collect();
    AgentView {
        id: id.to_string(),
        owner: None,
        source: "file".to_owned(),
        enabled: spec.enabled,
        description: spec.description.clone(),
        servers: spec.servers.as_ref().map(names),
        created_at: None,
        revision: None,
        problem: None,
    }
}
