//! Catalogs in the store, so that the hub has an answer before its servers are there. What is
//! recalled is stale until its server says otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use switchboard_core::Registry;
use switchboard_core::registry::{Freshness, Offer};
use switchboard_model::{Event, EventKind, ServerKey, ServerSpec};
use switchboard_store::{Outage, Result, Store};
use switchboard_upstream::{Status, Upstreams};
use switchboard_wire::types::{Capabilities, Entry, Page};
use switchboard_wire::{JsonBuf, Limits, write};
use tokio_util::sync::CancellationToken;

use crate::keeping::{self, AtTheEnd, Keeper};

/// A catalog may be larger than any message.
const LIMITS: Limits = Limits { max_bytes: 128 * 1024 * 1024, ..Limits::DEFAULT };

/// Puts on offer what was on offer when the hub last ran.
pub(super) async fn recall(store: &Store, registry: &Registry) -> Result<()> {
    for (key, cached) in store.tool_cache().all().await? {
        if cached.freshness == switchboard_store::Freshness::Stale {
            tracing::info!(server = %key, "what it offers is known from before it was declared anew");
        }
        if let Some(offer) = read(cached.catalog.into()) {
            registry.publish(&key, Arc::new(offer));
        }
    }
    Ok(())
}

/// Keeps every catalog that changes, until the end; what changed before the end is kept as well.
pub(super) async fn keep(store: Store, upstreams: Upstreams, end: CancellationToken) {
    let outage = Outage::new("what servers offer is not kept for the next start");
    let catalogs = Catalogs { store, upstreams: upstreams.clone(), specs: BTreeMap::new() };
    keeping::follow(catalogs, upstreams, outage, (end, AtTheEnd::Finish)).await;
}

struct Catalogs {
    store: Store,
    upstreams: Upstreams,
    /// How each server was declared when it was last looked at.
    specs: BTreeMap<ServerKey, Arc<ServerSpec>>,
}

impl Keeper for Catalogs {
    async fn one(&mut self, event: &Event) -> Result<()> {
        match &event.kind {
            EventKind::CatalogChanged { .. } => self.renew(&event.server).await,
            EventKind::StateChanged { to, .. } if to.is_connected() => {
                self.renew(&event.server).await
            }
            EventKind::StateChanged { .. } => match self.upstreams.status_of(&event.server) {
                Some(status) => self.doubt(&status).await,
                None => Ok(()),
            },
            EventKind::Removed => {
                self.specs.remove(&event.server);
                self.store.tool_cache().remove(&event.server).await
            }
            _ => Ok(()),
        }
    }

    async fn all(&mut self, running: &[Status], gone: &BTreeSet<ServerKey>) -> Result<()> {
        for key in gone {
            self.store.tool_cache().remove(key).await?;
        }
        for status in running {
            self.doubt(status).await?;
            self.put(&status.key).await?;
        }
        Ok(())
    }
}

impl Catalogs {
    /// What was kept of a server that is declared in another way now may not be so any more.
    async fn doubt(&mut self, status: &Status) -> Result<()> {
        let known = self.specs.get(&status.key);
        if known.is_some_and(|known| !Arc::ptr_eq(known, &status.spec) && **known != *status.spec) {
            self.store.tool_cache().mark_stale(&status.key).await?;
        }
        self.specs.insert(status.key.clone(), status.spec.clone());
        Ok(())
    }

    /// Keeps what a server offers, and how it is declared with that: in another way, it is doubted.
    async fn renew(&mut self, key: &ServerKey) -> Result<()> {
        let status = self.upstreams.status_of(key);
        if let Some(status) = status.filter(|status| status.state.is_connected()) {
            self.doubt(&status).await?;
        }
        self.put(key).await
    }

    async fn put(&self, key: &ServerKey) -> Result<()> {
        let Some(connection) = self.upstreams.get(key) else { return Ok(()) };
        let Some(catalog) = self.upstreams.catalog(key) else { return Ok(()) };
        let peer = connection.peer();
        let written = write::object(|out| {
            out.raws("tools", catalog.tools.iter().map(|one| one.raw()));
            out.raws("resources", catalog.resources.iter().map(|one| one.raw()));
            out.raws("resourceTemplates", catalog.templates.iter().map(|one| one.raw()));
            out.raws("prompts", catalog.prompts.iter().map(|one| one.raw()));
            out.raw("capabilities", peer.capabilities.raw());
            if let Some(instructions) = &peer.instructions {
                out.text("instructions", instructions);
            }
        });
        let bytes = written.as_json().as_bytes();
        self.store.tool_cache().put(key, bytes, peer.revision.as_str()).await
    }
}

/// Nothing if it cannot be read: it is only a cache.
fn read(bytes: Bytes) -> Option<Offer> {
    let all = JsonBuf::parse(bytes, &LIMITS).ok()?;
    let instructions = all.as_json().get("instructions").and_then(|text| text.string());
    Some(Offer {
        tools: entries(&all),
        resources: entries(&all),
        templates: entries(&all),
        prompts: entries(&all),
        capabilities: Capabilities::read(all.as_json().get("capabilities")),
        instructions: instructions.map(|text| text.into_owned().into()),
        freshness: Freshness::Stale,
        // The server may have said so, or offer something else by now.
        holds: Some(Duration::ZERO),
        ..Offer::default()
    })
}

fn entries<T: Entry>(all: &JsonBuf) -> Vec<T> {
    Page::<T>::read(all).map(|page| page.entries).unwrap_or_default()
}
