//! A new person.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use switchboard_model::{Secret, UserId};
use switchboard_store::Role;
use utoipa::ToSchema;

use super::{name, role};
use crate::answers::{BadBody, Conflict, Guarded, Missing, TooMany};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::Body;
use crate::view::user::UserView;
use crate::who::Caller;

/// A new person.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUser {
    /// Who: letters, digits, `_`, `-` and `.`.
    id: String,
    /// What they are called; their id unless given.
    name: Option<String>,
    /// `administrator` or `member` (unless given).
    role: Option<String>,
    /// Their password, ten characters at least; without one they sign in by link.
    #[schema(write_only)]
    password: Option<String>,
}

/// Adds a person
#[utoipa::path(
    post,
    path = "/api/v1/users",
    tag = "people",
    params(("idempotency-key" = Option<String>, Header, description = "The same request with the same key is done once.")),
    request_body = NewUser,
    responses((status = 201, body = UserView), BadBody, Conflict, Guarded, Missing, TooMany)
)]
pub(super) async fn create(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(new): Body<NewUser>,
) -> Result<(StatusCode, Json<UserView>)> {
    let id = UserId::parse(&new.id);
    let id = id.map_err(|error| Problem::invalid(format!("`id`: {error}")))?;
    let role = new.role.as_deref().map_or(Ok(Role::Member), role)?;
    let name = name(new.name.as_deref().unwrap_or(id.as_str()))?;
    let (users, actor) = (api.store().users(), caller.actor());
    let user = users.create(&id, name, role, &actor).await?;
    let mut view = UserView::from(&user);
    if let Some(password) = new.password {
        if let Err(error) = users.set_password(&id, Some(Secret::new(password)), &actor).await {
            // Somebody without the password that was wanted is not what was asked for.
            users.remove(&id, &actor).await?;
            return Err(error.into());
        }
        view.has_password = true;
    }
    api.apply().await?;
    Ok((StatusCode::CREATED, Json(view)))
}
