//! A link that signs somebody in once.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::find;
use crate::answers::{Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::Id;
use crate::view::time::time;
use crate::who::Caller;

/// How long a link is good.
const LASTING: Duration = Duration::from_secs(15 * 60);

/// A link.
#[derive(Serialize, ToSchema)]
pub(crate) struct LinkView {
    /// The path to open at the hub's address.
    path: String,
    /// Until when it is good.
    expires_at: String,
}

/// Makes a sign-in link
///
/// It signs that person in on the page, once. It is told once too: the same request with the same key makes
/// no second link, and is answered without the first (409).
#[utoipa::path(
    post,
    path = "/api/v1/users/{id}/sign-in-link",
    tag = "people",
    params(
        ("id" = String, Path, description = "The person."),
        ("idempotency-key" = Option<String>, Header, description = "The same request with the same key is done once."),
    ),
    responses((status = 201, body = LinkView), Conflict, Guarded, Missing)
)]
pub(super) async fn link(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<(StatusCode, Json<LinkView>)> {
    let user = find(&api, &caller, &id)?;
    let link = api.store().sign_in().link(&user.id, LASTING, &caller.actor()).await?;
    let path = format!("/sign-in?link={}", link.expose());
    let expires_at = time(api.clock().now() + LASTING);
    Ok((StatusCode::CREATED, Json(LinkView { path, expires_at })))
}
