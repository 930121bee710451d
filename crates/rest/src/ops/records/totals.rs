//! What each server and tool adds up to.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::usage::{Counted, PointView, point, series};
use crate::answers::{BadQuery, Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::Asked;
use crate::view::server::key_id;
use crate::who::Caller;

/// Counts of one tool.
#[derive(Serialize, ToSchema)]
pub(crate) struct TotalView {
    /// Whose it is.
    server: String,
    /// The server's own name of it.
    tool: String,
    /// The counts.
    counts: PointView,
}

/// Counts of each tool.
#[derive(Serialize, ToSchema)]
pub(crate) struct TotalsView {
    /// The most used first.
    totals: Vec<TotalView>,
}

/// Shows usage by tool
#[utoipa::path(
    get,
    path = "/api/v1/usage/totals",
    tag = "records",
    params(Counted),
    responses((status = 200, body = TotalsView), BadQuery, Guarded, Missing)
)]
pub(super) async fn totals(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Asked(counted): Asked<Counted>,
) -> Result<Json<TotalsView>> {
    let (period, of) = series(&api, &caller, counted)?;
    let totals = api.store().usage().totals(period, &of).await?;
    let totals = totals.into_iter().map(|(server, tool, counts)| TotalView {
        server: key_id(&server),
        tool,
        counts: point(&counts),
    });
    Ok(Json(TotalsView { totals: totals.collect() }))
}
