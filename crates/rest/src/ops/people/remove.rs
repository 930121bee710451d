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
/// With their servers, credentials, agents, tokens and sessions; answers when nothing of theirs runs
/// any more. The last administrator stays.
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
    let removed = api.store().users().remove(&user.id, &caller.actor()).await?;
    api.apply().await?;
    for server in &removed.credentials {
        // Whatever was connected with their credential is connected anew without it.
        api.upstreams().reconnect(server).await;
    }
    Ok(StatusCode::NO_CONTENT)
}
