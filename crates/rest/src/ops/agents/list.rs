//! Every agent that the caller sees.

use axum::extract::State;
use axum::{Extension, Json};

use super::contest;
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
    let all = api.hub().declared();
    let stored = api.store().access().agents();
    let theirs = stored
        .iter()
        .filter(|agent| !all.agents.contains_key(&agent.id))
        .filter(|agent| caller.is_administrator() || agent.owner == caller.user)
        .map(|agent| AgentView::from(&**agent));
    let files = all.agents.iter().filter_map(|(id, place)| {
        let problem = contest(&api, id, place);
        Some(AgentView { problem, ..declared(id, all.desired.agents.get(id)?) })
    });
    let mut agents: Vec<AgentView> = theirs.chain(files).collect();
    agents.sort_by(|a, b| a.id.cmp(&b.id));
    paging.cut(agents, |agent| agent.id.clone()).map(Json)
}
