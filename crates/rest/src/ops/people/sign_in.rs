//! Signing in with a password.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use switchboard_model::{Secret, UserId};
use utoipa::ToSchema;

use super::{SESSION, attempts, cookie, refusals};
use crate::answers::{BadBody, Open, TooMany};
use crate::api::Api;
use crate::error::{Details, Problem, Result};
use crate::input::Body;
use crate::view::time::time;
use crate::view::user::UserView;

/// How, for the audit log.
const WAY: &str = "password";

/// Who signs in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignIn {
    /// The person.
    user: String,
    /// Their password.
    #[schema(write_only)]
    password: String,
}

/// A session of the page; its cookie comes with it.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionView {
    /// Who signed in.
    user: UserView,
    /// What every change carries as `x-csrf-token`.
    csrf: String,
    /// Until when the session lasts.
    expires_at: String,
}

/// Signs in with a password
///
/// Begins a session of the page. After five wrong passwords nobody may try for a minute.
#[utoipa::path(
    post,
    path = "/api/v1/sign-in",
    tag = "people",
    security(()),
    request_body = SignIn,
    responses(
        (status = 200, body = SessionView),
        (status = 401, body = Details, content_type = "application/problem+json", description = "The password is not that person's, or there is nobody of that name."),
        BadBody, Open, TooMany
    )
)]
pub(super) async fn sign_in(State(api): State<Api>, Body(given): Body<SignIn>) -> Result<Response> {
    let id = UserId::parse(&given.user).map_err(|_| wrong(&api, None))?;
    let (tried, now) = (api.attempts(), api.clock().monotonic());
    if !tried.may_try(&id, now) {
        refusals::note(&api, WAY, Some(&id));
        let problem = Problem::too_many("too many passwords were wrong", attempts::AFTER);
        return Err(problem.remedy("Wait a minute, or ask for a sign-in link."));
    }
    // Counted before it is known, so that many at once are not more than one after another.
    tried.failed(&id, now);
    let user = api.store().users().check_password(&id, Secret::new(given.password)).await?;
    let user = user.ok_or_else(|| wrong(&api, Some(&id)))?;
    tried.forget(&id);
    let session = api.store().sign_in().begin(&user.id, SESSION).await?;
    let view = SessionView {
        user: UserView::from(&user),
        csrf: session.csrf.expose().to_owned(),
        expires_at: time(session.expires_at),
    };
    Ok(([(header::SET_COOKIE, cookie(&session)?)], Json(view)).into_response())
}

fn wrong(api: &Api, tried: Option<&UserId>) -> Problem {
    refusals::note(api, WAY, tried);
    let text = "nobody of that name has that password";
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", text)
}
