//! The health page: that the hub is there, and where to go from here. It needs no credential, so it says nothing of
//! what the hub has or how it stands.

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

pub(super) fn router() -> Router {
    Router::new().route("/", get(page))
}

async fn page() -> Response {
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        ),
    ];
    (headers, Html(PAGE)).into_response()
}

const PAGE: &str = include_str!("health.html");
