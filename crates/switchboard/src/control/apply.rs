//! What somebody has just written into a file is applied now, rather than when the watch notices. And who it was is
//! written down: that something changed the hub sees by itself, but not by whom.

use std::sync::Arc;

use serde_json::json;
use switchboard_config::watch::Watch;
use switchboard_model::{CallOrigin, ServerKey, ServerName};
use switchboard_rest::port::Hub as _;
use switchboard_store::{Actor, Entry, Error};

use super::protocol::{Failure, FileEdit, Said};
use super::{Operations, Say, status, test};
use crate::app::Declarations;
use crate::storage;

/// What reads the files again, and what makes it so.
#[derive(Clone)]
pub(crate) struct Sources {
    pub(crate) watch: Arc<Watch>,
    pub(crate) declarations: Declarations,
}

/// Applies, and says how the server stands then; nothing of one that is not declared any more.
pub(super) async fn apply(
    operations: &Operations,
    server: &str,
    edit: &FileEdit,
    say: &Say,
) -> Result<(), Failure> {
    let Some(sources) = &operations.sources else {
        return Err(Failure::new("there is nothing to apply", "start the hub"));
    };
    let began = operations.clock.monotonic();
    let name = ServerName::parse(server).ok();
    let noted = note(operations, name.as_ref(), edit).await;
    let watch = sources.watch.clone();
    // The watch has a thread of its own, which is waited for; that must not stop this one.
    let _ = tokio::task::spawn_blocking(move || watch.reload()).await;
    if let Err(error) = sources.declarations.apply().await.and(noted) {
        return Err(Failure::new(error.to_string(), "the hub tries again by itself"));
    }
    let Some(name) = name else { return Ok(()) };
    let key = ServerKey::global(name);
    test::settle(operations, &key, began, say).await;
    if let Some(now) = operations.upstreams.status_of(&key) {
        let took = operations.clock.monotonic().saturating_duration_since(began);
        let report = status::report(&now, Some(took));
        let _ = say.send(Said::Server(Box::new(report))).await;
    }
    Ok(())
}

/// Whoever can open the hub's socket is its administrator.
async fn note(
    operations: &Operations,
    server: Option<&ServerName>,
    edit: &FileEdit,
) -> Result<(), Error> {
    let Some(store) = &operations.store else { return Ok(()) };
    let by = Actor::user(storage::administrator(store).await?.id, CallOrigin::Cli);
    let mut entry = Entry::act(store.now(), &by, "config.edit");
    entry.server = server.cloned().map(ServerKey::global);
    entry.detail = Some(json!({"command": edit.command, "files": edit.files}));
    store.audit().append(entry).await
}
