//! One agent.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};

use super::find;
use crate::answers::{Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Id, etag};
use crate::view::agent::AgentView;
use crate::who::Caller;

/// Shows an agent
#[utoipa::path(
    get,
    path = "/api/v1/agents/{id}",
    tag = "agents",
    params(("id" = String, Path, description = "The agent.")),
    responses(
        (status = 200, body = AgentView, headers(("etag" = String, description = "For If-Match; only of agents that the store declares."))),
        Guarded, Missing
    )
)]
pub(super) async fn get(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Response> {
    let view = find(&api, &caller, &id)?.view();
    Ok(match view.revision {
        Some(revision) => (etag(revision), Json(view)).into_response(),
        None => Json(view).into_response(),
    })
}
