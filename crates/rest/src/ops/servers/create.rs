//! New servers: an entry as our own file has it, one of the catalog, or a client's configuration.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_model::{Scope, ServerKey, ServerSpec};
use utoipa::ToSchema;

use super::change::{self, Approve};
use super::entry;
use crate::answers::{BadBody, Conflict, Guarded};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Body, Page};
use crate::view::server::ServerView;
use crate::who::Caller;

/// A new server: exactly one of `entry`, `catalog` and `config`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewServer {
    /// What it is called; the catalog's name unless given, and of no use with `config`.
    pub(crate) name: Option<String>,
    /// `user` (the caller's own, unless given) or `global` (everybody's, for administrators).
    pub(crate) scope: Option<String>,
    /// Whose it is, with the scope `user`: the caller, unless an administrator says otherwise.
    pub(crate) owner: Option<String>,
    /// An entry of `servers` as our own file has it: `command`, `args`, `env`, `url`, `headers`, ….
    #[schema(value_type = Object)]
    pub(crate) entry: Option<Map<String, Value>>,
    /// A name of the catalog.
    pub(crate) catalog: Option<String>,
    /// The key for the catalog's server; kept encrypted and never shown again.
    #[serde(rename = "apiKey", alias = "api_key")]
    #[schema(write_only)]
    pub(crate) api_key: Option<String>,
    /// The text of a client's configuration, in any dialect that files can have.
    #[schema(write_only)]
    pub(crate) config: Option<String>,
    /// An administrator's word that the command lines may run.
    pub(crate) approve: Option<bool>,
}

/// What was added.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Added {
    /// By an entry, or from the catalog.
    One(Box<ServerView>),
    /// By a configuration.
    Several(Page<ServerView>),
}

/// Adds a server
///
/// Answers when it is connected, or it is known why not. A command line does not start before an
/// administrator has approved it. What a member adds cannot use the hub's environment.
#[utoipa::path(
    post,
    path = "/api/v1/servers",
    tag = "servers",
    request_body = NewServer,
    params(("idempotency-key" = Option<String>, Header, description = "The same request with the same key is done once.")),
    responses((status = 201, body = Added), BadBody, Conflict, Guarded)
)]
pub(super) async fn create(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(new): Body<NewServer>,
) -> Result<(StatusCode, Json<Added>)> {
    let approve = Approve::asked(new.approve, &caller)?;
    let scope = change::scope(&api, &caller, new.scope.as_deref(), new.owner.as_deref())?;
    let several = new.config.is_some();
    let specs = specs(new)?;
    let mut views = add(&api, &caller, &scope, &specs, approve).await?;
    let added = match (several, views.pop()) {
        (false, Some(view)) => Added::One(Box::new(view)),
        (_, last) => {
            views.extend(last);
            Added::Several(Page { items: views, next: None })
        }
    };
    Ok((StatusCode::CREATED, Json(added)))
}

/// Adds these, all or none as far as can be told beforehand.
pub(crate) async fn add(
    api: &Api,
    caller: &Caller,
    scope: &Scope,
    specs: &[ServerSpec],
    approve: Approve,
) -> Result<Vec<ServerView>> {
    let key = |spec: &ServerSpec| ServerKey { scope: scope.clone(), name: spec.name.clone() };
    for spec in specs {
        entry::check(caller, spec)?;
        change::free(api, &key(spec))?;
    }
    for spec in specs {
        change::create(api, caller, &key(spec), spec, approve).await?;
    }
    api.apply().await?;
    let mut views = Vec::with_capacity(specs.len());
    for spec in specs {
        views.push(change::settled(api, &key(spec)).await?);
    }
    Ok(views)
}

fn specs(new: NewServer) -> Result<Vec<ServerSpec>> {
    let name = new.name.as_deref();
    match (new.entry, new.catalog, new.config) {
        (Some(entry), None, None) => {
            let name = name.ok_or_else(|| Problem::invalid("`name` is missing"))?;
            Ok(vec![entry::native(&entry::name(name)?, &entry)?])
        }
        (None, Some(word), None) => Ok(vec![entry::known(&word, name, new.api_key.as_deref())?]),
        (None, None, Some(text)) => entry::pasted(&text),
        _ => {
            let text = "exactly one of `entry`, `catalog` and `config` says what is added";
            Err(Problem::invalid(text))
        }
    }
}
