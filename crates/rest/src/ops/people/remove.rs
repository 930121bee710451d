//! A person deleted, with what is theirs.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;

use super::find;
use crate::answers::{Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::Id;
use crate::who::Caller;

/// Deletes a person
///
/// With their servers, credentials, agents, tokens, sessions, counts and events; answers when nothing of theirs
/// runs any more. The audit log stays as it is, and so does the last administrator.
#[utoipa::path(
    delete,
    path = "/api/v1/users/{id}",
    tag = "people",
    params(("id" = String, Path, description = "The person.")),
    responses((status = 204), Conflict, Guarded, Missing)
)]
pub(super) async fn remove(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<StatusCode> {
    let user = find(&api, &caller, &id)?;
    api.store().users().remove(&user.id, &caller.actor()).await?;
    // What was connected with a credential of theirs was theirs alone, and ends with the rest.
    api.apply().await?;
    Ok(StatusCode::NO_CONTENT)
}
