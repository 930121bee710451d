//! Which command lines may be started: those of the operator's own files, and of the store's those
//! that an administrator approved as they stand. And the credentials that the store has for servers.

use std::collections::HashSet;

use arc_swap::ArcSwap;
use switchboard_core::port::BoxFuture;
use switchboard_model::server::KeyPlace;
use switchboard_model::{Auth, Secret, ServerKey, ServerSpec};
use switchboard_rest::port::{Declared, Source};
use switchboard_store::{Store, command_hash};
use switchboard_upstream::Gate;

/// What may be started now. What is not in it may not.
pub(super) struct Approved {
    store: Store,
    lines: ArcSwap<HashSet<(ServerKey, [u8; 32])>>,
}

impl Approved {
    pub(super) fn new(store: Store) -> Self {
        Self { store, lines: ArcSwap::default() }
    }

    /// Takes over what is declared, before any of it is started.
    pub(super) fn take(&self, declared: &Declared) {
        let may_start = declared.sources.iter().filter_map(|(key, source)| {
            let spec = declared.desired.servers.get(key)?;
            let may = match source {
                Source::File { .. } => true,
                Source::Store(row) => row.may_start(),
            };
            may.then(|| (key.clone(), command_hash(spec)))
        });
        self.lines.store(std::sync::Arc::new(may_start.collect()));
    }
}

impl Gate for Approved {
    fn is_approved(&self, server: &ServerKey, spec: &ServerSpec) -> bool {
        self.lines.load().contains(&(server.clone(), command_hash(spec)))
    }

    fn headers<'a>(
        &'a self,
        server: &'a ServerKey,
        spec: &'a ServerSpec,
    ) -> BoxFuture<'a, Vec<(String, Secret)>> {
        Box::pin(async move {
            let name = match &spec.auth {
                Auth::Bearer { token: None } => "authorization",
                Auth::ApiKey { place: KeyPlace::Header(name), key: None } => name,
                _ => return Vec::new(),
            };
            // The server's own; whose server it is says already who it is for.
            let value = match self.store.credentials().get(server, None).await {
                Ok(found) => found.map(|(_, value)| value),
                Err(error) => {
                    tracing::warn!(%server, %error, "its credential cannot be read");
                    None
                }
            };
            let value = value.map(|value| match spec.auth {
                Auth::Bearer { .. } => Secret::new(format!("Bearer {}", value.expose())),
                _ => value,
            });
            value.map(|value| (name.to_owned(), value)).into_iter().collect()
        })
    }
}
