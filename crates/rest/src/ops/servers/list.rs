//! Every server that the caller sees.

use axum::extract::State;
use axum::{Extension, Json};
use switchboard_model::ServerKey;

use crate::answers::{BadQuery, Guarded};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Asked, Page, Paging};
use crate::port::Source;
use crate::view::server::{ServerView, Shown, server};
use crate::who::Caller;

/// Lists servers
///
/// Those of the files and of the store: everybody's, and the caller's own.
#[utoipa::path(
    get,
    path = "/api/v1/servers",
    tag = "servers",
    params(Paging),
    responses(
        (status = 200, body = Page<ServerView>),
        BadQuery, Guarded,
    )
)]
pub(super) async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Asked(paging): Asked<Paging>,
) -> Result<Json<Page<ServerView>>> {
    let servers = all(&api, &caller).await?;
    let mut servers: Vec<ServerView> = servers.into_iter().map(|(_, view)| view).collect();
    let order = |view: &ServerView| format!("{}\0{}", view.name, view.id);
    servers.sort_by_key(order);
    paging.cut(servers, order).map(Json)
}

/// Every server that somebody sees, those of files first.
pub(crate) async fn all(api: &Api, caller: &Caller) -> Result<Vec<(ServerKey, ServerView)>> {
    let declared = api.hub().declared();
    let stats = api.store().servers().all_stats().await?;
    let mut servers = Vec::new();
    for (key, source) in &declared.sources {
        let Some(spec) = declared.desired.servers.get(key) else { continue };
        if caller.sees(key, api.store()) {
            let status = api.upstreams().status_of(key);
            let stats = stats.get(key);
            let shown = Shown { key, spec, source, status: status.as_ref(), stats };
            servers.push((key.clone(), server(&shown)));
        }
    }
    for (key, row) in &declared.shadowed {
        if caller.sees(key, api.store()) {
            let source = Source::Store(row.clone());
            let stats = stats.get(key);
            let shown = Shown { key, spec: &row.spec, source: &source, status: None, stats };
            servers.push((key.clone(), server(&shown)));
        }
    }
    Ok(servers)
}
