//! New servers: an entry as our own file has it, one of the catalog, or a client's configuration.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_model::{Scope, ServerKey, ServerSpec};
use switchboard_store::Approve;
use utoipa::ToSchema;

use super::here::Here;
use super::{catalog, change, entry};
use crate::answers::{BadBody, Conflict, Guarded};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Body, etag};
use crate::view::server::ServerView;
use crate::who::Caller;

/// A new server: exactly one of `entry`, `catalog` (or `serverType`) and `config`.
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
    /// The same in Nebo's words: in any case, and `slack` too.
    #[serde(rename = "serverType", alias = "server_type")]
    pub(crate) server_type: Option<String>,
    /// How the catalog's server is reached, in Nebo's words: `none`, `api_key` or `oauth`. It must be so.
    #[serde(rename = "authType", alias = "auth_type")]
    pub(crate) auth_type: Option<String>,
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
    Several(AddedSeveral),
}

/// What a configuration added.
#[derive(Serialize, ToSchema)]
pub(crate) struct AddedSeveral {
    /// The servers.
    items: Vec<ServerView>,
    /// What it names besides, and why that was not added.
    left_out: Vec<LeftOut>,
}

/// What was not added.
#[derive(Serialize, ToSchema)]
pub(crate) struct LeftOut {
    /// Its name in the configuration.
    name: String,
    /// Why.
    reason: String,
}

/// Adds a server
///
/// Answers when it is connected, or it is known why not. A command line does not start before an
/// administrator has approved it. What a member adds cannot use the hub's environment. This hub itself is no
/// server: it is refused, and left out of a client's configuration.
#[utoipa::path(
    post,
    path = "/api/v1/servers",
    tag = "servers",
    request_body = NewServer,
    params(("idempotency-key" = Option<String>, Header, description = "The same request with the same key is done once.")),
    responses(
        (status = 201, body = Added, headers(
            ("etag" = String, description = "For If-Match; of one server."),
            ("location" = String, description = "Where it is; of one server."),
        )),
        BadBody, Conflict, Guarded
    )
)]
pub(super) async fn create(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    here: Here,
    Body(new): Body<NewServer>,
) -> Result<Response> {
    let approve = change::approval(new.approve, &caller)?;
    let scope = change::scope(&api, &caller, new.scope.as_deref(), new.owner.as_deref())?;
    if let Some(text) = alone(&new)? {
        let pasted = entry::pasted(text, here.addresses())?;
        if pasted.specs.is_empty() {
            return Err(Problem::invalid("the text declares no server but this hub itself"));
        }
        let items = add(&api, (&caller, &here), &scope, &pasted.specs, approve).await?;
        let reason = "it is this hub's own endpoint, not a server".to_owned();
        let left_out = |name| LeftOut { name, reason: reason.clone() };
        let left_out = pasted.own.into_iter().map(left_out).collect();
        let added = Added::Several(AddedSeveral { items, left_out });
        return Ok((StatusCode::CREATED, Json(added)).into_response());
    }
    let spec = spec(new)?;
    let name = spec.name.clone();
    let view = add(&api, (&caller, &here), &scope, &[spec], approve).await?.pop();
    let view = view.ok_or_else(|| Problem::not_found("server", name.as_str()))?;
    let location = [(header::LOCATION, format!("/api/v1/servers/{}", view.id))];
    let etag = etag(view.revision.unwrap_or_default());
    let added = Json(Added::One(Box::new(view)));
    Ok((StatusCode::CREATED, location, etag, added).into_response())
}

/// Adds these, all or none.
pub(crate) async fn add(
    api: &Api,
    (caller, here): (&Caller, &Here),
    scope: &Scope,
    specs: &[ServerSpec],
    approve: Approve,
) -> Result<Vec<ServerView>> {
    let key = |spec: &ServerSpec| ServerKey { scope: scope.clone(), name: spec.name.clone() };
    for spec in specs {
        entry::check(caller, here, spec)?;
        change::free(api, &key(spec))?;
    }
    let new: Vec<(ServerKey, &ServerSpec)> = specs.iter().map(|spec| (key(spec), spec)).collect();
    api.store().servers().create_all(&new, approve, &caller.actor()).await?;
    api.apply().await?;
    let mut views = Vec::with_capacity(specs.len());
    for spec in specs {
        views.push(change::settled(api, caller, &key(spec)).await?);
    }
    Ok(views)
}

/// The text of a configuration, if there is one and nothing else.
fn alone(new: &NewServer) -> Result<Option<&str>> {
    let known = new.catalog.as_ref().or(new.server_type.as_ref());
    if new.catalog.is_some() && new.server_type.is_some() {
        let text = "`serverType` is another word for `catalog`: one of them says what is added";
        return Err(Problem::invalid(text));
    }
    if known.is_none() && (new.auth_type.is_some() || new.api_key.is_some()) {
        let text = "`authType` and `apiKey` are for a server of the catalog";
        return Err(Problem::invalid(text).remedy("An `entry` has its own `auth`."));
    }
    match (&new.entry, known, &new.config) {
        (None, None, Some(text)) => Ok(Some(text)),
        (Some(_), None, None) | (None, Some(_), None) => Ok(None),
        _ => {
            let text = "exactly one of `entry`, `catalog` and `config` says what is added";
            Err(Problem::invalid(text))
        }
    }
}

fn spec(new: NewServer) -> Result<ServerSpec> {
    let name = new.name.as_deref();
    if let Some(entry) = &new.entry {
        let name = name.ok_or_else(|| Problem::invalid("`name` is missing"))?;
        return entry::native(&entry::name(name)?, entry);
    }
    let key = new.api_key.as_deref();
    let spec = match (&new.catalog, &new.server_type) {
        (None, Some(word)) => {
            let known = catalog::name_of_type(word).ok_or_else(|| catalog::unknown(word))?;
            catalog::known(known, Some(name.unwrap_or(catalog::type_of(known))), key)?
        }
        (word, _) => catalog::known(word.as_deref().unwrap_or_default(), name, key)?,
    };
    catalog::check_type(&spec, new.auth_type.as_deref(), key)?;
    Ok(spec)
}
