//! Spacebot's `GET /api/agents/mcp` and `POST /api/agents/mcp/reconnect`.

use axum::extract::State;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use switchboard_model::{AgentId, ServerKey};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answers::{BadBody, BadQuery, Guarded, Missing};
use crate::api::{Api, Routes};
use crate::error::{Problem, Result};
use crate::input::{Asked, Body};
use crate::ops::agents;
use crate::ops::servers::{change, find_own, list};
use crate::view::server::ServerView;
use crate::who::Caller;

pub(super) fn routes() -> Routes {
    OpenApiRouter::new().routes(routes!(status)).routes(routes!(reconnect))
}

/// Whose servers.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Whose {
    /// Those of this agent; all that the caller sees unless given.
    agent_id: Option<String>,
}

/// The servers.
#[derive(Serialize, ToSchema)]
struct SpacebotServers {
    /// Each with its state.
    servers: Vec<SpacebotServer>,
}

/// A server.
#[derive(Serialize, ToSchema)]
struct SpacebotServer {
    /// Its name.
    name: String,
    /// `stdio` or `http`.
    transport: String,
    /// Whether it may run.
    enabled: bool,
    /// `connecting`, `connected`, `failed` or `disconnected`.
    state: String,
    /// Why it failed.
    error: Option<String>,
    /// How many tools it offers.
    tool_count: usize,
}

/// Which server is connected anew.
#[derive(Deserialize, ToSchema)]
struct SpacebotReconnect {
    /// The server's name.
    #[serde(alias = "name")]
    server_name: String,
    /// The agent that it is connected for; the hub has one connection for all.
    #[serde(default)]
    agent_id: Option<String>,
}

/// What became of it.
#[derive(Serialize, ToSchema)]
struct SpacebotReconnected {
    /// Whether it is connected.
    success: bool,
    /// How it stands.
    server: SpacebotServer,
}

/// Lists servers as Spacebot does
#[utoipa::path(
    get,
    path = "/api/agents/mcp",
    tag = "origins",
    params(Whose),
    responses((status = 200, body = SpacebotServers), BadQuery, Guarded, Missing)
)]
async fn status(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Asked(whose): Asked<Whose>,
) -> Result<Json<SpacebotServers>> {
    let agent = match &whose.agent_id {
        Some(id) => {
            agents::find(&api, &caller, id)?;
            Some(AgentId::parse(id).map_err(|_| Problem::not_found("agent", id))?)
        }
        None => None,
    };
    let now = api.registry().load();
    let theirs = |key: &ServerKey| agent.as_ref().is_none_or(|agent| now.may_see(agent, key));
    let servers = list::all(&api, &caller).await?;
    let servers = servers.into_iter().filter(|(key, _)| theirs(key));
    Ok(Json(SpacebotServers { servers: servers.map(|(_, view)| server(view)).collect() }))
}

/// Connects a server anew as Spacebot does
#[utoipa::path(
    post,
    path = "/api/agents/mcp/reconnect",
    tag = "origins",
    request_body = SpacebotReconnect,
    responses((status = 200, body = SpacebotReconnected), BadBody, Guarded, Missing)
)]
async fn reconnect(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(wanted): Body<SpacebotReconnect>,
) -> Result<Json<SpacebotReconnected>> {
    if let Some(agent) = &wanted.agent_id {
        agents::find(&api, &caller, agent)?;
    }
    let found = find_own(&api, &caller, &wanted.server_name)?;
    let view = change::reconnect(&api, &caller, &found).await?;
    let success = view.state.code == "connected";
    Ok(Json(SpacebotReconnected { success, server: server(view) }))
}

fn server(view: ServerView) -> SpacebotServer {
    let state = match view.state.code.as_str() {
        "connected" => "connected",
        "connecting" => "connecting",
        "failed" | "needs_setup" | "needs_approval" | "needs_auth" => "failed",
        _ => "disconnected",
    };
    let transport = if view.transport == "stdio" { "stdio" } else { "http" };
    SpacebotServer {
        name: view.name,
        transport: transport.to_owned(),
        enabled: view.enabled,
        error: (state == "failed").then_some(view.state.message),
        tool_count: view.state.tools,
        state: state.to_owned(),
    }
}
