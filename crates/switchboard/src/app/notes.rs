//! What happens to servers goes to the store: how each stands, and the events that the page and others
//! follow. Behind everything else: nothing waits for it, and what cannot be written is said.

use serde_json::{Value, json};
use switchboard_model::{Event, EventKind, Scope, ServerKey, ServerState, UserId, mask};
use switchboard_store::{NewEvent, Result, Store};
use switchboard_upstream::{Status, Upstreams};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Writes until the hub stops.
pub(super) async fn keep(store: Store, upstreams: Upstreams, shutdown: CancellationToken) {
    let mut events = upstreams.changes();
    let mut away = false;
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = shutdown.cancelled() => return,
        };
        let written = match event {
            Ok(event) => one(&store, &upstreams, &event).await,
            // What was missed is not told, but how everything stands is.
            Err(RecvError::Lagged(_)) => all(&store, &upstreams).await,
            Err(RecvError::Closed) => return,
        };
        match &written {
            Err(error) if !away => {
                tracing::warn!(%error, "what happens to servers is not written down");
            }
            _ => {}
        }
        away = written.is_err();
    }
}

async fn one(store: &Store, upstreams: &Upstreams, event: &Event) -> Result<()> {
    let key = &event.server;
    match &event.kind {
        EventKind::StateChanged { to, .. } => {
            if let Some(status) = upstreams.status_of(key) {
                note(store, &status).await?;
            }
            let payload = json!({"state": to.code(), "message": mask::text(&to.sentence())});
            tell(store, key, "server.state", payload).await
        }
        EventKind::CatalogChanged { counts } => {
            if let Some(status) = upstreams.status_of(key) {
                note(store, &status).await?;
            }
            let payload = json!({
                "tools": counts.tools,
                "resources": counts.resources,
                "prompts": counts.prompts,
            });
            tell(store, key, "server.catalog", payload).await
        }
        EventKind::Removed => tell(store, key, "server.removed", json!({})).await,
        EventKind::ServerLog(_)
        | EventKind::ToolStarted { .. }
        | EventKind::ToolCompleted { .. }
        | EventKind::ResourceUpdated { .. } => Ok(()),
    }
}

async fn all(store: &Store, upstreams: &Upstreams) -> Result<()> {
    for status in upstreams.status() {
        note(store, &status).await?;
    }
    Ok(())
}

async fn note(store: &Store, status: &Status) -> Result<()> {
    let error = match &status.state {
        ServerState::Failed { error, .. } => Some(mask::text(&error.message)),
        _ => None,
    };
    let tools = status.state.is_connected().then_some(status.counts.tools);
    let servers = store.servers();
    servers.note_status(&status.key, status.state.code(), tools, error.as_deref()).await
}

async fn tell(store: &Store, key: &ServerKey, kind: &str, payload: Value) -> Result<()> {
    let event = NewEvent {
        kind: kind.to_owned(),
        user: whose(store, key),
        server: Some(key.clone()),
        payload,
    };
    store.events().append(&event).await.map(drop)
}

/// Whom it concerns alone; nobody in particular is everybody.
fn whose(store: &Store, key: &ServerKey) -> Option<UserId> {
    match &key.scope {
        Scope::Global => None,
        Scope::User(user) => Some(user.clone()),
        Scope::Agent(agent) => store.access().agent(agent).map(|agent| agent.owner.clone()),
    }
}
