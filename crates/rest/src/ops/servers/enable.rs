//! A server switched on.

use axum::extract::State;
use axum::{Extension, Json};

use super::{change, find_own};
use crate::answers::{Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::Id;
use crate::view::server::ServerView;
use crate::who::Caller;

/// Lets a server run
#[utoipa::path(
    post,
    path = "/api/v1/servers/{id}/enable",
    tag = "servers",
    params(("id" = String, Path, description = "The server.")),
    responses((status = 200, body = ServerView), Conflict, Guarded, Missing)
)]
pub(super) async fn enable(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<ServerView>> {
    let found = find_own(&api, &caller, &id)?;
    found.row()?;
    api.store().servers().enable(&found.key, &caller.actor()).await?;
    change::applied(&api, &found.key).await.map(Json)
}
