//! What connections offer becomes what is on offer. Only carries over; never decides who sees it.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use switchboard_core::Registry;
use switchboard_core::registry::{Freshness, Home, Offer};
use switchboard_mcp::Endpoint;
use switchboard_model::{Event, EventKind, ServerKey, ServerState};
use switchboard_upstream::{Status, Upstreams};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::house_key;

/// Follows the connections until the end, from the moment of the call: before the future is first run.
pub(super) fn follow(
    upstreams: Upstreams,
    registry: Registry,
    endpoint: Endpoint,
    end: CancellationToken,
) -> impl Future<Output = ()> + Send {
    let events = upstreams.changes();
    hear(events, upstreams, registry, endpoint, end)
}

async fn hear(
    mut events: Receiver<Arc<Event>>,
    upstreams: Upstreams,
    registry: Registry,
    endpoint: Endpoint,
    end: CancellationToken,
) {
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = end.cancelled() => return,
        };
        match event {
            Ok(event) => match &event.kind {
                EventKind::StateChanged { .. } | EventKind::CatalogChanged { .. } => {
                    // One that nobody finds has only just begun: what was recalled of it stays.
                    if let Some(status) = upstreams.status_of(&event.server) {
                        carry(&upstreams, &registry, &status);
                        if matches!(status.state, ServerState::Connected { .. }) {
                            endpoint.server_connected(&event.server);
                        }
                    }
                }
                EventKind::Removed => {
                    removed(&upstreams, &registry, &event.server);
                    endpoint.server_removed(&event.server);
                }
                EventKind::ResourceUpdated { uri } => {
                    endpoint.resource_updated(&event.server, uri);
                }
                EventKind::ResourceUntold { uri } => {
                    endpoint.resource_untold(&event.server, uri);
                }
                EventKind::TaskChanged { task } => {
                    endpoint.task_changed(&event.server, task);
                }
                EventKind::TaskProgressed { task, params } => {
                    endpoint.task_progressed(&event.server, task, params);
                }
                EventKind::ServerLog(_)
                | EventKind::ToolStarted { .. }
                | EventKind::ToolCompleted { .. } => {}
            },
            Err(RecvError::Lagged(_)) => {
                sync(&upstreams, &registry);
                catch_up(&upstreams, &endpoint);
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Events were missed, nobody knows which: any server may have gone and come back, as another one, and any
/// resource may have changed. Whoever asks or looks once too often has missed nothing.
fn catch_up(upstreams: &Upstreams, endpoint: &Endpoint) {
    let watched = endpoint.watched();
    let servers: BTreeSet<&ServerKey> = watched.iter().map(|(server, _)| server).collect();
    for server in servers {
        endpoint.server_removed(server);
        if let Some(ServerState::Connected { .. }) =
            upstreams.status_of(server).map(|now| now.state)
        {
            endpoint.server_connected(server);
        }
    }
    for (server, uri) in &watched {
        endpoint.resource_updated(server, uri);
    }
}

/// Carries everything over: at a change of what is declared, and when events were missed.
pub(super) fn sync(upstreams: &Upstreams, registry: &Registry) {
    let running = upstreams.status();
    for status in &running {
        carry(upstreams, registry, status);
    }
    let now = registry.load();
    for (key, _) in now.servers() {
        if *key != house_key() && !running.iter().any(|status| status.key == *key) {
            registry.withdraw(key);
        }
    }
}

/// Unless it was declared again meanwhile.
fn removed(upstreams: &Upstreams, registry: &Registry, key: &ServerKey) {
    match upstreams.status_of(key) {
        Some(status) => carry(upstreams, registry, &status),
        None => registry.withdraw(key),
    }
}

fn carry(upstreams: &Upstreams, registry: &Registry, status: &Status) {
    let key = &status.key;
    let before = registry.load().offer(key).cloned();
    match (offered(&status.state), upstreams.get(key)) {
        (Offered::Nothing, _) => registry.withdraw(key),
        (Offered::Something, Some(connection)) => {
            let catalog = upstreams.catalog(key).unwrap_or_default();
            let peer = connection.peer();
            let offer = Offer {
                tools: catalog.tools.clone(),
                resources: catalog.resources.clone(),
                templates: catalog.templates.clone(),
                prompts: catalog.prompts.clone(),
                capabilities: peer.capabilities.clone(),
                instructions: peer.instructions.as_deref().map(Arc::from),
                spec: Some(status.spec.clone()),
                home: Home::Outside,
                era: Some(peer.era()),
                freshness: Freshness::Live,
                holds: catalog.holds(),
            };
            registry.publish(key, Arc::new(offer));
        }
        // It keeps what it offered: a server that comes back costs its agents nothing.
        (Offered::Something, None) => {
            if let Some(before) = before {
                let (spec, freshness) = (Some(status.spec.clone()), Freshness::Stale);
                let mut offer = Offer { spec, freshness, ..Offer::clone(&before) };
                offer.tools.retain(|tool| status.spec.tools.offers(&tool.name));
                registry.publish(key, Arc::new(offer));
            }
        }
    }
}

enum Offered {
    Something,
    Nothing,
}

/// Whether calls can be hoped for in that state.
fn offered(state: &ServerState) -> Offered {
    match state {
        ServerState::Connected { .. }
        | ServerState::Connecting { .. }
        | ServerState::Failed { .. }
        | ServerState::Disconnected { .. } => Offered::Something,
        ServerState::Disabled
        | ServerState::NeedsSetup { .. }
        | ServerState::NeedsApproval
        | ServerState::NeedsAuth { .. } => Offered::Nothing,
    }
}
