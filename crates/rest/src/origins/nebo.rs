//! Nebo's `/integrations`: its words for what a server is, and its real test.

mod shape;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use switchboard_store::Approve;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::shape::{
    Integration, IntegrationChange, IntegrationTest, Integrations, NewIntegration, OneIntegration,
    changed, integration, spec,
};
use crate::answers::{BadBody, Conflict, Guarded, Missing};
use crate::api::{Api, Routes};
use crate::error::{Problem, Result};
use crate::input::{Body, Id};
use crate::ops::servers::change;
use crate::ops::servers::here::Here;
use crate::ops::servers::{catalog, create, entry, find, find_own, list, shown};
use crate::who::Caller;

pub(super) fn routes() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(integrations, add))
        .routes(routes!(get, update, remove))
        .routes(routes!(test))
        .routes(routes!(reconnect))
}

/// Lists servers as Nebo does
#[utoipa::path(
    get,
    path = "/integrations",
    tag = "origins",
    responses((status = 200, body = Integrations), Guarded)
)]
async fn integrations(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Integrations>> {
    let servers = list::all(&api, &caller).await?;
    let integrations: Vec<Integration> =
        servers.into_iter().map(|(_, view)| integration(view)).collect();
    Ok(Json(Integrations { integrations }))
}

/// Adds a server as Nebo does
///
/// `serverType` is a name of the catalog, or `custom`.
#[utoipa::path(
    post,
    path = "/integrations",
    tag = "origins",
    request_body = NewIntegration,
    params(("idempotency-key" = Option<String>, Header, description = "The same request with the same key is done once.")),
    responses((status = 201, body = OneIntegration), BadBody, Conflict, Guarded)
)]
async fn add(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    here: Here,
    Body(new): Body<NewIntegration>,
) -> Result<(StatusCode, Json<OneIntegration>)> {
    let (scope, spec) = (change::scope(&api, &caller, None, None)?, spec(&new)?);
    let name = spec.name.clone();
    let made = create::add(&api, (&caller, &here), &scope, &[spec], Approve::Later).await?.pop();
    let made = made.ok_or_else(|| Problem::not_found("integration", name.as_str()))?;
    Ok((StatusCode::CREATED, Json(OneIntegration { integration: integration(made) })))
}

/// Shows a server as Nebo does
#[utoipa::path(
    get,
    path = "/integrations/{id}",
    tag = "origins",
    params(("id" = String, Path, description = "The integration.")),
    responses((status = 200, body = OneIntegration), Guarded, Missing)
)]
async fn get(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<OneIntegration>> {
    let view = shown(&api, &caller, &find(&api, &caller, &id)?).await?;
    Ok(Json(OneIntegration { integration: integration(view) }))
}

/// Changes a server as Nebo does
///
/// What is not given stays.
#[utoipa::path(
    put,
    path = "/integrations/{id}",
    tag = "origins",
    params(("id" = String, Path, description = "The integration.")),
    request_body = IntegrationChange,
    responses((status = 200, body = OneIntegration), BadBody, Conflict, Guarded, Missing)
)]
async fn update(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    here: Here,
    Body(wanted): Body<IntegrationChange>,
) -> Result<Json<OneIntegration>> {
    let found = find_own(&api, &caller, &id)?;
    let old = &found.row()?.spec;
    if wanted.name.as_deref().is_some_and(|name| name != old.name.as_str()) {
        return Err(Problem::invalid("a server keeps its name: delete it and add another"));
    }
    let mut spec = entry::native(&old.name, &changed(old, &wanted)?)?;
    if let Some(key) = &wanted.api_key {
        catalog::set_key(&mut spec, key)?;
    }
    entry::check(&caller, &here, &spec)?;
    let how = (None, Approve::Later);
    let view = change::update(&api, &caller, &found.key, &spec, how).await?;
    Ok(Json(OneIntegration { integration: integration(view) }))
}

/// Deletes a server as Nebo does
#[utoipa::path(
    delete,
    path = "/integrations/{id}",
    tag = "origins",
    params(("id" = String, Path, description = "The integration.")),
    responses((status = 204), Conflict, Guarded, Missing)
)]
async fn remove(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<StatusCode> {
    let found = find_own(&api, &caller, &id)?;
    found.row()?;
    change::remove(&api, &caller, &found.key, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Tests a server as Nebo does
///
/// Really connects, for at most ten seconds.
#[utoipa::path(
    post,
    path = "/integrations/{id}/test",
    tag = "origins",
    params(("id" = String, Path, description = "The integration.")),
    responses((status = 200, body = IntegrationTest), Guarded, Missing)
)]
async fn test(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<IntegrationTest>> {
    let tried = change::test(&api, &caller, &find_own(&api, &caller, &id)?).await?;
    Ok(Json(IntegrationTest {
        success: tried.success,
        message: tried.message,
        tool_count: tried.tools.len(),
        tools: tried.tools,
    }))
}

/// Connects a server anew as Nebo does
#[utoipa::path(
    post,
    path = "/integrations/{id}/reconnect",
    tag = "origins",
    params(("id" = String, Path, description = "The integration.")),
    responses((status = 200, body = OneIntegration), Guarded, Missing)
)]
async fn reconnect(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<OneIntegration>> {
    let view = change::reconnect(&api, &caller, &find_own(&api, &caller, &id)?).await?;
    Ok(Json(OneIntegration { integration: integration(view) }))
}
