//! A person's name and role.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{find, name, role};
use crate::answers::{BadBody, Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Body, Id};
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
/// One's own name; anybody's name and role, for administrators. The last administrator stays one.
#[utoipa::path(
    put,
    path = "/api/v1/users/{id}",
    tag = "people",
    params(("id" = String, Path, description = "The person.")),
    request_body = UserChange,
    responses((status = 200, body = UserView), BadBody, Conflict, Guarded, Missing)
)]
pub(super) async fn update(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Body(change): Body<UserChange>,
) -> Result<Json<UserView>> {
    let user = find(&api, &caller, &id)?;
    let (users, actor) = (api.store().users(), caller.actor());
    let role = change.role.as_deref().map(role).transpose()?;
    let name = change.name.as_deref().map(name).transpose()?;
    if let Some(role) = role.filter(|role| *role != user.role) {
        if !caller.is_administrator() {
            return Err(Problem::forbidden("only an administrator changes roles"));
        }
        users.set_role(&user.id, role, &actor).await?;
    }
    if let Some(name) = name {
        users.rename(&user.id, name, &actor).await?;
    }
    find(&api, &caller, &id).map(|user| Json(UserView::from(&*user)))
}
