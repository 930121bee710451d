//! The hub's own server: how servers are, and the rest of what was cut. Called like any other.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use switchboard_core::port::{self, BoxFuture, Call, CallError, RpcError, Who};
use switchboard_core::registry::{Home, Offer, View};
use switchboard_core::{Registry, results};
use switchboard_model::state::{ServerState, Until};
use switchboard_store::{Access, Role};
use switchboard_upstream::{Status, Upstreams};
use switchboard_wire::types::{CallParams, Entry as _, ToolEntry};
use switchboard_wire::{Json, JsonBuf, Limits, code, method};

/// The hub as a server.
pub(super) struct House {
    upstreams: Upstreams,
    registry: Registry,
    access: Option<Access>,
}

const HEALTH: &str = "system_health_check";
const STATUS: &str = "get_status";
/// Which servers a health check is about.
const SCOPES: [&str; 3] = ["all", "internal", "external"];
/// How long a server may take to say that it is there.
const CHECK: Duration = Duration::from_secs(5);

impl House {
    /// Of these servers, for whom the registry lets see them and those whom the store knows.
    pub(super) fn new(upstreams: Upstreams, registry: Registry, access: Option<Access>) -> Self {
        Self { upstreams, registry, access }
    }

    /// What it offers.
    pub(super) fn offer() -> Offer {
        let health = json!({
            "name": HEALTH,
            "title": "System health check",
            "description": "Asks every connected MCP server whether it answers, and says which are available and healthy.",
            "inputSchema": {
                "type": "object",
                "properties": {"scope": {
                    "type": "string",
                    "enum": SCOPES,
                    "default": "all",
                    "description": "Which servers: all, the internal or the external ones."
                }},
                "additionalProperties": false
            },
            "annotations": {"readOnlyHint": true, "openWorldHint": false}
        });
        let status = json!({
            "name": STATUS,
            "title": "Status",
            "description": "Says how every MCP server stands: its state, its tools, and what is wrong.",
            "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
            "annotations": {"readOnlyHint": true, "openWorldHint": false}
        });
        let own = [health, status].into_iter().filter_map(|tool| {
            let raw = JsonBuf::parse(tool.to_string().into(), &Limits::DEFAULT).ok()?;
            ToolEntry::read(raw).ok()
        });
        let tools = own.chain(results::tool()).collect();
        let templates = results::template().into_iter().collect();
        Offer { tools, templates, home: Home::Hub, ..Offer::default() }
    }

    /// The servers that whoever calls may use, whether they offer something or never came up.
    fn statuses(&self, who: &Who) -> Vec<Status> {
        let (now, mut statuses) = (self.registry.load(), self.upstreams.status());
        statuses.retain(|status| match (&who.agent, &who.user) {
            (Some(agent), _) => now.may_see(agent, &status.key),
            (None, Some(user)) => {
                let known = self.access.as_ref().and_then(|access| access.user(user));
                known.is_some_and(|known| known.role == Role::Administrator)
                    || now.may_person_see(user, &status.key)
            }
            (None, None) => false,
        });
        statuses
    }

    async fn answer(&self, name: &str, who: &Who, params: Json<'_>) -> Result<JsonBuf, CallError> {
        if name != method::TOOLS_CALL {
            return Err(RpcError::new(code::METHOD_NOT_FOUND, "Method not found").into());
        }
        let call = CallParams::read(params)?;
        let statuses = self.statuses(who);
        let value = match call.name.as_deref().unwrap_or_default() {
            HEALTH => {
                let scope = call.arguments.and_then(|arguments| arguments.get("scope"));
                let scope = match scope {
                    Some(scope) => scope.string().filter(|scope| SCOPES.contains(&&**scope)),
                    None => Some("all".into()),
                };
                let Some(scope) = scope else {
                    let text = format!("`scope` is one of {}", SCOPES.join(", "));
                    return Err(RpcError::new(code::INVALID_PARAMS, &text).into());
                };
                self.health(statuses, &scope).await
            }
            STATUS => status(&statuses),
            other => {
                let text = format!("Unknown tool: {other}");
                return Err(RpcError::new(code::INVALID_PARAMS, &text).into());
            }
        };
        let result = json!({
            "content": [{"type": "text", "text": value.to_string()}],
            "structuredContent": value,
        });
        JsonBuf::parse(result.to_string().into(), &Limits::DEFAULT)
            .map_err(|fault| CallError::Malformed(fault.to_string()))
    }

    /// Asks every connected server of the scope whether it is there, all at once. The answer has the
    /// shape of Annabelle's document.
    async fn health(&self, mut statuses: Vec<Status>, scope: &str) -> Value {
        statuses.retain(|status| status.spec.enabled && (scope == "all" || scope == kind(status)));
        let rows = statuses.iter().map(|status| async {
            let connection = self.upstreams.get(&status.key);
            // The next call starts it, and nothing is wrong with it.
            let asleep =
                matches!(status.state, ServerState::Disconnected { until: Until::NextCall });
            let healthy = match &connection {
                Some(connection) => match connection.check(CHECK).await {
                    Ok(_) => true,
                    // One that works on a call may have no hand free to answer.
                    Err(CallError::TimedOut { .. }) => connection.in_flight() > 0,
                    Err(_) => false,
                },
                None => asleep,
            };
            json!({
                "name": status.key.name.as_str(),
                "available": connection.is_some() || asleep,
                "healthy": healthy,
                "type": kind(status),
            })
        });
        let mcps: Vec<Value> = join_all(rows).await;
        let healthy = mcps.iter().filter(|row| row["healthy"] == true).count();
        json!({
            "scope": scope,
            "summary": {"total": mcps.len(), "healthy": healthy, "unhealthy": mcps.len() - healthy},
            "mcps": mcps,
        })
    }
}

impl port::House for House {
    fn call<'a>(
        &'a self,
        call: &'a Call<'a>,
        _: &'a View,
        params: Json<'a>,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        Box::pin(self.answer(call.method, call.who, params))
    }
}

fn status(statuses: &[Status]) -> Value {
    let rows = statuses.iter().map(|status| {
        json!({
            "name": status.key.name.as_str(),
            "type": kind(status),
            "state": status.state.code(),
            "message": status.state.sentence(),
            "tools": status.counts.tools,
            "resources": status.counts.resources,
            "prompts": status.counts.prompts,
        })
    });
    json!({"servers": rows.collect::<Vec<_>>()})
}

/// Whether it was found beside the hub or somebody declared it.
fn kind(status: &Status) -> &'static str {
    status.spec.standing.as_str()
}
