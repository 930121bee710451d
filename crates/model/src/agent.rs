//! Agents as they are declared: who they are and which servers they may use.

use std::collections::BTreeSet;

use crate::name::ServerName;

/// What is declared about one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSpec {
    /// A disabled agent uses nothing and starts nothing.
    pub enabled: bool,
    /// The servers it names; `None` is an agent that names none and has the defaults.
    pub servers: Option<BTreeSet<ServerName>>,
    /// For people.
    pub description: Option<String>,
}

impl Default for AgentSpec {
    fn default() -> Self {
        Self { enabled: true, servers: None, description: None }
    }
}
