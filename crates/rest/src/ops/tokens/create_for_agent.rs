//! A new token for an agent.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use switchboard_store::Subject;

use super::WantedToken;
use crate::answers::{BadBody, Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Body, Id};
use crate::ops::agents::{Found, find};
use crate::view::token::NewTokenView;
use crate::who::Caller;

/// Makes a token for an agent
///
/// The answer is the only time that it can be read. For an agent that a file declares, an administrator
/// makes it.
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
    let found = find(&api, &caller, &id)?.with_tokens(&caller)?;
    let (name, expires_at) = (wanted.name()?, wanted.expires_at(&api)?);
    if let Found::File(agent, _, view) = &found {
        if let Some(problem) = &view.problem {
            let remedy = format!("Remove that one first: `switchboard agent remove {agent}`.");
            return Err(Problem::conflict("contested", problem.as_str()).remedy(remedy));
        }
        api.store().agents().stand_in(agent, &caller.user, &caller.actor()).await?;
        api.apply().await?;
    }
    let subject = Subject::Agent(found.id().clone());
    let new = api.store().tokens().create(&subject, name, expires_at, &caller.actor()).await?;
    Ok((StatusCode::CREATED, Json(NewTokenView::from(&new))))
}
