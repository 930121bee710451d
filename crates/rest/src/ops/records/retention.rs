//! How much of the audit log is kept.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use switchboard_store::Kept;
use utoipa::ToSchema;

use crate::answers::Guarded;
use crate::api::Api;
use crate::error::Result;
use crate::input::etag;

/// How much of the audit log is kept: whichever limit is reached first.
#[derive(Serialize, ToSchema)]
pub(crate) struct RetentionView {
    /// Rows that are older go; `null` keeps them however old.
    days: Option<u32>,
    /// The oldest beyond so many go; `null` keeps them however many.
    rows: Option<u64>,
    /// The oldest go until the rows take so many million bytes at most; `null` keeps them however large.
    megabytes: Option<u64>,
    /// Counts its changes; the etag is made of it.
    revision: i64,
}

/// Shows how much of the audit log is kept
#[utoipa::path(
    get,
    path = "/api/v1/audit/retention",
    tag = "records",
    responses(
        (status = 200, body = RetentionView, headers(("etag" = String, description = "For If-Match."))),
        Guarded
    )
)]
pub(super) async fn retention(State(api): State<Api>) -> Result<Response> {
    Ok(shown(&api.store().settings().retention().await?))
}

/// As both operations answer.
pub(super) fn shown(kept: &Kept) -> Response {
    let (retention, revision) = (&kept.retention, kept.revision);
    let view = RetentionView {
        days: retention.days(),
        rows: retention.rows,
        megabytes: retention.megabytes(),
        revision,
    };
    (etag(revision), Json(view)).into_response()
}
