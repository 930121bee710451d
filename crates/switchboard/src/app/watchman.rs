//! Says in the log what happens to servers, a failure that repeats itself only once. Only says;
//! nothing waits for it.

use std::collections::HashMap;

use switchboard_model::{EventKind, LogSource, ServerKey, ServerState};
use switchboard_upstream::Upstreams;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Tells until the hub stops.
pub(super) async fn tell(upstreams: Upstreams, shutdown: CancellationToken) {
    let mut events = upstreams.changes();
    let mut failures = HashMap::new();
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = shutdown.cancelled() => return,
        };
        match event {
            Ok(event) => match &event.kind {
                EventKind::StateChanged { to, .. } => {
                    changed(&upstreams, &event.server, to, &mut failures);
                }
                EventKind::ServerLog(line) if line.source == LogSource::Hub => {
                    tracing::warn!(server = %event.server, "{}", line.text);
                }
                EventKind::ServerLog(line) => {
                    tracing::debug!(server = %event.server, "{}", line.text);
                }
                EventKind::Removed => {
                    failures.remove(&event.server);
                    tracing::info!(server = %event.server, "removed");
                }
                EventKind::CatalogChanged { counts } => {
                    tracing::info!(
                        server = %event.server,
                        "offers {} tools, {} resources, {} prompts",
                        counts.tools, counts.resources, counts.prompts
                    );
                }
                EventKind::ToolStarted { .. }
                | EventKind::ToolCompleted { .. }
                | EventKind::ResourceUpdated { .. }
                | EventKind::ResourceUntold { .. }
                | EventKind::TaskChanged { .. }
                | EventKind::TaskProgressed { .. } => {}
            },
            Err(RecvError::Lagged(missed)) => tracing::debug!("{missed} events were not told"),
            Err(RecvError::Closed) => return,
        }
    }
}

/// What was last said of a server's failure.
type Failures = HashMap<ServerKey, String>;

fn changed(upstreams: &Upstreams, server: &ServerKey, to: &ServerState, said: &mut Failures) {
    match to {
        ServerState::Connected { revision, .. } => {
            said.remove(server);
            let title = upstreams.status_of(server).and_then(|status| status.server);
            tracing::info!(%server, "connected: {}, {revision}", title.unwrap_or_default());
        }
        ServerState::Failed { error, .. } if said.get(server) == Some(&error.message) => {
            tracing::debug!(%server, "{}", to.sentence());
        }
        ServerState::Failed { error, .. } => {
            said.insert(server.clone(), error.message.clone());
            tracing::warn!(%server, "{}; {}; it is tried again", error.message, error.remedy);
        }
        ServerState::NeedsSetup { .. }
        | ServerState::NeedsApproval
        | ServerState::NeedsAuth { .. } => tracing::warn!(%server, "{}", to.sentence()),
        ServerState::Connecting { .. }
        | ServerState::Disabled
        | ServerState::Disconnected { .. } => tracing::debug!(%server, "{}", to.sentence()),
    }
}
