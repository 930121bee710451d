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
use crate::port::{FilePlace, contested};
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
    File(AgentId, FilePlace, Box<AgentView>),
}

impl Found {
    pub(crate) fn view(self) -> AgentView {
        match self {
            Self::Store(agent) => AgentView::from(&*agent),
            Self::File(_, _, view) => *view,
        }
    }

    /// The agent of the store; what a file declares is not changed here.
    pub(super) fn stored(self) -> Result<Arc<Agent>> {
        match self {
            Self::Store(agent) => Ok(agent),
            Self::File(id, place, _) => Err(of_file(&id, &place)),
        }
    }

    /// Whose tokens are meant. They are no part of what a file declares, which nobody owns: for its
    /// agents they are an administrator's to make and to see.
    pub(crate) fn with_tokens(self, caller: &Caller) -> Result<Self> {
        match self {
            Self::File(id, _, _) if !caller.is_administrator() => {
                let text = format!("`{id}` is declared in a file, and nobody owns it");
                Err(Problem::forbidden(text).remedy("Ask an administrator for a token."))
            }
            found => Ok(found),
        }
    }

    /// Whose tools are meant: what nobody owns is for administrators, and for the agent itself.
    pub(super) fn with_tools(self, caller: &Caller) -> Result<Self> {
        match self {
            Self::File(id, _, _) if caller.agent.is_none() && !caller.is_administrator() => {
                let text = format!("`{id}` is declared in a file, and nobody owns it");
                Err(Problem::forbidden(text).remedy("Ask an administrator what it may use."))
            }
            found => Ok(found),
        }
    }

    pub(crate) fn id(&self) -> &AgentId {
        match self {
            Self::Store(agent) => &agent.id,
            Self::File(id, _, _) => id,
        }
    }
}

/// The agent of this id. The file's word counts before the store's. What the caller does not see is not
/// there.
pub(crate) fn find(api: &Api, caller: &Caller, id: &str) -> Result<Found> {
    let missing = || Problem::not_found("agent", id);
    let agent = AgentId::parse(id).map_err(|_| missing())?;
    let all = api.hub().declared();
    if let Some((place, spec)) = all.agents.get(&agent).zip(all.desired.agents.get(&agent)) {
        // Nobody owns the agents of the files: people see all of them, and each sees itself.
        let theirs = caller.agent.as_ref().is_none_or(|own| *own == agent);
        let view = || {
            Box::new(AgentView { problem: contest(api, &agent, place), ..declared(&agent, spec) })
        };
        return theirs
            .then(|| Found::File(agent.clone(), place.clone(), view()))
            .ok_or_else(missing);
    }
    let theirs = caller.is_administrator() || caller.owns(&agent, api.store());
    let stored = api.store().access().agent(&agent).filter(|_| theirs);
    stored.map(Found::Store).ok_or_else(missing)
}

/// What is wrong with an agent of a file: that somebody has one of the same id in the store.
pub(super) fn contest(api: &Api, agent: &AgentId, place: &FilePlace) -> Option<String> {
    let rows = api.store().access().contested();
    rows.iter().find(|row| row.id == *agent).map(|row| contested(row, place))
}

/// A file declares it, and there it is changed.
pub(super) fn of_file(id: &AgentId, place: &FilePlace) -> Problem {
    let text = format!("the agent `{id}` is declared in {place}");
    Problem::conflict("declared_in_file", text).remedy("Change it in that file.")
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
