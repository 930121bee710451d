//! Nebo's words, and what they are in ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use switchboard_model::{Auth, SecretTemplate, ServerSpec, Template, Transport};
use utoipa::ToSchema;

use crate::error::{Problem, Result};
use crate::ops::servers::entry;
use crate::view::server::ServerView;

/// A server to add.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewIntegration {
    /// What it is called; its type unless given.
    pub(super) name: Option<String>,
    /// A name of the catalog, or `custom`.
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
    /// For stdio.
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
    let known = switchboard_config::catalog::names().any(|name| name == new.server_type);
    if known && new.server_url.is_none() && new.command.is_none() {
        return entry::known(&new.server_type, new.name.as_deref(), new.api_key.as_deref());
    }
    let name = entry::name(new.name.as_deref().unwrap_or(&new.server_type))?;
    let mut spec = entry::native(&name, &native(new)?)?;
    spec.auth = match (new.auth_type.as_deref(), new.api_key.as_deref()) {
        (Some("oauth"), _) => {
            Auth::OAuth { scopes: Vec::new(), client_id: None, client_secret: None }
        }
        (None | Some("api_key" | "bearer"), Some(key)) => bearer(&spec, key)?,
        (None | Some("none" | "api_key" | "bearer"), _) => Auth::None,
        (Some(_), _) => return Err(Problem::invalid("`authType` is `none`, `api_key` or `oauth`")),
    };
    Ok(spec)
}

/// A key as Nebo sends it: `Authorization: Bearer …`. It stands for itself, whatever is in it.
pub(super) fn bearer(spec: &ServerSpec, key: &str) -> Result<Auth> {
    if matches!(spec.transport, Transport::Stdio(_)) {
        let text = "a command takes its key in a variable";
        return Err(Problem::invalid(text).remedy("Send it in `commandEnv`."));
    }
    Ok(Auth::Bearer { token: Some(SecretTemplate::new(Template::literal(key))) })
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
    let known = switchboard_config::catalog::names().any(|name| name == view.name);
    let auth = match view.auth.as_str() {
        "oauth" => "oauth",
        "none" if view.env.is_empty() && view.headers.is_empty() => "none",
        _ => "api_key",
    };
    Integration {
        id: view.id,
        server_type: if known { view.name.clone() } else { "custom".to_owned() },
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
