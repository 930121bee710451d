//! A person's password.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use switchboard_model::{CallOrigin, Secret};
use utoipa::ToSchema;

use super::{attempts, find};
use crate::answers::{BadBody, Conflict, Guarded, Missing, TooMany};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Body, Id};
use crate::who::Caller;

/// A new password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPassword {
    /// Ten characters at least; without one, they sign in by link alone.
    #[schema(write_only)]
    password: Option<String>,
    /// The one that is good until now: needed to change one's own.
    #[schema(write_only)]
    current: Option<String>,
}

/// Sets a password
///
/// One's own, with the current one; anybody else's, for administrators. Their sessions end. After five
/// wrong passwords nobody may try for a minute.
#[utoipa::path(
    put,
    path = "/api/v1/users/{id}/password",
    tag = "people",
    params(("id" = String, Path, description = "The person.")),
    request_body = NewPassword,
    responses((status = 204), BadBody, Conflict, Guarded, Missing, TooMany)
)]
pub(super) async fn password(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Body(new): Body<NewPassword>,
) -> Result<StatusCode> {
    let user = find(&api, &caller, &id)?;
    let users = api.store().users();
    // A page left open, or a token that was found, is not enough to lock its owner out.
    if user.id == caller.user && user.has_password && caller.origin != CallOrigin::Cli {
        // Nor to find the password out: what is tried here counts as it does for signing in.
        let (tried, now) = (api.attempts(), api.clock().monotonic());
        if !tried.may_try(&user.id, now) {
            let problem = Problem::too_many("too many passwords were wrong", attempts::AFTER);
            return Err(problem.remedy("Wait a minute."));
        }
        tried.failed(&user.id, now);
        let current = Secret::new(new.current.unwrap_or_default());
        if users.check_password(&user.id, current).await?.is_none() {
            return Err(Problem::forbidden("`current` is not the password that is good now"));
        }
        tried.forget(&user.id);
    }
    users.set_password(&user.id, new.password.map(Secret::new), &caller.actor()).await?;
    Ok(StatusCode::NO_CONTENT)
}
