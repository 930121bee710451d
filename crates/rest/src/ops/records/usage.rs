//! Counts over time.

use axum::extract::State;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use switchboard_model::AgentId;
use switchboard_store::{Period, Point, Series};
use utoipa::{IntoParams, ToSchema};

use super::{whose, word};
use crate::answers::{BadQuery, Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Asked, moment};
use crate::ops::servers;
use crate::view::time::time;
use crate::who::Caller;

/// Which counts.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Counted {
    /// `hour` or `day` (unless given).
    period: Option<String>,
    /// Not before (RFC 3339).
    since: Option<String>,
    /// Before (RFC 3339).
    until: Option<String>,
    /// Of this server.
    server: Option<String>,
    /// Of this tool, by the server's own name.
    tool: Option<String>,
    /// Of this agent.
    agent: Option<String>,
    /// Of this person; a member sees only their own.
    user: Option<String>,
}

/// Counts of one period, or of several added up.
#[derive(Serialize, ToSchema)]
pub(crate) struct PointView {
    /// Where it begins.
    start: String,
    /// Calls, refused ones too.
    calls: u64,
    /// Those that failed.
    errors: u64,
    /// Those that the policy or a person refused.
    denied: u64,
    /// How long they took together.
    duration_us: u64,
    /// How long the slowest took.
    slowest_us: u64,
    /// Bytes of arguments.
    bytes_in: u64,
    /// Bytes of results.
    bytes_out: u64,
}

/// Counts over time.
#[derive(Serialize, ToSchema)]
pub(crate) struct UsageView {
    /// One for each period that had calls, the oldest first.
    points: Vec<PointView>,
}

/// Shows usage over time
#[utoipa::path(
    get,
    path = "/api/v1/usage",
    tag = "records",
    params(Counted),
    responses((status = 200, body = UsageView), BadQuery, Guarded, Missing)
)]
pub(super) async fn usage(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Asked(counted): Asked<Counted>,
) -> Result<Json<UsageView>> {
    let (period, of) = series(&api, &caller, counted)?;
    let points = api.store().usage().series(period, &of).await?;
    Ok(Json(UsageView { points: points.iter().map(point).collect() }))
}

/// What is counted.
pub(super) fn series(api: &Api, caller: &Caller, counted: Counted) -> Result<(Period, Series)> {
    let periods = [("hour", Period::Hour), ("day", Period::Day)];
    let period = word("period", counted.period.as_deref(), &periods, |(word, _)| word)?;
    let agent = counted.agent.as_deref().map(AgentId::parse).transpose();
    let server = counted.server.as_deref();
    let of = Series {
        since: moment("since", counted.since.as_deref())?,
        until: moment("until", counted.until.as_deref())?,
        server: server.map(|id| servers::key(api, caller, id)).transpose()?,
        agent: agent.map_err(|error| Problem::bad_query(format!("`agent`: {error}")))?,
        user: whose(caller, counted.user.as_deref())?,
        tool: counted.tool,
    };
    Ok((period.map_or(Period::Day, |(_, period)| period), of))
}

pub(super) fn point(point: &Point) -> PointView {
    let micros = |took: std::time::Duration| u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    PointView {
        start: time(point.start),
        calls: point.calls,
        errors: point.errors,
        denied: point.denied,
        duration_us: micros(point.duration),
        slowest_us: micros(point.slowest),
        bytes_in: point.bytes_in,
        bytes_out: point.bytes_out,
    }
}
