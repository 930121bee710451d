//! Signing in with a password.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use switchboard_model::{Secret, UserId};
use utoipa::ToSchema;

use super::{SESSION, cookie, refusals};
use crate::answers::{BadBody, Open};
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
        (status = 429, body = Details, content_type = "application/problem+json", description = "Too many passwords were wrong."),
        BadBody, Open
    )
)]
pub(super) async fn sign_in(State(api): State<Api>, Body(given): Body<SignIn>) -> Result<Response> {
    let id = UserId::parse(&given.user).map_err(|_| wrong(&api, None))?;
    let (attempts, now) = (api.attempts(), api.clock().monotonic());
    if !attempts.may_try(&id, now) {
        refusals::note(&api, WAY, Some(&id));
        let text = "too many passwords were wrong";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many", text)
            .remedy("Wait a minute, or ask for a sign-in link.")
            .header(header::RETRY_AFTER, "60"));
    }
    // Counted before it is known, so that many at once are not more than one after another.
    attempts.failed(&id, now);
    let user = api.store().users().check_password(&id, Secret::new(given.password)).await?;
    let user = user.ok_or_else(|| wrong(&api, Some(&id)))?;
    attempts.forget(&id);
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
