//! What requests carry, read once: bodies, queries, cursors and preconditions. What cannot be read is
//! a problem that says what.

use std::time::SystemTime;

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::{Problem, Result};

/// How large a body may be.
pub(crate) const MAX_BODY: usize = 1024 * 1024;
/// How many of a list are given at once, unless asked for fewer or more.
const PAGE: usize = 100;
const MAX_PAGE: usize = 1000;

/// How JSON writes the character that not every database can keep.
const NUL: &[u8] = br"\u0000";

/// A body of JSON.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        read(&json(request).await?).map(Self)
    }
}

/// A body of JSON as it came, for those who pass it on.
pub(crate) struct RawBody(pub(crate) Bytes);

impl<S: Sync> FromRequest<S> for RawBody {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        json(request).await.map(Self)
    }
}

/// What a path names.
pub(crate) struct Id(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let read = Path::<String>::from_request_parts(parts, state).await;
        read.map(|Path(id)| Self(id))
            .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "bad_path", error.body_text()))
    }
}

async fn json(request: Request) -> Result<Bytes> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let text = "the body must be JSON";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(
            Problem::new(status, "not_json", text).remedy("Send `Content-Type: application/json`.")
        );
    }
    let body = Limited::new(request.into_body(), MAX_BODY).collect().await;
    Ok(body.map_err(|_| too_large())?.to_bytes())
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    if body.windows(NUL.len()).any(|part| part == NUL) {
        return Err(Problem::invalid("a text in the body holds the character U+0000"));
    }
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => {
            Problem::invalid(format!("the body is not what is wanted here: {error}"))
        }
        _ => {
            let text = format!("the body is not JSON: {error}");
            Problem::new(StatusCode::BAD_REQUEST, "not_json", text)
        }
    })
}

/// The body is larger than any that is wanted, or did not come whole.
pub(crate) fn too_large() -> Problem {
    let text = format!("the body is larger than {MAX_BODY} bytes, or broke off");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text)
}

/// What stands behind the question mark.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        read.map(|Query(asked)| Self(asked))
            .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "bad_query", error.body_text()))
    }
}

/// Which part of a list is wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Paging {
    /// Where the page before ended: its `next`.
    pub(crate) cursor: Option<String>,
    /// How many, 100 unless given and at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<u32>,
}

/// A part of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// The items.
    pub(crate) items: Vec<T>,
    /// What to send as `cursor` for the next page; none, if this is the last.
    pub(crate) next: Option<String>,
}

impl Paging {
    /// How many are wanted.
    pub(crate) fn limit(&self) -> Result<usize> {
        let limit = self.limit.map_or(PAGE, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        if limit == 0 || limit > MAX_PAGE {
            let text = format!("`limit` is between 1 and {MAX_PAGE}");
            return Err(Problem::new(StatusCode::BAD_REQUEST, "bad_query", text));
        }
        Ok(limit)
    }

    /// The page of a list that is in order by a key of its items.
    pub(crate) fn cut<T>(&self, mut items: Vec<T>, key: impl Fn(&T) -> String) -> Result<Page<T>> {
        let limit = self.limit()?;
        if let Some(cursor) = &self.cursor {
            let after = URL_SAFE_NO_PAD.decode(cursor).ok();
            let after = after.and_then(|bytes| String::from_utf8(bytes).ok());
            let after = after.ok_or_else(bad_cursor)?;
            items.retain(|item| key(item) > after);
        }
        let next = (items.len() > limit).then(|| items.get(limit - 1).map(&key)).flatten();
        items.truncate(limit);
        Ok(Page { items, next: next.map(|key| URL_SAFE_NO_PAD.encode(key)) })
    }
}

pub(crate) fn bad_cursor() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad_cursor", "this is no cursor of this list")
}

/// The revision that a change is meant for (`If-Match`); any, if none is given.
pub(crate) fn expected(headers: &HeaderMap) -> Result<Option<i64>> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let revision = text.trim_start_matches("W/").trim_matches('"').strip_prefix('r');
    // An etag that is none of ours cannot match.
    Ok(Some(revision.and_then(|revision| revision.parse().ok()).unwrap_or(-1)))
}

/// A time (RFC 3339) behind the question mark.
pub(crate) fn moment(name: &str, text: Option<&str>) -> Result<Option<SystemTime>> {
    let Some(text) = text else { return Ok(None) };
    humantime::parse_rfc3339_weak(text).map(Some).map_err(|_| {
        let text = format!("`{name}` is a time such as 2026-07-28T10:00:00Z");
        Problem::new(StatusCode::BAD_REQUEST, "bad_query", text)
    })
}

/// The etag of a revision.
pub(crate) fn etag(revision: i64) -> [(header::HeaderName, String); 1] {
    [(header::ETAG, format!("\"r{revision}\""))]
}
