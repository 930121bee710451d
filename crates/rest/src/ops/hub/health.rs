//! Whether the hub runs.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

/// How the hub is.
#[derive(Serialize, ToSchema)]
pub(crate) struct HealthView {
    /// `ok`.
    status: &'static str,
}

/// Says that the hub runs
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "hub",
    security(()),
    responses((status = 200, body = HealthView))
)]
pub(super) async fn health() -> Json<HealthView> {
    Json(HealthView { status: "ok" })
}
