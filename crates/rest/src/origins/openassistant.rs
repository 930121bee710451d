//! OpenAssistant's `/api/mcp`: list, add or change, remove one's servers.

mod kept;

use std::collections::BTreeMap;

use axum::extract::State;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use switchboard_model::{Scope, ServerKey};
use switchboard_store::Approve;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::kept::{masked, native};
use crate::answers::{BadBody, BadQuery, Conflict, Guarded, Missing};
use crate::api::{Api, Routes};
use crate::error::{Problem, Result};
use crate::input::{Asked, Body};
use crate::ops::servers::change;
use crate::ops::servers::here::Here;
use crate::ops::servers::{create, entry, find_own, list};
use crate::view::server::ServerView;
use crate::who::Caller;

pub(super) fn routes() -> Routes {
    OpenApiRouter::new().routes(routes!(servers, upsert, remove))
}

/// The servers.
#[derive(Serialize, ToSchema)]
struct AssistantServers {
    /// One's own and everybody's.
    servers: Vec<AssistantServer>,
}

/// A server.
#[derive(Serialize, ToSchema)]
struct AssistantServer {
    /// Its id.
    id: String,
    /// Its name.
    name: String,
    /// `stdio` or `http`.
    transport: String,
    /// Whether it may run.
    enabled: bool,
    /// `user` (editable) or `global` (read-only).
    scope: String,
    /// For stdio.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Value>,
    /// For stdio; `***` for what is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
    /// For stdio; `***` for what is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<Value>,
    /// For http, with `***` for what is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<Value>,
    /// For http; `***` for what is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<Value>,
    /// `disconnected`, `connecting`, `connected` or `error`.
    status: String,
    /// Why it is not connected.
    error: Option<String>,
    /// What it offers.
    tools: Vec<AssistantTool>,
}

/// A tool that was discovered.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AssistantTool {
    /// Whose it is.
    server_id: String,
    /// Whose it is, by name.
    server_name: String,
    /// The server's own name of it.
    name: String,
    /// What it says of itself.
    description: Option<String>,
    /// The JSON schema of its arguments.
    #[schema(value_type = Object)]
    input_schema: Value,
    /// The hints, as the server claims them.
    #[schema(value_type = Object)]
    annotations: Value,
}

/// A server to add or change. Of one that is there, what is not given stays, and so does what is given as
/// it was shown, with `***`.
#[derive(Deserialize, ToSchema)]
struct AssistantConfig {
    /// Its name; one's own of that name is changed.
    name: String,
    /// `stdio` or `http`.
    transport: String,
    /// For stdio.
    command: Option<String>,
    /// For stdio.
    args: Option<Vec<String>>,
    /// For stdio; kept encrypted and never shown again. All of them, if any.
    env: Option<BTreeMap<String, String>>,
    /// For http.
    url: Option<String>,
    /// For http; kept encrypted and never shown again. All of them, if any.
    headers: Option<BTreeMap<String, String>>,
    /// Whether it may run; a new one may unless given.
    enabled: Option<bool>,
}

/// Which server.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// Its id, or its name.
    #[serde(alias = "name")]
    id: String,
}

/// What became of it.
#[derive(Serialize, ToSchema)]
struct AssistantDone {
    /// Always true.
    success: bool,
}

/// Lists servers as OpenAssistant does
#[utoipa::path(
    get,
    path = "/api/mcp",
    tag = "origins",
    responses((status = 200, body = AssistantServers), Guarded)
)]
async fn servers(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<AssistantServers>> {
    let servers = list::all(&api, &caller).await?;
    let servers = servers.into_iter().map(|(key, view)| server(&api, &key, view));
    Ok(Json(AssistantServers { servers: servers.collect() }))
}

/// Adds or changes a server as OpenAssistant does
///
/// One's own of that name; answers when it is connected, or it is known why not.
#[utoipa::path(
    post,
    path = "/api/mcp",
    tag = "origins",
    request_body = AssistantConfig,
    responses((status = 200, body = AssistantServer), BadBody, Conflict, Guarded, Missing)
)]
async fn upsert(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    here: Here,
    Body(config): Body<AssistantConfig>,
) -> Result<Json<AssistantServer>> {
    let name = entry::name(&config.name)?;
    let scope = Scope::User(caller.user.clone());
    let key = ServerKey { scope: scope.clone(), name };
    let old = api.store().servers().get(&key).await?.map(|row| row.spec);
    let spec = entry::native(&key.name, &native(&config, old.as_deref())?)?;
    entry::check(&caller, &here, &spec)?;
    let view = match old {
        Some(_) => {
            let how = (None, Approve::Later);
            Some(change::update(&api, &caller, &key, &spec, how).await?)
        }
        None => create::add(&api, (&caller, &here), &scope, &[spec], Approve::Later).await?.pop(),
    };
    let view = view.ok_or_else(|| Problem::not_found("server", key.name.as_str()))?;
    Ok(Json(server(&api, &key, view)))
}

/// Removes a server as OpenAssistant does
#[utoipa::path(
    delete,
    path = "/api/mcp",
    tag = "origins",
    params(Which),
    responses((status = 200, body = AssistantDone), BadQuery, Conflict, Guarded, Missing)
)]
async fn remove(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Asked(which): Asked<Which>,
) -> Result<Json<AssistantDone>> {
    let found = find_own(&api, &caller, &which.id)?;
    found.row()?;
    change::remove(&api, &caller, &found.key, None).await?;
    Ok(Json(AssistantDone { success: true }))
}

/// What is declared about a server that is shown.
fn declared(api: &Api, key: &ServerKey, view: &ServerView) -> Map<String, Value> {
    let declared = api.hub().declared();
    let hidden = declared.shadowed.get(key).filter(|_| view.source.shadowed).map(|row| &row.spec);
    hidden
        .or_else(|| declared.desired.servers.get(key))
        .map(|spec| masked(spec))
        .unwrap_or_default()
}

fn server(api: &Api, key: &ServerKey, view: ServerView) -> AssistantServer {
    let status = match view.state.code.as_str() {
        "connected" => "connected",
        "connecting" => "connecting",
        "disabled" | "disconnected" => "disconnected",
        _ => "error",
    };
    let offered = api.upstreams().catalog(key).filter(|_| status == "connected");
    let tool = |tool: &switchboard_wire::types::ToolEntry| AssistantTool {
        server_id: view.id.clone(),
        server_name: view.name.clone(),
        name: tool.name.clone(),
        description: tool.description().map(|text| text.into_owned()),
        input_schema: serde_json::from_str(tool.input_schema().as_str()).unwrap_or_default(),
        annotations: json!({
            "readOnlyHint": tool.annotations.read_only,
            "destructiveHint": tool.annotations.destructive,
            "idempotentHint": tool.annotations.idempotent,
            "openWorldHint": tool.annotations.open_world,
        }),
    };
    let tools = offered.iter().flat_map(|offered| &offered.tools).map(tool).collect();
    let mut entry = declared(api, key, &view);
    let transport = if view.transport == "stdio" { "stdio" } else { "http" };
    AssistantServer {
        tools,
        command: entry.remove("command"),
        args: entry.remove("args"),
        env: entry.remove("env"),
        url: entry.remove("url"),
        headers: entry.remove("headers"),
        transport: transport.to_owned(),
        error: (status == "error").then_some(view.state.message),
        status: status.to_owned(),
        id: view.id,
        name: view.name,
        enabled: view.enabled,
        scope: view.scope,
    }
}
