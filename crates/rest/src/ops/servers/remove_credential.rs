//! A server's credential forgotten.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{change, credential};
use crate::answers::{BadQuery, Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Asked, Id};
use crate::who::Caller;

/// Whose credential.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Whose {
    /// `server` or `me`, as when it was set.
    #[serde(rename = "for")]
    whose: Option<String>,
}

/// Forgets a server's credential
///
/// The server is connected anew without it; of one's own, the connection of one's own ends.
#[utoipa::path(
    delete,
    path = "/api/v1/servers/{id}/credential",
    tag = "servers",
    params(("id" = String, Path, description = "The server."), Whose),
    responses((status = 204), BadQuery, Conflict, Guarded, Missing)
)]
pub(super) async fn remove_credential(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Asked(whose): Asked<Whose>,
) -> Result<StatusCode> {
    let meant = credential::meant(&api, &caller, &id, whose.whose.as_deref())?;
    // Kept by name and owner, it would be the file's.
    if let Some(text) = change::hidden(&api, &meant.found) {
        return Err(Problem::conflict("hidden_by_file", text).remedy("Rename one of the two."));
    }
    let (key, owner) = (&meant.found.key, meant.owner.as_ref());
    if !api.store().credentials().remove(key, owner, &caller.actor()).await? {
        return Err(Problem::not_found("credential of", &id));
    }
    api.apply().await?;
    change::credited(&api, &caller, &meant.found).await?;
    Ok(StatusCode::NO_CONTENT)
}
