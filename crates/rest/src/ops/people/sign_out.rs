//! The end of a session of the page.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::answers::Guarded;
use crate::api::Api;
use crate::error::Result;
use crate::who::{self, COOKIE};

/// Signs out
///
/// Ends the session of the page whose cookie comes with the request.
#[utoipa::path(
    post,
    path = "/api/v1/sign-out",
    tag = "people",
    responses((status = 204), Guarded)
)]
pub(super) async fn sign_out(State(api): State<Api>, headers: HeaderMap) -> Result<Response> {
    if let Some(cookie) = who::cookie(&headers) {
        api.store().sign_in().end(&cookie).await?;
    }
    let gone = format!("{COOKIE}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict");
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)]).into_response())
}
