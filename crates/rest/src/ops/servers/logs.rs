//! What a server said last.

use axum::extract::State;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use switchboard_model::{LogLine, mask};
use utoipa::{IntoParams, ToSchema};

use super::find_own;
use crate::answers::{BadQuery, Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Asked, Id};
use crate::who::Caller;

const LINES: usize = 100;

/// How much of the log is wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// How many lines, 100 unless given.
    lines: Option<usize>,
}

/// What a server said.
#[derive(Serialize, ToSchema)]
pub(crate) struct LogView {
    /// The lines, oldest first.
    lines: Vec<LineView>,
}

/// One thing that it said.
#[derive(Serialize, ToSchema)]
pub(crate) struct LineView {
    /// `stderr`, `stdout`, `message` or `hub`.
    source: String,
    /// What, with what looks like a secret masked.
    text: String,
}

/// Shows a server's log
///
/// For those who may change it: what a server says may be about any of its callers.
#[utoipa::path(
    get,
    path = "/api/v1/servers/{id}/logs",
    tag = "servers",
    params(("id" = String, Path, description = "The server."), Wanted),
    responses((status = 200, body = LogView), BadQuery, Guarded, Missing)
)]
pub(super) async fn logs(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<LogView>> {
    let found = find_own(&api, &caller, &id)?;
    let log = api.upstreams().log(&found.key, wanted.lines.unwrap_or(LINES));
    let line = |line: LogLine| LineView {
        source: line.source.as_str().to_owned(),
        text: mask::text(&line.text),
    };
    let lines = log.filter(|_| !found.shadowed).unwrap_or_default();
    Ok(Json(LogView { lines: lines.into_iter().map(line).collect() }))
}
