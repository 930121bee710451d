//! A connection made anew.

use axum::extract::State;
use axum::{Extension, Json};

use super::{change, find_own};
use crate::answers::{Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::Id;
use crate::view::server::ServerView;
use crate::who::Caller;

/// Connects a server anew
///
/// Whatever its state; a command line that is not approved stays where it is.
#[utoipa::path(
    post,
    path = "/api/v1/servers/{id}/reconnect",
    tag = "servers",
    params(("id" = String, Path, description = "The server.")),
    responses((status = 200, body = ServerView), Guarded, Missing)
)]
pub(super) async fn reconnect(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<ServerView>> {
    change::reconnect(&api, &caller, &find_own(&api, &caller, &id)?).await.map(Json)
}
