//! One person.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};

use super::find;
use crate::answers::{Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Id, etag};
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
    responses(
        (status = 200, body = UserView, headers(("etag" = String, description = "For If-Match."))),
        Guarded, Missing
    )
)]
pub(super) async fn get(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Response> {
    let user = find(&api, &caller, &id)?;
    Ok((etag(user.revision()), Json(UserView::from(&*user))).into_response())
}
