//! A new token for a person.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use switchboard_model::UserId;
use switchboard_store::Subject;
use utoipa::ToSchema;

use super::WantedToken;
use crate::answers::{BadBody, Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::Body;
use crate::view::token::NewTokenView;
use crate::who::Caller;

/// A new token for a person.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedUserToken {
    /// Whose: the caller's, unless an administrator says otherwise.
    user: Option<String>,
    /// What it is for, to recognise it by.
    name: String,
    /// After how many seconds it is no longer good; never unless given.
    #[schema(minimum = 1)]
    expires_in: Option<u64>,
}

/// Makes a token for a person
///
/// The answer is the only time that it can be read.
#[utoipa::path(
    post,
    path = "/api/v1/tokens",
    tag = "tokens",
    params(("idempotency-key" = Option<String>, Header, description = "The same request with the same key is done once.")),
    request_body = WantedUserToken,
    responses((status = 201, body = NewTokenView), BadBody, Conflict, Guarded, Missing)
)]
pub(super) async fn create(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(given): Body<WantedUserToken>,
) -> Result<(StatusCode, Json<NewTokenView>)> {
    let user = match &given.user {
        Some(user) => UserId::parse(user).map_err(|_| Problem::not_found("user", user))?,
        None => caller.user.clone(),
    };
    if user != caller.user && !caller.is_administrator() {
        return Err(Problem::forbidden("only an administrator makes tokens for others"));
    }
    let wanted = WantedToken { name: given.name, expires_in: given.expires_in };
    let (name, expires_at) = (wanted.name()?, wanted.expires_at(&api)?);
    let subject = Subject::User(user);
    let new = api.store().tokens().create(&subject, name, expires_at, &caller.actor()).await?;
    Ok((StatusCode::CREATED, Json(NewTokenView::from(&new))))
}
