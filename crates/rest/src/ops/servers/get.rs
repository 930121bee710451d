//! One server.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};

use super::{find, shown};
use crate::answers::{Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Id, etag};
use crate::port::Source;
use crate::view::command::reveal;
use crate::view::server::ServerView;
use crate::who::Caller;

/// Shows a server
///
/// By its id, or by `global:NAME`, `user:ada:NAME`, `agent:cto:NAME` or its name alone.
#[utoipa::path(
    get,
    path = "/api/v1/servers/{id}",
    tag = "servers",
    params(("id" = String, Path, description = "The server.")),
    responses(
        (status = 200, body = ServerView, headers(("etag" = String, description = "For If-Match; only of servers that the store declares."))),
        Guarded, Missing,
    )
)]
pub(super) async fn get(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Response> {
    let found = find(&api, &caller, &id)?;
    let mut view = shown(&api, &caller, &found).await?;
    if let Source::Store(row) = &found.source
        && caller.is_administrator()
    {
        reveal(&mut view, &row.spec);
    }
    Ok(match view.revision {
        Some(revision) => (etag(revision), Json(view)).into_response(),
        None => (HeaderMap::new(), Json(view)).into_response(),
    })
}
