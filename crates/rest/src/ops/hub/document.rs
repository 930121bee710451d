//! The description of everything here.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// Shows the OpenAPI document
#[utoipa::path(
    get,
    path = "/api/v1/openapi.json",
    tag = "hub",
    security(()),
    responses((status = 200, body = serde_json::Value))
)]
pub(super) async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], crate::api::document()).into_response()
}
