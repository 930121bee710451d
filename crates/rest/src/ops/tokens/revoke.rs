//! A token made worthless.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;

use super::theirs;
use crate::answers::{Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::Id;
use crate::who::Caller;

/// Revokes a token
///
/// It is worthless when this answers; what it stood for stays.
#[utoipa::path(
    delete,
    path = "/api/v1/tokens/{id}",
    tag = "tokens",
    params(("id" = String, Path, description = "The token's id.")),
    responses((status = 204), Guarded, Missing)
)]
pub(super) async fn revoke(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<StatusCode> {
    let token = api.store().tokens().get(&id).await?;
    let token = token.filter(|token| theirs(token, &caller, &api));
    let token = token.ok_or_else(|| Problem::not_found("token", &id))?;
    api.store().tokens().revoke(&token.id, &caller.actor()).await?;
    Ok(StatusCode::NO_CONTENT)
}
