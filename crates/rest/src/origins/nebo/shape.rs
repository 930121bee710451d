//! Nebo's words, and what they are in ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use switchboard_model::{Auth, SecretTemplate, ServerSpec, Template, Transport};
use utoipa::ToSchema;

use crate::error::{Problem, Result};
use crate::ops::servers::catalog::{self, name_of_type, type_of};
use crate::ops::servers::{edited, entry};
use crate::view::server::ServerView;

/// What Nebo calls a server that nobody knows.
const CUSTOM: &str = "custom";

/// A server to add.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewIntegration {
    /// What it is called; its type unless given.
    pub(super) name: Option<String>,
    /// A name of the catalog (`slack` and upper case too), or `custom`.
    pub(super) server_type: String,
    /// Where it is.
    pub(super) server_url: Option<String>,
    /// `none`, `api_key` or `oauth`.
    pub(super) auth_type: Option<String>,
    /// Its key; kept encrypted and never shown again.
    #[schema(write_only)]
    pub(super) api_key: Option<String>,
    /// `http` (unless given), `stdio` or `sse`.
    pub(super) transport_type: Option<String>,
    /// For stdio.
    pub(super) command: Option<String>,
    /// For stdio; for one of the catalog, what its package is started with, such as directories.
    pub(super) command_args: Option<Vec<String>>,
    /// For stdio; kept encrypted and never shown again.
    #[schema(write_only)]
    pub(super) command_env: Option<BTreeMap<String, String>>,
}

/// What changes.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct IntegrationChange {
    /// Its name, which stays.
    pub(super) name: Option<String>,
    /// Where it is.
    pub(super) server_url: Option<String>,
    /// Whether it may run.
    pub(super) is_enabled: Option<bool>,
    /// Its key; kept encrypted and never shown again.
    #[schema(write_only)]
    pub(super) api_key: Option<String>,
    /// For stdio.
    pub(super) command: Option<String>,
    /// For stdio.
    pub(super) command_args: Option<Vec<String>>,
    /// For stdio; variables that are not named stay, `null` takes one away. Kept encrypted and never
    /// shown again.
    #[schema(write_only)]
    pub(super) command_env: Option<BTreeMap<String, Option<String>>>,
}

/// A server.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Integration {
    /// Its id.
    id: String,
    /// Its name.
    name: String,
    /// A name of the catalog, or `custom`.
    server_type: String,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_url: Option<String>,
    /// `none`, `api_key` or `oauth`.
    auth_type: String,
    /// `http`, `stdio` or `sse`.
    transport_type: String,
    /// Whether it may run.
    is_enabled: bool,
    /// `connected`, `disconnected` or `error`.
    connection_status: String,
    /// How many tools it offers.
    tool_count: usize,
    /// When it last answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_connected_at: Option<String>,
    /// Why it is not connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
    /// When it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
}

/// The servers.
#[derive(Serialize, ToSchema)]
pub(super) struct Integrations {
    /// All of them.
    pub(super) integrations: Vec<Integration>,
}

/// One server.
#[derive(Serialize, ToSchema)]
pub(super) struct OneIntegration {
    /// The server.
    pub(super) integration: Integration,
}

/// What a test came to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct IntegrationTest {
    /// Whether it answers.
    pub(super) success: bool,
    /// The same for a person.
    pub(super) message: String,
    /// How many tools it has.
    pub(super) tool_count: usize,
    /// Their names.
    pub(super) tools: Vec<String>,
}

/// The server that is meant.
pub(super) fn spec(new: &NewIntegration) -> Result<ServerSpec> {
    let known = name_of_type(&new.server_type);
    let custom = new.server_url.is_some() || new.command.is_some();
    if let (Some(known), false) = (known, custom) {
        return of_catalog(known, new);
    }
    if !custom && !new.server_type.eq_ignore_ascii_case(CUSTOM) {
        let names: Vec<&str> = switchboard_config::catalog::names().map(type_of).collect();
        let text = format!("`serverType`: nothing is known of `{}`", new.server_type);
        let remedy = format!(
            "It is one of {}, or `{CUSTOM}` with `serverUrl` or `command`.",
            names.join(", ")
        );
        return Err(Problem::invalid(text).remedy(remedy));
    }
    let name = entry::name(new.name.as_deref().unwrap_or(&new.server_type))?;
    let mut spec = entry::native(&name, &native(new)?)?;
    match (new.auth_type.as_deref(), new.api_key.as_deref()) {
        (Some("oauth"), _) => {
            spec.auth = Auth::OAuth { scopes: Vec::new(), client_id: None, client_secret: None };
        }
        (None | Some("api_key" | "bearer"), Some(key)) => catalog::set_key(&mut spec, key)?,
        (None | Some("none" | "api_key" | "bearer"), _) => {}
        (Some(_), _) => return Err(Problem::invalid("`authType` is `none`, `api_key` or `oauth`")),
    }
    Ok(spec)
}

