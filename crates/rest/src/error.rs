//! What goes wrong, as problem details (RFC 9457): what happened, why, and what to do next.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use switchboard_store::Error;
use utoipa::ToSchema;

/// What every operation returns.
pub(crate) type Result<T> = std::result::Result<T, Problem>;

/// Why a request was not done. Small, since every operation can return it.
#[derive(Clone, Debug)]
pub struct Problem(Box<Details>);

/// Why a request was not done.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct Details {
    /// A URN for the kind of problem.
    #[serde(rename = "type")]
    kind: String,
    /// The kind, for a person.
    title: String,
    /// The HTTP status.
    status: u16,
    /// The kind, stable across versions, for a program.
    code: String,
    /// What happened this time.
    detail: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    /// Each thing that is wrong with what was sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Fault>,
    #[serde(skip)]
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// One thing that is wrong with what was sent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Fault {
    /// The kind.
    pub(crate) code: String,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remedy: Option<String>,
}

impl Problem {
    /// A problem of this status and code.
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        Self(Box::new(Details {
            kind: format!("urn:switchboard:problem:{code}"),
            title: status.canonical_reason().unwrap_or("Problem").to_owned(),
            status: status.as_u16(),
            code: code.to_owned(),
            detail: detail.into(),
            remedy: None,
            errors: Vec::new(),
            headers: Vec::new(),
        }))
    }

    /// With what to do next.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// With each thing that is wrong.
    pub(crate) fn faults(mut self, errors: Vec<Fault>) -> Self {
        self.0.errors = errors;
        self
    }

    /// As it is sent.
    pub(crate) fn body(&self) -> Vec<u8> {
        serde_json::to_vec(&self.0).unwrap_or_default()
    }

    pub(crate) fn header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.0.headers.push((name, HeaderValue::from_static(value)));
        self
    }

    /// There is no such thing, or it is not for whoever asks.
    pub(crate) fn not_found(what: &str, id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no {what} `{id}`"))
    }

    /// What was sent cannot be right.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail)
    }

    /// What stands behind the question mark cannot be right.
    pub(crate) fn bad_query(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_query", detail)
    }

    /// It cannot be done in this state.
    pub(crate) fn conflict(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    /// Whoever asks may not.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// More than there may be; again after so many seconds.
    pub(crate) fn too_many(detail: impl Into<String>, seconds: &'static str) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many", detail)
            .header(header::RETRY_AFTER, seconds)
    }

    /// No credential, or none that is good.
    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "a good credential is needed")
            .remedy("Send `Authorization: Bearer …` with a token of `switchboard token create`.")
            .header(header::WWW_AUTHENTICATE, "Bearer")
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match &error {
            Error::NotFound { .. } => Self::new(StatusCode::NOT_FOUND, "not_found", text),
            Error::Exists { .. } => Self::conflict("exists", text),
            Error::Stale { .. } => {
                Self::new(StatusCode::PRECONDITION_FAILED, "stale", text).remedy("Read it again.")
            }
            Error::Invalid(_) => Self::invalid(text),
            Error::Refused(_) => Self::conflict("refused", text),
            Error::Busy => Self::too_many(text, "2").remedy("Try again in a moment."),
            error if error.is_of_the_key() => {
                tracing::error!(%error, "the store's master key is another one now");
                let text = "the hub no longer has the master key of its store";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "key_changed", text)
                    .remedy("Start the hub again, with the key that the store is sealed with now.")
            }
            error if error.is_transient() => {
                tracing::warn!(%error, "the store is away");
                let text = "the store does not answer at the moment";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "store_away", text)
                    .remedy("Try again in a moment.")
                    .header(header::RETRY_AFTER, "2")
            }
            error => {
                // The cause may name what is none of the caller's business.
                tracing::error!(error = error as &dyn std::error::Error, "a request failed");
                let text = "the hub could not do it; its log says why";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", text)
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut response = (status, self.body()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.extend(self.0.headers);
        response
    }
}
