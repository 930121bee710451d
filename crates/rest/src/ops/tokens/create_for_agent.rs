//! A new token for an agent.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use switchboard_store::Subject;

use super::WantedToken;
use crate::answers::{BadBody, Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Body, Id};
use crate::ops::agents::find;
use crate::view::token::NewTokenView;
use crate::who::Caller;

/// Makes a token for an agent
///
/// The answer is the only time that it can be read.
#[utoipa::path(
    post,
    path = "/api/v1/agents/{id}/tokens",
    tag = "tokens",
    params(
        ("id" = String, Path, description = "The agent."),
        ("idempotency-key" = Option<String>, Header, description = "The same request with the same key is done once."),
    ),
    request_body = WantedToken,
    responses((status = 201, body = NewTokenView), BadBody, Conflict, Guarded, Missing)
)]
pub(super) async fn create_for_agent(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Body(wanted): Body<WantedToken>,
) -> Result<(StatusCode, Json<NewTokenView>)> {
    let subject = Subject::Agent(find(&api, &caller, &id)?.stored()?.id.clone());
    let (name, expires_at) = (wanted.name()?, wanted.expires_at(&api)?);
    let new = api.store().tokens().create(&subject, name, expires_at, &caller.actor()).await?;
    Ok((StatusCode::CREATED, Json(NewTokenView::from(&new))))
}
