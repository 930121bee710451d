//! Of which servers' calls the values of arguments are written down, and what is hidden in them. Follows what is
//! declared; never writes anything down itself.

use std::collections::HashSet;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use switchboard_core::redact::Redactor;
use switchboard_model::{AuditArguments, Desired, ServerKey};
use switchboard_store::Store;
use switchboard_upstream::Lookup;

use super::{house_key, secrets};

/// What is written down now. Where nothing is, a call pays for one look at it.
pub(super) struct Audited {
    now: ArcSwapOption<Now>,
    store: Store,
    env: Lookup,
}

struct Now {
    servers: HashSet<ServerKey>,
    redactor: Arc<Redactor>,
}

impl Audited {
    /// Nothing, until something is declared.
    pub(super) fn new(store: Store, env: Lookup) -> Self {
        Self { now: ArcSwapOption::empty(), store, env }
    }

    /// What hides the secrets in arguments of calls to this server, if their values are written down.
    pub(super) fn redactor(&self, server: &ServerKey) -> Option<Arc<Redactor>> {
        let now = self.now.load();
        let now = now.as_ref().filter(|now| now.servers.contains(server))?;
        Some(now.redactor.clone())
    }

    /// Takes over what is declared. What is switched off is so at once; what is switched on is so when the hub's
    /// own secrets are known, and not at all where they cannot be read.
    pub(super) async fn follow(&self, desired: &Desired) {
        let servers = servers(desired);
        if servers.is_empty() {
            return self.now.store(None);
        }
        if let Some(before) = self.now.load_full() {
            let both = before.servers.intersection(&servers).cloned().collect();
            self.set(both, before.redactor.clone());
        }
        match secrets::known(desired, &self.store, &self.env).await {
            Ok(known) => self.set(servers, Arc::new(Redactor::new(known))),
            Err(error) => {
                tracing::warn!(%error, "no values of arguments are written down, as the secrets to hide in them cannot be read");
                self.now.store(None);
            }
        }
    }

    fn set(&self, servers: HashSet<ServerKey>, redactor: Arc<Redactor>) {
        self.now.store(Some(Arc::new(Now { servers, redactor })));
    }
}

/// The servers whose calls are written down with their values.
fn servers(desired: &Desired) -> HashSet<ServerKey> {
    let hub = desired.hub.audit_arguments;
    let house = (hub == AuditArguments::Values).then(house_key);
    let declared = desired.servers.iter();
    let declared = declared.filter(|(_, spec)| spec.audits(hub) == AuditArguments::Values);
    declared.map(|(key, _)| key.clone()).chain(house).collect()
}
