//! An agent deleted.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};

use super::find;
use crate::answers::{Conflict, Guarded, Missing, Stale};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Id, expected};
use crate::who::Caller;

/// Deletes an agent
///
/// With its tokens and its own servers; answers when nothing of them runs any more.
#[utoipa::path(
    delete,
    path = "/api/v1/agents/{id}",
    tag = "agents",
    params(
        ("id" = String, Path, description = "The agent."),
        ("if-match" = Option<String>, Header, description = "The etag that was read."),
    ),
    responses((status = 204), Conflict, Guarded, Missing, Stale)
)]
pub(super) async fn remove(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    headers: HeaderMap,
) -> Result<StatusCode> {
    let agent = find(&api, &caller, &id)?.stored()?;
    let expected = expected(&headers)?;
    api.store().agents().remove_if(&agent.id, expected, &caller.actor()).await?;
    api.apply().await?;
    Ok(StatusCode::NO_CONTENT)
}
