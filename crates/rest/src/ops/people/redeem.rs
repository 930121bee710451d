//! A sign-in link used up.

use axum::extract::State;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use switchboard_model::Secret;
use utoipa::IntoParams;

use super::{SESSION, cookie, refusals};
use crate::answers::{BadQuery, Open};
use crate::api::Api;
use crate::error::{Details, Problem, Result};
use crate::input::Asked;

/// Which link.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Link {
    /// Its secret part.
    link: String,
}

/// Signs in by link
///
/// Begins a session of the page and leads there. A link works once.
#[utoipa::path(
    get,
    path = "/sign-in",
    tag = "people",
    params(Link),
    security(()),
    responses(
        (status = 303, description = "Signed in; the page is at `/`."),
        (status = 401, body = Details, content_type = "application/problem+json", description = "The link is used up, or too old."),
        BadQuery, Open
    )
)]
pub(super) async fn redeem(
    State(api): State<Api>,
    method: Method,
    Asked(Link { link }): Asked<Link>,
) -> Result<Response> {
    // Programs that look where a link leads must not use it up.
    if method == Method::HEAD {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let session = api.store().sign_in().redeem(&Secret::new(link), SESSION).await?;
    let session = session.ok_or_else(|| {
        refusals::note(&api, "link", None);
        let text = "this link is used up, or too old";
        Problem::new(StatusCode::UNAUTHORIZED, "link_over", text)
            .remedy("Ask an administrator for a new one.")
    })?;
    let headers = [
        (header::SET_COOKIE, cookie(&session)?),
        (header::LOCATION, header::HeaderValue::from_static("/")),
        (header::REFERRER_POLICY, header::HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, header::HeaderValue::from_static("no-store")),
    ];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}
