//! What somebody has just written into a file is applied now, rather than when the watch notices.

use std::sync::Arc;

use switchboard_config::watch::Watch;
use switchboard_model::{ServerKey, ServerName};
use switchboard_rest::port::Hub as _;

use super::protocol::{Failure, Said};
use super::{Operations, Say, status, test};
use crate::app::Declarations;

/// What reads the files again, and what makes it so.
#[derive(Clone)]
pub(crate) struct Sources {
    pub(crate) watch: Arc<Watch>,
    pub(crate) declarations: Declarations,
}

/// Applies, and says how the server stands then; nothing of one that is not declared any more.
pub(super) async fn apply(operations: &Operations, server: &str, say: &Say) -> Result<(), Failure> {
    let Some(sources) = &operations.sources else {
        return Err(Failure::new("there is nothing to apply", "start the hub"));
    };
    let began = operations.clock.monotonic();
    let watch = sources.watch.clone();
    // The watch has a thread of its own, which is waited for; that must not stop this one.
    let _ = tokio::task::spawn_blocking(move || watch.reload()).await;
    if let Err(error) = sources.declarations.apply().await {
        return Err(Failure::new(error.to_string(), "the hub tries again by itself"));
    }
    let Ok(name) = ServerName::parse(server) else { return Ok(()) };
    let key = ServerKey::global(name);
    test::settle(operations, &key, began, say).await;
    if let Some(now) = operations.upstreams.status_of(&key) {
        let took = operations.clock.monotonic().saturating_duration_since(began);
        let report = status::report(&now, Some(took));
        let _ = say.send(Said::Server(Box::new(report))).await;
    }
    Ok(())
}
