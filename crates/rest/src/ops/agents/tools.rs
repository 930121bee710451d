//! What an agent may use.

use axum::extract::State;
use axum::{Extension, Json};

use super::find;
use crate::answers::{BadQuery, Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Asked, Id, Page, Paging};
use crate::ops::tools::page;
use crate::view::tool::ToolView;
use crate::who::Caller;

/// Lists an agent's tools
///
/// For the agent itself, its owner and administrators; nobody owns those of the files.
#[utoipa::path(
    get,
    path = "/api/v1/agents/{id}/tools",
    tag = "agents",
    params(("id" = String, Path, description = "The agent."), Paging),
    responses((status = 200, body = Page<ToolView>), BadQuery, Guarded, Missing)
)]
pub(super) async fn tools(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Asked(paging): Asked<Paging>,
) -> Result<Json<Page<ToolView>>> {
    let found = find(&api, &caller, &id)?.with_tools(&caller)?;
    let view = api.registry().load().agent(found.id(), api.models());
    page(&paging, view.as_deref(), |_| true).map(Json)
}
