//! A server's credential forgotten.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;

use super::{change, find_own};
use crate::answers::{Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::Id;
use crate::who::Caller;

/// Forgets a server's credential
///
/// The server is connected anew without it.
#[utoipa::path(
    delete,
    path = "/api/v1/servers/{id}/credential",
    tag = "servers",
    params(("id" = String, Path, description = "The server.")),
    responses((status = 204), Guarded, Missing)
)]
pub(super) async fn remove_credential(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<StatusCode> {
    let found = find_own(&api, &caller, &id)?;
    if !api.store().credentials().remove(&found.key, None, &caller.actor()).await? {
        return Err(Problem::not_found("credential of", &id));
    }
    api.apply().await?;
    change::reconnect(&api, &found).await?;
    Ok(StatusCode::NO_CONTENT)
}
