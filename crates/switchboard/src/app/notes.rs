//! What happens to servers goes to the store: how each stands, and the events that the page and others
//! follow. Behind everything else: nothing waits for it, and what cannot be written is said.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchboard_model::{Event, EventKind, Scope, ServerKey, ServerState, UserId, mask};
use switchboard_store::{NewEvent, Outage, Result, Store};
use switchboard_upstream::{Status, Upstreams};
use tokio_util::sync::CancellationToken;

use crate::keeping::{self, AtTheEnd, Keeper};

/// Writes until the hub stops.
pub(super) async fn keep(store: Store, upstreams: Upstreams, shutdown: CancellationToken) {
    let outage = Outage::new("what happens to servers is not written down");
    let notes = Notes { store, upstreams: upstreams.clone() };
    keeping::follow(notes, upstreams, outage, (shutdown, AtTheEnd::Leave)).await;
}

struct Notes {
    store: Store,
    upstreams: Upstreams,
}

impl Keeper for Notes {
    async fn one(&mut self, event: &Event) -> Result<()> {
        let (store, key) = (&self.store, &event.server);
        match &event.kind {
            EventKind::StateChanged { to, .. } => {
                if let Some(status) = self.upstreams.status_of(key) {
                    note(store, &status).await?;
                }
                tell(store, key, "server.state", state(to)).await
            }
            EventKind::CatalogChanged { counts } => {
                if let Some(status) = self.upstreams.status_of(key) {
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
            | EventKind::ResourceUpdated { .. }
            | EventKind::ResourceUntold { .. }
            | EventKind::TaskChanged { .. }
            | EventKind::TaskProgressed { .. } => Ok(()),
        }
    }

    /// What was missed is not told, but how everything stands is.
    async fn all(&mut self, running: &[Status], gone: &BTreeSet<ServerKey>) -> Result<()> {
        for status in running {
            note(&self.store, status).await?;
            tell(&self.store, &status.key, "server.state", state(&status.state)).await?;
        }
        for key in gone {
            tell(&self.store, key, "server.removed", json!({})).await?;
        }
        Ok(())
    }
}

fn state(state: &ServerState) -> Value {
    json!({"state": state.code(), "message": mask::text(&state.sentence())})
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
