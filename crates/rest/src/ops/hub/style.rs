//! How the page of the API looks.

use axum::http::header;
use axum::response::{IntoResponse, Response};

const STYLE: &str = "\
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:60rem;margin:2rem auto;padding:0 1rem}
code{font:0.9em ui-monospace,monospace}
details{border-top:1px solid color-mix(in srgb,currentcolor 25%,transparent);padding:.5rem 0}
summary{cursor:pointer}
summary b{display:inline-block;width:4.5rem}
table{border-collapse:collapse}
td{padding:.1rem 1rem .1rem 0;vertical-align:top}
";

/// Shows the style of the API's page
#[utoipa::path(
    get,
    path = "/api/style.css",
    tag = "hub",
    security(()),
    responses((status = 200, body = String, content_type = "text/css"))
)]
pub(super) async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}
