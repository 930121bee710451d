//! A server deleted.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use switchboard_store::Error;

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
    let row = found.row()?;
    if expected(&headers)?.is_some_and(|expected| expected != row.revision) {
        return Err(Error::Stale { what: "server", id: found.key.to_string() }.into());
    }
    change::remove(&api, &caller, &found.key).await?;
    Ok(StatusCode::NO_CONTENT)
}
