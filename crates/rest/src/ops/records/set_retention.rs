//! How much of the audit log is kept from now on.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use switchboard_store::Retention;
use utoipa::ToSchema;

use super::retention::{RetentionView, shown};
use crate::answers::{BadBody, Guarded, Stale};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Body, expected};
use crate::who::Caller;

/// A hundred years.
const MOST_DAYS: u32 = 36_500;
/// What every database can count.
const MOST_ROWS: u64 = i64::MAX.unsigned_abs();
/// A million gigabytes.
const MOST_MEGABYTES: u64 = 1_000_000_000;

/// How much of the audit log is kept.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRetention {
    /// Rows that are older go; `null` or nothing keeps them however old.
    #[schema(minimum = 1, maximum = 36500)]
    days: Option<u32>,
    /// The oldest beyond so many go; `null` or nothing keeps them however many.
    #[schema(minimum = 1)]
    rows: Option<u64>,
    /// The oldest go until the rows take so many million bytes at most; `null` or nothing keeps them however large.
    #[schema(minimum = 1, maximum = 1000000000)]
    megabytes: Option<u64>,
}

/// Says how much of the audit log is kept
///
/// What is beyond it goes soon after. With `If-Match`, only if nobody changed it since it was read.
#[utoipa::path(
    put,
    path = "/api/v1/audit/retention",
    tag = "records",
    params(("if-match" = Option<String>, Header, description = "The etag that was read.")),
    request_body = NewRetention,
    responses(
        (status = 200, body = RetentionView, headers(("etag" = String, description = "For If-Match."))),
        BadBody, Guarded, Stale
    )
)]
pub(super) async fn set_retention(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Body(new): Body<NewRetention>,
) -> Result<Response> {
    if new.days.is_some_and(|days| !(1..=MOST_DAYS).contains(&days)) {
        return Err(Problem::invalid(format!("`days` is between 1 and {MOST_DAYS}, or `null`")));
    }
    if new.rows.is_some_and(|rows| !(1..=MOST_ROWS).contains(&rows)) {
        return Err(Problem::invalid("`rows` is 1 at least, or `null`"));
    }
    if new.megabytes.is_some_and(|megabytes| !(1..=MOST_MEGABYTES).contains(&megabytes)) {
        let text = format!("`megabytes` is between 1 and {MOST_MEGABYTES}, or `null`");
        return Err(Problem::invalid(text));
    }
    let keep = Retention::of(new.days, new.rows, new.megabytes);
    let (settings, expected) = (api.store().settings(), expected(&headers)?);
    Ok(shown(&settings.set_retention(keep, expected, &caller.actor()).await?))
}
