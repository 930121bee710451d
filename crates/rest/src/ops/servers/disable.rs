//! A server switched off.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use switchboard_store::Power;

use super::{change, find_own};
use crate::answers::{Conflict, Guarded, Missing, Stale};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Id, etag, expected};
use crate::view::server::ServerView;
use crate::who::Caller;

/// Stops a server
#[utoipa::path(
    post,
    path = "/api/v1/servers/{id}/disable",
    tag = "servers",
    params(
        ("id" = String, Path, description = "The server."),
        ("if-match" = Option<String>, Header, description = "The etag that was read."),
    ),
    responses(
        (status = 200, body = ServerView, headers(("etag" = String, description = "For If-Match."))),
        Conflict, Guarded, Missing, Stale
    )
)]
pub(super) async fn disable(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    headers: HeaderMap,
) -> Result<Response> {
    let found = find_own(&api, &caller, &id)?;
    found.row()?;
    let (servers, expected) = (api.store().servers(), expected(&headers)?);
    servers.switch(&found.key, Power::Off, expected, &caller.actor()).await?;
    let view = change::applied(&api, &caller, &found.key).await?;
    Ok((etag(view.revision.unwrap_or_default()), Json(view)).into_response())
}
