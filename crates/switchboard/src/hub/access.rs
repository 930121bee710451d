//! Who calls, by what the store knows of tokens. Answered from memory.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_core::port::Who;
use switchboard_mcp::{Authenticate, Endpoint, Principal, Role};
use switchboard_store::{Access, Store};
use tokio_util::sync::CancellationToken;

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
        self.0.as_ref()?.known_as(bearer, |known| principal(known).map(Arc::new))?
    }

    fn still(&self) -> Box<dyn Fn(&Principal) -> bool + Send + '_> {
        let Some(access) = &self.0 else { return Box::new(|_| true) };
        let good = access.good();
        let good: HashMap<Arc<str>, Principal> = good
            .iter()
            .filter_map(|known| Some((known.token.clone(), principal(known)?)))
            .collect();
        Box::new(move |guest| match (&guest.token, &guest.who.agent) {
            (Some(token), _) => good.get(token).is_some_and(|now| now == guest),
            // This machine's own user, who came without one.
            (None, Some(agent)) => access.agent(agent).is_none_or(|agent| agent.spec.enabled),
            (None, None) => true,
        })
    }
}

/// Who it is towards agents' doors; nobody if the agent is disabled.
fn principal(known: &switchboard_store::Principal) -> Option<Principal> {
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
    Some(Principal { who: who.into(), role, token: Some(known.token.clone()) })
}

/// Ends what was opened by tokens that are not good any more, whenever people, agents or tokens
/// change and when a token expires, until the end.
pub(super) async fn review(store: Store, endpoint: Endpoint, end: CancellationToken) {
    let mut changes = store.access().changes();
    loop {
        // A machine that slept, or whose clock was set, is seen to by the endpoint's own look.
        let expiry = async {
            match store.access().next_expiry() {
                Some(left) => tokio::time::sleep(left).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = expiry => {}
            changed = changes.changed() => if changed.is_err() { return },
            () = end.cancelled() => return,
        }
        endpoint.review();
    }
}
