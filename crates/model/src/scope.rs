//! Who a server belongs to. Its identity is the pair of scope and name.

use std::fmt;

use crate::name::{AgentId, ServerName, UserId};

/// Whose server it is. An agent's view resolves agent over user over global.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Everybody's.
    Global,
    /// One person's.
    User(UserId),
    /// One agent's, over whatever has the same name elsewhere.
    Agent(AgentId),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("global"),
            Self::User(user) => write!(f, "user {user}"),
            Self::Agent(agent) => write!(f, "agent {agent}"),
        }
    }
}

/// The identity of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerKey {
    /// Whose it is.
    pub scope: Scope,
    /// What it is called there.
    pub name: ServerName,
}

impl ServerKey {
    /// The key of everybody's server of this name.
    pub fn global(name: ServerName) -> Self {
        Self { scope: Scope::Global, name }
    }
}

impl fmt::Display for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::Global => self.name.fmt(f),
            Scope::User(_) | Scope::Agent(_) => write!(f, "{} ({})", self.name, self.scope),
        }
    }
}
