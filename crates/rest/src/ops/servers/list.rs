//! Every server that the caller sees.

use axum::extract::State;
use axum::{Extension, Json};
use switchboard_model::{ServerKey, ServerSpec};

use super::{edited, is_stale};
use crate::answers::{BadQuery, Guarded};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Asked, Page, Paging};
use crate::port::Source;
use crate::view::command::reveal;
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
    let entry = |key: &ServerKey, spec: &ServerSpec| {
        caller.may_change(key, api.store()).then(|| edited::shown(spec))
    };
    let mut servers = Vec::new();
    let mut show = |shown: Shown<'_>| {
        let (key, spec) = (shown.key.clone(), shown.spec);
        let mut view = server(shown);
        if caller.is_administrator() {
            reveal(&mut view, spec);
        }
        servers.push((key, view));
    };
    for (key, source) in &declared.sources {
        let Some(spec) = declared.desired.servers.get(key) else { continue };
        if caller.sees(key, api.store()) {
            let status = api.upstreams().status_of(key);
            let (stats, stale) = (stats.get(key), is_stale(api, key));
            let (hidden_by, status) = (None, status.as_ref());
            let (entry, your_credential) = (entry(key, spec), declared.has_own(key, &caller.user));
            show(Shown {
                key,
                spec,
                source,
                hidden_by,
                status,
                stale,
                stats,
                entry,
                your_credential,
            });
        }
    }
    for (key, row) in &declared.shadowed {
        if caller.sees(key, api.store()) {
            let source = Source::Store(row.clone());
            let (spec, entry) = (&row.spec, entry(key, &row.spec));
            show(Shown {
                key,
                spec,
                source: &source,
                hidden_by: declared.sources.get(key),
                status: None,
                stale: false,
                stats: None,
                entry,
                your_credential: declared.has_own(key, &caller.user),
            });
        }
    }
    Ok(servers)
}
