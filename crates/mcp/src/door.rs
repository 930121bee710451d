//! The doors of the endpoint: whose view stands behind each, and who may pass. To whoever may not,
//! a door does not exist.

use std::sync::Arc;

use switchboard_core::port::{Behind, Who};
use switchboard_core::{Snapshot, Surface, View};
use switchboard_model::{AgentId, ServerKey, ServerName};

use crate::auth::{Principal, Role};

/// Where somebody came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// `/mcp`: what the token's owner sees.
    Own,
    /// `/mcp/agents/{id}`: what that agent sees.
    Agent(AgentId),
    /// `/mcp/servers/{name}`: one server, under its own names.
    Server(ServerName),
}

impl Door {
    /// What is behind the door; `None` if this caller may not know.
    pub(crate) fn view(
        &self,
        now: &Snapshot,
        principal: &Principal,
        surface: &Surface,
    ) -> Option<Arc<View>> {
        let who = &principal.who;
        let is_administrator = principal.role == Role::Administrator;
        match self {
            Self::Own => match (&who.agent, &who.user) {
                (Some(agent), _) => now.agent(agent, surface),
                (None, _) if is_administrator => Some(now.everything(surface)),
                (None, Some(user)) => now.user(user, surface),
                (None, None) => None,
            },
            Self::Agent(agent) if is_administrator || who.agent.as_ref() == Some(agent) => {
                now.agent(agent, surface)
            }
            Self::Agent(_) => None,
            Self::Server(name) => {
                let key = match &who.agent {
                    Some(agent) => now.server_of(agent, name.as_str()).cloned(),
                    None => None,
                };
                let key = key.or_else(|| is_administrator.then(|| any(now, name)).flatten());
                now.server(&key?, &Surface::Bare)
            }
        }
    }

    /// Who calls, as the path of a call has it: an administrator at an agent's door is that agent
    /// as far as rules go, and still somebody else, also to an agent of their own.
    pub(crate) fn who(&self, principal: &Principal) -> Arc<Who> {
        match self {
            Self::Agent(agent) => {
                let user = principal.who.user.clone();
                let behind = match principal.who.agent.as_ref() == Some(agent) {
                    true => Behind::Itself,
                    false => Behind::Administrator,
                };
                Arc::new(Who { behind, ..Who::agent(agent.clone(), user) })
            }
            Self::Own | Self::Server(_) => principal.who.clone(),
        }
    }

    /// How it is written into what is sealed.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Own => String::new(),
            Self::Agent(agent) => format!("agents/{agent}"),
            Self::Server(name) => format!("servers/{name}"),
        }
    }
}

/// The server of that name, everybody's before anyone's.
fn any(now: &Snapshot, name: &ServerName) -> Option<ServerKey> {
    let global = ServerKey::global(name.clone());
    if now.offer(&global).is_some() {
        return Some(global);
    }
    now.servers().map(|(key, _)| key).find(|key| key.name == *name).cloned()
}
