//! A server declared anew.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::change::{self, Approve};
use super::{entry, find_own};
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
    /// The whole entry as our own file has it. A value of `env` or `headers` that is `null` stays
    /// as it is.
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
    headers: HeaderMap,
    Body(new): Body<Declaration>,
) -> Result<Response> {
    let found = find_own(&api, &caller, &id)?;
    let row = found.row()?;
    let approve = Approve::asked(new.approve, &caller)?;
    let mut spec = entry::native(&found.key.name, &new.entry)?;
    entry::check(&caller, &spec)?;
    entry::keep(&mut spec, &new.entry, &row.spec);
    let how = (expected(&headers)?, approve);
    let view = change::update(&api, &caller, &found.key, &spec, how).await?;
    Ok((etag(view.revision.unwrap_or_default()), Json(view)).into_response())
}
