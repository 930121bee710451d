//! Every agent that the caller sees.

use axum::extract::State;
use axum::{Extension, Json};

use crate::answers::{BadQuery, Guarded};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Asked, Page, Paging};
use crate::view::agent::{AgentView, declared};
use crate::who::Caller;

/// Lists agents
///
/// The caller's own (all, for administrators), and those of the files.
#[utoipa::path(
    get,
    path = "/api/v1/agents",
    tag = "agents",
    params(Paging),
    responses((status = 200, body = Page<AgentView>), BadQuery, Guarded)
)]
pub(super) async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Asked(paging): Asked<Paging>,
) -> Result<Json<Page<AgentView>>> {
    let access = api.store().access();
    let stored = access.agents();
    let theirs = stored
        .iter()
        .filter(|agent| caller.is_administrator() || agent.owner == caller.user)
        .map(|agent| AgentView::from(&**agent));
    let all = api.hub().declared();
    let files = all.desired.agents.iter().filter(|(id, _)| access.agent(id).is_none());
    let mut agents: Vec<AgentView> =
        theirs.chain(files.map(|(id, spec)| declared(id, spec))).collect();
    agents.sort_by(|a, b| a.id.cmp(&b.id));
    paging.cut(agents, |agent| agent.id.clone()).map(Json)
}
