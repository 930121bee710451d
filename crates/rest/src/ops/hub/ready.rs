//! Whether the hub can do its work.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answers::Open;
use crate::api::Api;
use crate::error::{Problem, Result};

/// Whether the hub can do its work.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReadyView {
    /// `ready`.
    status: &'static str,
}

/// Says whether the hub can do its work
///
/// Its store answers, it has the store's key, and it is not about to stop; if not, the answer says which of them.
/// Servers that are not connected do not count: each says for itself how it stands, to whoever may know.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "hub",
    security(()),
    responses((status = 200, body = ReadyView), Open)
)]
pub(super) async fn ready(State(api): State<Api>) -> Result<Json<ReadyView>> {
    if api.end().is_cancelled() {
        let text = "the hub is about to stop";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", text));
    }
    api.store().ping().await?;
    Ok(Json(ReadyView { status: "ready" }))
}
