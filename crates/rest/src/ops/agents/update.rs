//! An agent declared anew.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use switchboard_model::AgentSpec;
use utoipa::ToSchema;

use super::{find, servers};
use crate::answers::{BadBody, Conflict, Guarded, Missing, Stale};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Body, Id, etag, expected};
use crate::view::agent::AgentView;
use crate::who::Caller;

/// What an agent is from now on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentDeclaration {
    /// A disabled agent uses nothing; enabled unless given.
    enabled: Option<bool>,
    /// For people.
    description: Option<String>,
    /// The servers it may use; the defaults unless given.
    servers: Option<Vec<String>>,
}

/// Declares an agent anew
///
/// With `If-Match`, only if nobody changed it since it was read.
#[utoipa::path(
    put,
    path = "/api/v1/agents/{id}",
    tag = "agents",
    params(
        ("id" = String, Path, description = "The agent."),
        ("if-match" = Option<String>, Header, description = "The etag that was read."),
    ),
    request_body = AgentDeclaration,
    responses(
        (status = 200, body = AgentView, headers(("etag" = String, description = "For If-Match."))),
        BadBody, Conflict, Guarded, Missing, Stale
    )
)]
pub(super) async fn update(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    headers: HeaderMap,
    Body(new): Body<AgentDeclaration>,
) -> Result<Response> {
    let agent = find(&api, &caller, &id)?.stored()?;
    let spec = AgentSpec {
        enabled: new.enabled.unwrap_or(true),
        servers: servers(new.servers)?,
        description: new.description,
    };
    let (agents, expected) = (api.store().agents(), expected(&headers)?);
    let agent = agents.update(&agent.id, &spec, expected, &caller.actor()).await?;
    api.apply().await?;
    Ok((etag(agent.revision), Json(AgentView::from(&agent))).into_response())
}
