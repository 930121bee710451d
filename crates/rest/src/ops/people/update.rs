//! A person's name and role.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use switchboard_store::UserEdit;
use utoipa::ToSchema;

use super::{find, name, role};
use crate::answers::{BadBody, Conflict, Guarded, Missing, Stale};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Body, Id, etag, expected};
use crate::view::user::UserView;
use crate::who::Caller;

/// What changes about a person.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserChange {
    /// What they are called from now on.
    name: Option<String>,
    /// `administrator` or `member`; only administrators change it.
    role: Option<String>,
}

/// Changes a person
///
/// One's own name; anybody's name and role, for administrators. The last administrator stays one. With
/// `If-Match`, only if nobody changed them since they were read.
#[utoipa::path(
    put,
    path = "/api/v1/users/{id}",
    tag = "people",
    params(
        ("id" = String, Path, description = "The person."),
        ("if-match" = Option<String>, Header, description = "The etag that was read."),
    ),
    request_body = UserChange,
    responses(
        (status = 200, body = UserView, headers(("etag" = String, description = "For If-Match."))),
        BadBody, Conflict, Guarded, Missing, Stale
    )
)]
pub(super) async fn update(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    headers: HeaderMap,
    Body(change): Body<UserChange>,
) -> Result<Response> {
    let user = find(&api, &caller, &id)?;
    let role = change.role.as_deref().map(role).transpose()?;
    let name = change.name.as_deref().map(name).transpose()?;
    if role.is_some_and(|role| role != user.role) && !caller.is_administrator() {
        return Err(Problem::forbidden("only an administrator changes roles"));
    }
    let (users, expected) = (api.store().users(), expected(&headers)?);
    let user = users.update(&user.id, UserEdit { name, role }, expected, &caller.actor()).await?;
    Ok((etag(user.revision()), Json(UserView::from(&user))).into_response())
}
