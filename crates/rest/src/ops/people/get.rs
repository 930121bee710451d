//! One person.

use axum::extract::State;
use axum::{Extension, Json};

use super::find;
use crate::answers::{Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::Id;
use crate::view::user::UserView;
use crate::who::Caller;

/// Shows a person
///
/// Oneself; anybody, for administrators.
#[utoipa::path(
    get,
    path = "/api/v1/users/{id}",
    tag = "people",
    params(("id" = String, Path, description = "The person.")),
    responses((status = 200, body = UserView), Guarded, Missing)
)]
pub(super) async fn get(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<UserView>> {
    find(&api, &caller, &id).map(|user| Json(UserView::from(&*user)))
}
