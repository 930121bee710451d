//! Agents: finding the one that is meant. Those of the files are shown and not changed.

mod create;
mod get;
mod list;
mod remove;
mod tools;
mod update;

use std::collections::BTreeSet;
use std::sync::Arc;

use switchboard_model::{AgentId, ServerName};
use switchboard_store::Agent;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{Api, Routes};
use crate::error::{Problem, Result};
use crate::view::agent::{AgentView, declared};
use crate::who::Caller;

pub(super) fn routes() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(get::get, update::update, remove::remove))
        .routes(routes!(tools::tools))
}

/// An agent that somebody meant.
pub(crate) enum Found {
    /// Of the store.
    Store(Arc<Agent>),
    /// Of a file.
    File(AgentView),
}

impl Found {
    pub(crate) fn view(self) -> AgentView {
        match self {
            Self::Store(agent) => AgentView::from(&*agent),
            Self::File(view) => view,
        }
    }

    /// The agent of the store; what a file declares is not changed here.
    pub(super) fn stored(self) -> Result<Arc<Agent>> {
        match self {
            Self::Store(agent) => Ok(agent),
            Self::File(view) => {
                let text = format!("the agent `{}` is declared in a file", view.id);
                let remedy = "Change it in that file.";
                Err(Problem::conflict("declared_in_file", text).remedy(remedy))
            }
        }
    }
}

/// The agent of this id. What the caller does not see is not there.
pub(crate) fn find(api: &Api, caller: &Caller, id: &str) -> Result<Found> {
    let missing = || Problem::not_found("agent", id);
    let agent = AgentId::parse(id).map_err(|_| missing())?;
    if let Some(stored) = api.store().access().agent(&agent) {
        let theirs = caller.is_administrator() || caller.owns(&agent, api.store());
        return theirs.then_some(Found::Store(stored)).ok_or_else(missing);
    }
    // Nobody owns the agents of the files: an agent that asks is not one of them.
    let all = api.hub().declared();
    let spec = all.desired.agents.get(&agent).filter(|_| caller.agent.is_none());
    spec.map(|spec| Found::File(declared(&agent, spec))).ok_or_else(missing)
}

/// Names of servers that an agent may use.
pub(super) fn servers(names: Option<Vec<String>>) -> Result<Option<BTreeSet<ServerName>>> {
    let Some(names) = names else { return Ok(None) };
    let parse = |name: &String| {
        let bad = |error| Problem::invalid(format!("`servers`: `{name}`: {error}"));
        ServerName::parse(name).map_err(bad)
    };
    names.iter().map(parse).collect::<Result<_>>().map(Some)
}
