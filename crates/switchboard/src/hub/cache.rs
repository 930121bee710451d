//! Catalogs in the store, so that the hub has an answer before its servers are there. What is
//! recalled is stale until its server says otherwise.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use switchboard_core::Registry;
use switchboard_core::registry::{Freshness, Offer};
use switchboard_model::{EventKind, ServerKey};
use switchboard_store::{Result, Store};
use switchboard_upstream::Upstreams;
use switchboard_wire::types::{Capabilities, Entry, Page};
use switchboard_wire::{JsonBuf, Limits, write};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// A catalog may be larger than any message.
const LIMITS: Limits = Limits { max_bytes: 128 * 1024 * 1024, ..Limits::DEFAULT };
/// A store that does not answer is tried again after this.
const AGAIN: Duration = Duration::from_secs(5);

/// Puts on offer what was on offer when the hub last ran.
pub(super) async fn recall(store: &Store, registry: &Registry) -> Result<()> {
    for (key, cached) in store.tool_cache().all().await? {
        if let Some(offer) = read(cached.catalog.into()) {
            registry.publish(&key, Arc::new(offer));
        }
    }
    Ok(())
}

/// Keeps every catalog that changes, until the end; what changed before the end is kept as well.
pub(super) async fn keep(store: Store, upstreams: Upstreams, end: CancellationToken) {
    let mut events = upstreams.changes();
    loop {
        let event = tokio::select! {
            biased;
            event = events.recv() => event,
            () = end.cancelled() => return,
        };
        let kept = match event {
            Ok(event) => match event.kind {
                EventKind::CatalogChanged { .. } => put(&store, &upstreams, &event.server).await,
                EventKind::StateChanged { to, .. } if to.is_connected() => {
                    put(&store, &upstreams, &event.server).await
                }
                EventKind::Removed => store.tool_cache().remove(&event.server).await,
                _ => Ok(()),
            },
            Err(RecvError::Lagged(_)) => all(&store, &upstreams).await,
            Err(RecvError::Closed) => return,
        };
        if let Err(error) = kept {
            tracing::warn!(%error, "what servers offer is not kept for the next start");
            tokio::select! {
                () = tokio::time::sleep(AGAIN) => {}
                () = end.cancelled() => return,
            }
        }
    }
}

async fn all(store: &Store, upstreams: &Upstreams) -> Result<()> {
    for status in upstreams.status() {
        put(store, upstreams, &status.key).await?;
    }
    Ok(())
}

async fn put(store: &Store, upstreams: &Upstreams, key: &ServerKey) -> Result<()> {
    let Some(connection) = upstreams.get(key) else { return Ok(()) };
    let Some(catalog) = upstreams.catalog(key) else { return Ok(()) };
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
    store.tool_cache().put(key, bytes, peer.revision.as_str()).await
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
        ..Offer::default()
    })
}

fn entries<T: Entry>(all: &JsonBuf) -> Vec<T> {
    Page::<T>::read(all).map(|page| page.entries).unwrap_or_default()
}
