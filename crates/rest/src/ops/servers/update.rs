//! A server declared anew.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::change;
use super::here::Here;
use super::{edited, entry, find_own};
use crate::answers::{BadBody, Conflict, Guarded, Missing, Stale};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Body, Id, etag, expected};
use crate::view::server::ServerView;
use crate::who::Caller;

/// What a server is from now on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Declaration {
    /// The whole entry as our own file has it, such as the server's `entry` that was read. What is
    /// `null` in it stays as it is, as long as the address or the command line does.
    #[schema(value_type = Object)]
    pub(crate) entry: Map<String, Value>,
    /// An administrator's word that the command line may run.
    pub(crate) approve: Option<bool>,
}

/// Declares a server anew
///
/// With `If-Match`, only if nobody changed it since it was read. Another command line is not approved
/// any more.
#[utoipa::path(
    put,
    path = "/api/v1/servers/{id}",
    tag = "servers",
    params(
        ("id" = String, Path, description = "The server."),
        ("if-match" = Option<String>, Header, description = "The etag that was read."),
    ),
    request_body = Declaration,
    responses(
        (status = 200, body = ServerView, headers(("etag" = String, description = "For If-Match."))),
        BadBody, Conflict, Guarded, Missing, Stale
    )
)]
pub(super) async fn update(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    here: Here,
    headers: HeaderMap,
    Body(new): Body<Declaration>,
) -> Result<Response> {
    let found = find_own(&api, &caller, &id)?;
    let row = found.row()?;
    let approve = change::approval(new.approve, &caller)?;
    let spec = entry::native(&found.key.name, &edited::filled(&new.entry, &row.spec)?)?;
    entry::check(&caller, &here, &spec)?;
    let how = (expected(&headers)?, approve);
    let view = change::update(&api, &caller, &found.key, &spec, how).await?;
    Ok((etag(view.revision.unwrap_or_default()), Json(view)).into_response())
}
