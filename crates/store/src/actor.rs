//! Who does something administrative, for the audit log.

use switchboard_model::{AgentId, CallOrigin, UserId};

/// Who does it, and through which door.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actor {
    /// The person.
    pub user: Option<UserId>,
    /// The agent, if it was one's token.
    pub agent: Option<AgentId>,
    /// The door; none is the hub itself.
    pub origin: Option<CallOrigin>,
    /// The trace it belongs to.
    pub trace: Option<String>,
}

impl Actor {
    /// The hub itself.
    pub fn system() -> Self {
        Self::default()
    }

    /// A person, through a door.
    pub fn user(user: UserId, origin: CallOrigin) -> Self {
        Self { user: Some(user), origin: Some(origin), ..Self::default() }
    }

    /// For columns that say who did something.
    pub(crate) fn name(&self) -> String {
        match (&self.user, &self.agent) {
            (Some(user), _) => user.to_string(),
            (None, Some(agent)) => format!("agent {agent}"),
            (None, None) => "system".to_owned(),
        }
    }
}
