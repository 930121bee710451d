//! Servers: finding the one that is meant, and showing them.

mod approve;
pub(crate) mod catalog;
pub(crate) mod change;
pub(crate) mod create;
mod credential;
mod disable;
pub(crate) mod edited;
mod enable;
pub(crate) mod entry;
mod get;
pub(crate) mod here;
pub(crate) mod list;
mod logs;
mod reconnect;
mod remove;
mod remove_credential;
mod set_credential;
mod test;
mod update;

use std::sync::Arc;

use switchboard_core::registry::Freshness;
use switchboard_model::{AgentId, Scope, ServerKey, ServerName, ServerSpec, UserId};
use switchboard_store::ServerRow;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{Api, Routes};
use crate::error::{Problem, Result};
use crate::port::{Declared, Source};
use crate::view::server::{self, ServerView, Shown};
use crate::who::Caller;

pub(super) fn routes() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(get::get, update::update, remove::remove))
        .routes(routes!(enable::enable))
        .routes(routes!(disable::disable))
        .routes(routes!(approve::approve))
        .routes(routes!(reconnect::reconnect))
        .routes(routes!(test::test))
        .routes(routes!(logs::logs))
        .routes(routes!(set_credential::set_credential, remove_credential::remove_credential))
}

/// A server that somebody meant.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) key: ServerKey,
    pub(crate) source: Source,
    /// Whether it is one of the store's that does not run since a file's counts instead.
    pub(crate) shadowed: bool,
}

impl Found {
    /// The row of the store; what a file declares is not changed here.
    pub(crate) fn row(&self) -> Result<&Arc<ServerRow>> {
        match &self.source {
            Source::Store(row) => Ok(row),
            Source::File { path, line } => {
                let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
                let text = format!("`{}` is declared in {}{line}", self.key.name, path.display());
                let remedy = "Change it in that file, or with `switchboard add` and `remove`.";
                Err(Problem::conflict("declared_in_file", text).remedy(remedy))
            }
            Source::Credential { shared, .. } => {
                let text = format!("{} is {shared}, with a credential of one person's", self.key);
                let remedy = "Change the server itself, or forget the credential.";
                Err(Problem::conflict("shared_server", text).remedy(remedy))
            }
        }
    }
}

/// The server that `id` means: an id, `global:NAME`, `user:ada:NAME`, `agent:cto:NAME`, or a name alone,
/// which is the caller's own before everybody's. What the caller does not see is not there.
pub(crate) fn find(api: &Api, caller: &Caller, id: &str) -> Result<Found> {
    let declared = api.hub().declared();
    let found = by_id(&declared, id).or_else(|| by_key(&declared, &parse(id)?)).or_else(|| {
        let name = ServerName::parse(id).ok()?;
        let own = ServerKey { scope: Scope::User(caller.user.clone()), name: name.clone() };
        by_key(&declared, &own).or_else(|| by_key(&declared, &ServerKey::global(name)))
    });
    found
        .filter(|found| caller.sees(&found.key, api.store()))
        .ok_or_else(|| Problem::not_found("server", id))
}

/// The same, if the caller may change it.
pub(crate) fn find_own(api: &Api, caller: &Caller, id: &str) -> Result<Found> {
    let found = find(api, caller, id)?;
    if !caller.may_change(&found.key, api.store()) {
        return Err(Problem::forbidden(format!("only an administrator changes {}", found.key)));
    }
    Ok(found)
}

/// The key that `id` means, also of a server that is no more: for what is written down about it.
pub(crate) fn key(api: &Api, caller: &Caller, id: &str) -> Result<ServerKey> {
    let gone = || parse(id).filter(|key| caller.sees(key, api.store()));
    find(api, caller, id).map(|found| found.key).or_else(|problem| gone().ok_or(problem))
}

/// A server as it stands now, for whoever asks.
pub(crate) async fn shown(api: &Api, caller: &Caller, found: &Found) -> Result<ServerView> {
    let stats = api.store().servers().stats(&found.key).await?;
    let declared = api.hub().declared();
    // How the file's stands, and what happened to it, is the file's.
    let hidden_by = declared.sources.get(&found.key).filter(|_| found.shadowed);
    let status = api.upstreams().status_of(&found.key).filter(|_| !found.shadowed);
    let spec = self::spec(api, found)?;
    Ok(server::server(Shown {
        key: &found.key,
        spec: &spec,
        source: &found.source,
        hidden_by,
        status: status.as_ref(),
        stale: !found.shadowed && is_stale(api, &found.key),
        stats: Some(&stats).filter(|_| !found.shadowed),
        entry: caller.may_change(&found.key, api.store()).then(|| edited::shown(&spec)),
        your_credential: declared.has_own(&found.key, &caller.user),
    }))
}

/// What is declared about it.
pub(crate) fn spec(api: &Api, found: &Found) -> Result<Arc<ServerSpec>> {
    match &found.source {
        Source::Store(row) => Ok(row.spec.clone()),
        Source::File { .. } | Source::Credential { .. } => {
            let spec = api.hub().declared().desired.servers.get(&found.key).cloned();
            spec.ok_or_else(|| Problem::not_found("server", found.key.name.as_str()))
        }
    }
}

/// Whether what a server offers now is on offer.
fn is_live(api: &Api, key: &ServerKey) -> bool {
    let now = api.registry().load();
    now.offer(key).is_some_and(|offer| offer.freshness == Freshness::Live)
}

/// Whether what a server offers is what it offered when it was last there.
pub(crate) fn is_stale(api: &Api, key: &ServerKey) -> bool {
    let now = api.registry().load();
    now.offer(key).is_some_and(|offer| offer.freshness == Freshness::Stale)
}

fn by_id(declared: &Declared, id: &str) -> Option<Found> {
    let sources = declared.sources.iter().map(|(key, source)| (key, source.clone(), false));
    let shadowed = declared.shadowed.iter();
    let shadowed = shadowed.map(|(key, row)| (key, Source::Store(row.clone()), true));
    let mut all = sources.chain(shadowed);
    let (key, source, shadowed) = all.find(|(key, source, _)| server::id(key, source) == id)?;
    Some(Found { key: key.clone(), source, shadowed })
}

fn by_key(declared: &Declared, key: &ServerKey) -> Option<Found> {
    let source = declared.sources.get(key)?.clone();
    Some(Found { key: key.clone(), source, shadowed: false })
}

fn parse(id: &str) -> Option<ServerKey> {
    let (word, rest) = id.split_once(':')?;
    let (scope, name) = match word {
        "global" => (Scope::Global, rest),
        "user" => {
            let (user, name) = rest.split_once(':')?;
            (Scope::User(UserId::parse(user).ok()?), name)
        }
        "agent" => {
            let (agent, name) = rest.split_once(':')?;
            (Scope::Agent(AgentId::parse(agent).ok()?), name)
        }
        _ => return None,
    };
    Some(ServerKey { scope, name: ServerName::parse(name).ok()? })
}
