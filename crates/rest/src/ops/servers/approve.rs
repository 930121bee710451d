//! An administrator's word that a command line may run.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{change, find_own};
use crate::answers::{BadBody, Conflict, Guarded, Missing, Stale};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Body, Id};
use crate::view::server::ServerView;
use crate::who::Caller;

/// What is approved.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approved {
    /// The hash of the command line that was seen (`approval.hash` of the server).
    hash: String,
}

/// Approves a command line
///
/// The one with this hash: if it is another one by now, nothing is approved.
#[utoipa::path(
    post,
    path = "/api/v1/servers/{id}/approve",
    tag = "servers",
    params(("id" = String, Path, description = "The server.")),
    request_body = Approved,
    responses((status = 200, body = ServerView), BadBody, Conflict, Guarded, Missing, Stale)
)]
pub(super) async fn approve(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Body(Approved { hash }): Body<Approved>,
) -> Result<Json<ServerView>> {
    let found = find_own(&api, &caller, &id)?;
    found.row()?;
    let hash = bytes(&hash).ok_or_else(|| Problem::invalid("`hash` is 64 hexadecimal digits"))?;
    api.store().servers().approve(&found.key, &hash, &caller.actor()).await?;
    change::applied(&api, &caller, &found.key).await.map(Json)
}

fn bytes(hash: &str) -> Option<[u8; 32]> {
    if hash.len() != 64 || !hash.is_ascii() {
        return None;
    }
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hash.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}
