//! A server deleted.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};

use super::{change, find_own};
use crate::answers::{Conflict, Guarded, Missing, Stale};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Id, expected};
use crate::who::Caller;

/// Deletes a server
///
/// With its credentials and what is known about it; answers when nothing of it runs any more.
#[utoipa::path(
    delete,
    path = "/api/v1/servers/{id}",
    tag = "servers",
    params(
        ("id" = String, Path, description = "The server."),
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
    let found = find_own(&api, &caller, &id)?;
    found.row()?;
    change::remove(&api, &caller, &found.key, expected(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
