//! Which command lines may be started: those of the operator's own files, and of the store's those
//! that an administrator approved as they stand. And who looks a connection's credential up.

use std::collections::{HashMap, HashSet};

use arc_swap::ArcSwap;
use switchboard_core::port::BoxFuture;
use switchboard_model::{Scope, Secret, ServerKey, ServerSpec};
use switchboard_rest::port::{Declared, Source};
use switchboard_store::{Credential, CredentialKind, Error, Store, command_hash};
use switchboard_upstream::{Gate, Held};

use super::credentials;

/// What may be started now. What is not in it may not.
pub(super) struct Approved {
    store: Store,
    now: ArcSwap<Known>,
}

#[derive(Default)]
struct Known {
    lines: HashSet<(ServerKey, [u8; 32])>,
    /// Connections of somebody's own to what everybody has: to which server.
    shared: HashMap<ServerKey, ServerKey>,
}

impl Approved {
    pub(super) fn new(store: Store) -> Self {
        Self { store, now: ArcSwap::default() }
    }

    /// Takes over what is declared, before any of it is started.
    pub(super) fn take(&self, declared: &Declared) {
        let lines = declared.sources.iter().filter_map(|(key, source)| {
            let spec = declared.desired.servers.get(key)?;
            may_start(source).then(|| (key.clone(), command_hash(spec)))
        });
        let shared = declared.sources.iter().filter_map(|(key, source)| match source {
            Source::Credential { shared, .. } => Some((key.clone(), shared.clone())),
            Source::File { .. } | Source::Store(_) => None,
        });
        let now = Known { lines: lines.collect(), shared: shared.collect() };
        self.now.store(std::sync::Arc::new(now));
    }

    async fn stored(&self, server: &ServerKey) -> Result<Option<(Credential, Secret)>, Error> {
        let shared = self.now.load().shared.get(server).cloned();
        match (shared, &server.scope) {
            (Some(shared), Scope::User(user)) => {
                self.store.credentials().get(&shared, Some(user)).await
            }
            // The server's own; whose server it is says already who it is for.
            _ => self.store.credentials().get(server, None).await,
        }
    }
}

/// A credential changes no command line: whoever has one may start what everybody may.
fn may_start(source: &Source) -> bool {
    match source {
        Source::File { .. } => true,
        Source::Store(row) => row.may_start(),
        Source::Credential { of, .. } => may_start(of),
    }
}

impl Gate for Approved {
    fn is_approved(&self, server: &ServerKey, spec: &ServerSpec) -> bool {
        self.now.load().lines.contains(&(server.clone(), command_hash(spec)))
    }

    fn credential<'a>(
        &'a self,
        server: &'a ServerKey,
        spec: &'a ServerSpec,
    ) -> BoxFuture<'a, Held> {
        Box::pin(async move {
            if CredentialKind::wanted(&spec.auth).is_none() {
                return Held::Nothing;
            }
            match self.stored(server).await {
                Ok(found) => credentials::held(spec, found, self.store.now()),
                Err(error) => {
                    tracing::warn!(%server, %error, "its credential cannot be read");
                    Held::Away(error.to_string())
                }
            }
        })
    }
}