/// One of the catalog, under the name that Nebo has for it unless another is given.
fn of_catalog(known: &str, new: &NewIntegration) -> Result<ServerSpec> {
    let name = new.name.as_deref().unwrap_or_else(|| type_of(known));
    let key = new.api_key.as_deref();
    let mut spec = catalog::known(known, Some(name), key)?;
    catalog::check_type(&spec, new.auth_type.as_deref(), key)?;
    if let Transport::Stdio(stdio) = &mut spec.transport {
        let literal = |text: &String| Template::literal(text.as_str());
        if let Some(args) = &new.command_args {
            // What stands before them names the package.
            stdio.args.truncate(2);
            stdio.args.extend(args.iter().map(literal));
        }
        let env = new.command_env.iter().flatten();
        stdio
            .env
            .extend(env.map(|(name, text)| (name.clone(), SecretTemplate::new(literal(text)))));
    }
    Ok(spec)
}

/// The entry with what changes; what is not given stays.
pub(super) fn changed(spec: &ServerSpec, wanted: &IntegrationChange) -> Result<Map<String, Value>> {
    let mut entry = edited::shown(spec);
    let is_command = matches!(spec.transport, Transport::Stdio(_));
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            entry.insert(name.to_owned(), value);
        }
    };
    put("enabled", wanted.is_enabled.map(Value::from));
    if !is_command && wanted.server_url.is_some() {
        // The page sends back what it was shown.
        let same = wanted.server_url == Some(spec.target());
        put("url", wanted.server_url.clone().map(Value::from).filter(|_| !same));
    }
    if is_command {
        put("command", wanted.command.clone().map(Value::from));
        put("args", wanted.command_args.clone().map(Value::from));
    }
    let given = wanted.command.is_some() || wanted.command_args.is_some();
    match (is_command, &wanted.server_url) {
        (true, Some(_)) => return Err(Problem::invalid("`serverUrl` is for servers behind a URL")),
        (false, _) if given || wanted.command_env.is_some() => {
            return Err(Problem::invalid(
                "`command` and its like are for servers that are commands",
            ));
        }
        (true | false, _) => {}
    }
    let mut env = entry.remove("env").and_then(|env| env.as_object().cloned()).unwrap_or_default();
    for (name, value) in wanted.command_env.iter().flatten() {
        match value {
            Some(value) => env.insert(name.clone(), value.as_str().into()),
            None => env.remove(name),
        };
    }
    if !env.is_empty() {
        entry.insert("env".to_owned(), env.into());
    }
    edited::filled(&entry, spec)
}

fn native(new: &NewIntegration) -> Result<Map<String, Value>> {
    let entry = match new.transport_type.as_deref().unwrap_or("http") {
        "stdio" => json!({
            "command": new.command,
            "args": new.command_args.clone().unwrap_or_default(),
            "env": new.command_env.clone().unwrap_or_default(),
        }),
        "http" => json!({"url": new.server_url}),
        "sse" => json!({"url": new.server_url, "transport": "sse"}),
        _ => return Err(Problem::invalid("`transportType` is `http`, `stdio` or `sse`")),
    };
    let Value::Object(mut entry) = entry else { return Ok(Map::new()) };
    entry.retain(|_, value| !value.is_null());
    Ok(entry)
}

/// A server in Nebo's words.
pub(super) fn integration(view: ServerView) -> Integration {
    let (status, error) = match view.state.code.as_str() {
        "connected" => ("connected", None),
        "connecting" | "disabled" | "disconnected" => ("disconnected", None),
        _ => ("error", Some(view.state.message)),
    };
    let auth = match view.auth.as_str() {
        "oauth" => "oauth",
        "none" if view.env.is_empty() && view.headers.is_empty() => "none",
        _ => "api_key",
    };
    Integration {
        id: view.id,
        server_type: view.catalog.as_deref().map_or(CUSTOM, type_of).to_owned(),
        server_url: (view.transport != "stdio").then_some(view.target),
        auth_type: auth.to_owned(),
        transport_type: view.transport,
        is_enabled: view.enabled,
        connection_status: status.to_owned(),
        tool_count: view.state.tools,
        last_connected_at: view.stats.last_connected_at,
        last_error: error,
        created_at: view.stats.added_at,
        name: view.name,
    }
}
