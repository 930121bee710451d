//! What the hub proves itself with to a server: taken in, never given out.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use switchboard_model::Secret;
use switchboard_store::{CredentialKind, NewCredential};
use utoipa::ToSchema;

use super::{change, find_own};
use crate::answers::{BadBody, Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Body, Id, moment};
use crate::view::server::ServerView;
use crate::who::Caller;

/// A credential to keep.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenCredential {
    /// `bearer` or `api_key`.
    kind: String,
    /// The credential; kept encrypted and never shown again.
    #[schema(write_only)]
    value: String,
    /// Until when it is good (RFC 3339).
    expires_at: Option<String>,
}

/// Sets a server's credential
///
/// Over what was there; the server is connected anew with it. It cannot be read again.
#[utoipa::path(
    put,
    path = "/api/v1/servers/{id}/credential",
    tag = "servers",
    params(("id" = String, Path, description = "The server.")),
    request_body = GivenCredential,
    responses((status = 200, body = ServerView), BadBody, Guarded, Missing)
)]
pub(super) async fn set_credential(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Body(given): Body<GivenCredential>,
) -> Result<Json<ServerView>> {
    let found = find_own(&api, &caller, &id)?;
    let kind = [CredentialKind::Bearer, CredentialKind::ApiKey];
    let kind = kind.into_iter().find(|kind| kind.as_str() == given.kind);
    let kind = kind.ok_or_else(|| Problem::invalid("`kind` is `bearer` or `api_key`"))?;
    if given.value.is_empty() {
        return Err(Problem::invalid("`value` is empty"));
    }
    let expires_at = moment("expires_at", given.expires_at.as_deref())?;
    let value = Secret::new(given.value);
    let new = NewCredential { kind, value, issuer: None, scopes: None, expires_at };
    api.store().credentials().set(&found.key, None, &new, &caller.actor()).await?;
    api.apply().await?;
    change::reconnect(&api, &found).await.map(Json)
}
