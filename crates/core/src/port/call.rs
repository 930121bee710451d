//! A call as the ports see it: who wants what of whom. Borrowed, and never changed.

use std::sync::Arc;

use switchboard_model::{AgentId, CallOrigin, ServerKey, UserId};
use switchboard_wire::Json;
use switchboard_wire::types::ToolEntry;

use crate::registry::Offer;

/// Bytes that a name, a URI or an id may have by which a caller says what is meant: it is recorded, and
/// subscriptions keep it.
pub const LONGEST_NAME: usize = 8 * 1024;
/// Bytes of a caller's trace: more than any version of `traceparent` has. A longer one is none.
pub const LONGEST_TRACE: usize = 128;

/// Who calls. What is kept for one caller is never shown to another that differs in agent, user or who
/// stands behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Who {
    /// The agent, if it is one.
    pub agent: Option<AgentId>,
    /// The person: the agent's owner, or whoever calls by page or command line.
    pub user: Option<UserId>,
    /// The session, for answers that hold as long as it does.
    pub session: Option<Arc<str>>,
    /// Who stands behind the agent.
    pub behind: Behind,
}

/// Who stands behind an agent: its owner may be an administrator, who is somebody else also at the
/// agent's own door.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Behind {
    /// Nobody but itself.
    #[default]
    Itself,
    /// An administrator who came in by its door.
    Administrator,
}

impl Who {
    /// An agent, and who owns it.
    pub fn agent(agent: AgentId, user: Option<UserId>) -> Self {
        Self { agent: Some(agent), user, ..Self::default() }
    }

    /// A person.
    pub fn user(user: UserId) -> Self {
        Self { user: Some(user), ..Self::default() }
    }

    /// Whether nobody stands behind it.
    pub fn is_itself(&self) -> bool {
        self.behind == Behind::Itself
    }

    /// Whether both are one caller, in whichever sessions.
    pub fn is_same_caller(&self, other: &Self) -> bool {
        self.agent == other.agent && self.user == other.user && self.behind == other.behind
    }
}

/// A call that found its server.
#[derive(Clone, Copy)]
pub struct Call<'c> {
    /// Who calls.
    pub who: &'c Who,
    /// Through which door.
    pub origin: CallOrigin,
    /// What is called.
    pub server: &'c ServerKey,
    /// What that server offers.
    pub offer: &'c Offer,
    /// The method of the protocol.
    pub method: &'c str,
    /// The server's own name of the tool or prompt, or the URI, or the task's id.
    pub subject: &'c str,
    /// What the caller called it by.
    pub published: &'c str,
    /// The tool's definition, if it is a tool's call.
    pub tool: Option<&'c ToolEntry>,
    /// The params as they go to the server.
    pub params: Json<'c>,
    /// The arguments of a tool or prompt, as they came.
    pub arguments: Option<Json<'c>>,
    /// The caller's trace, if it has one (`traceparent`).
    pub trace: Option<&'c str>,
}
