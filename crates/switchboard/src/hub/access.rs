//! Who calls, by what the store knows of tokens. Answered from memory.

use std::sync::Arc;

use switchboard_core::port::Who;
use switchboard_mcp::{Authenticate, Principal, Role};
use switchboard_store::{Access, Store};

/// Knows the store's tokens; without a store, none.
pub struct Tokens(Option<Access>);

impl Tokens {
    /// The tokens of a store.
    pub fn new(store: Option<&Store>) -> Self {
        Self(store.map(|store| store.access().clone()))
    }
}

impl Authenticate for Tokens {
    fn who(&self, bearer: &str) -> Option<Arc<Principal>> {
        let known = self.0.as_ref()?.who(bearer)?;
        let role = match known.user.role {
            // An agent is never more than itself, whoever owns it.
            switchboard_store::Role::Administrator if known.agent.is_none() => Role::Administrator,
            _ => Role::Member,
        };
        let user = known.user.id.clone();
        let who = match &known.agent {
            Some(agent) if !agent.spec.enabled => return None,
            Some(agent) => Who::agent(agent.id.clone(), Some(user)),
            None => Who::user(user),
        };
        Some(Arc::new(Principal { who, role }))
    }
}
