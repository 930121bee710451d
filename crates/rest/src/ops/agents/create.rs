//! A new agent.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use switchboard_model::{AgentId, AgentSpec, UserId};
use utoipa::ToSchema;

use super::{of_file, servers};
use crate::answers::{BadBody, Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::Body;
use crate::view::agent::AgentView;
use crate::who::Caller;

/// The agent that whoever runs the hub is over a pipe: it must not have a member's servers.
const LOCAL: &str = "local";

/// A new agent.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAgent {
    /// Who it is: letters, digits, `_`, `-` and `.`.
    id: String,
    /// Whose it is: the caller's, unless an administrator says otherwise.
    owner: Option<String>,
    /// A disabled agent uses nothing; enabled unless given.
    enabled: Option<bool>,
    /// For people.
    description: Option<String>,
    /// The servers it may use; the defaults unless given.
    servers: Option<Vec<String>>,
}

/// Adds an agent
#[utoipa::path(
    post,
    path = "/api/v1/agents",
    tag = "agents",
    request_body = NewAgent,
    params(("idempotency-key" = Option<String>, Header, description = "The same request with the same key is done once.")),
    responses((status = 201, body = AgentView), BadBody, Conflict, Guarded, Missing)
)]
pub(super) async fn create(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(new): Body<NewAgent>,
) -> Result<(StatusCode, Json<AgentView>)> {
    let bad = |name: &'static str| move |error| Problem::invalid(format!("`{name}`: {error}"));
    let id = AgentId::parse(&new.id).map_err(bad("id"))?;
    let owner = match &new.owner {
        Some(owner) => UserId::parse(owner).map_err(bad("owner"))?,
        None => caller.user.clone(),
    };
    if owner != caller.user && !caller.is_administrator() {
        return Err(Problem::forbidden("only an administrator adds agents for others"));
    }
    if api.store().access().user(&owner).is_none() {
        return Err(Problem::not_found("user", owner.as_str()));
    }
    if new.id == LOCAL && !caller.is_administrator() {
        return Err(Problem::forbidden(format!("`{LOCAL}` is the agent of the hub's own user")));
    }
    let declared = api.hub().declared();
    if let Some(place) = declared.agents.get(&id) {
        return Err(of_file(&id, place));
    }
    if declared.desired.agents.contains_key(&id) {
        let text = format!("there is an agent `{id}` already");
        return Err(Problem::conflict("exists", text).remedy("Choose another id."));
    }
    let spec = AgentSpec {
        enabled: new.enabled.unwrap_or(true),
        servers: servers(new.servers)?,
        description: new.description,
    };
    let agent = api.store().agents().create(&id, &owner, &spec, &caller.actor()).await?;
    api.apply().await?;
    Ok((StatusCode::CREATED, Json(AgentView::from(&agent))))
}
