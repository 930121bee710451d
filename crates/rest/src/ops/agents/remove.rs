//! An agent deleted.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;

use super::find;
use crate::answers::{Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::Id;
use crate::who::Caller;

/// Deletes an agent
///
/// With its tokens and its own servers; answers when nothing of them runs any more.
#[utoipa::path(
    delete,
    path = "/api/v1/agents/{id}",
    tag = "agents",
    params(("id" = String, Path, description = "The agent.")),
    responses((status = 204), Conflict, Guarded, Missing)
)]
pub(super) async fn remove(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<StatusCode> {
    let agent = find(&api, &caller, &id)?.stored()?;
    api.store().agents().remove(&agent.id, &caller.actor()).await?;
    api.apply().await?;
    Ok(StatusCode::NO_CONTENT)
}
