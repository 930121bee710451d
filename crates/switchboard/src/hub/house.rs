//! The hub's own server: how servers are, and the rest of what was cut. Called like any other.

use serde_json::{Value, json};
use switchboard_core::port::{self, BoxFuture, Call, CallError, RpcError};
use switchboard_core::registry::{Home, Offer, View};
use switchboard_core::results;
use switchboard_model::Scope;
use switchboard_upstream::{Status, Upstreams};
use switchboard_wire::types::{CallParams, Entry as _, ToolEntry};
use switchboard_wire::{Json, JsonBuf, Limits, code, method};

/// The hub as a server.
pub(super) struct House {
    upstreams: Upstreams,
}

const HEALTH: &str = "system_health_check";
const STATUS: &str = "get_status";

impl House {
    pub(super) fn new(upstreams: Upstreams) -> Self {
        Self { upstreams }
    }

    /// What it offers.
    pub(super) fn offer() -> Offer {
        let health = json!({
            "name": HEALTH,
            "title": "System health check",
            "description": "Says which MCP servers are available and healthy.",
            "inputSchema": {
                "type": "object",
                "properties": {"scope": {
                    "type": "string",
                    "enum": ["all", "internal", "external"],
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
        Offer { tools, home: Home::Hub, ..Offer::default() }
    }

    fn answer(&self, name: &str, view: &View, params: Json<'_>) -> Result<JsonBuf, CallError> {
        if name != method::TOOLS_CALL {
            return Err(RpcError::new(code::METHOD_NOT_FOUND, "Method not found").into());
        }
        let call = CallParams::read(params)?;
        // Servers that have nothing to offer yet are not in anybody's view.
        let is_seen = |status: &Status| {
            status.key.scope == Scope::Global || view.servers().any(|(key, _)| *key == status.key)
        };
        let mut statuses = self.upstreams.status();
        statuses.retain(is_seen);
        let value = match call.name.as_deref().unwrap_or_default() {
            HEALTH => {
                let scope = call.arguments.and_then(|arguments| arguments.get("scope")?.string());
                health(&statuses, scope.as_deref().unwrap_or("all"))
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
}

impl port::House for House {
    fn call<'a>(
        &'a self,
        call: &'a Call<'a>,
        view: &'a View,
        params: Json<'a>,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        Box::pin(std::future::ready(self.answer(call.method, view, params)))
    }
}

/// The shape of Annabelle's document.
fn health(statuses: &[Status], scope: &str) -> Value {
    let rows = statuses.iter().filter(|status| status.spec.enabled).map(|status| {
        let healthy = status.state.is_connected()
            && status.health.last().is_none_or(|check| check.outcome.is_ok());
        json!({
            "name": status.key.name.as_str(),
            "available": status.state.is_connected(),
            "healthy": healthy,
            "type": kind(status),
        })
    });
    let mcps: Vec<Value> = rows.filter(|row| scope == "all" || row["type"] == scope).collect();
    let healthy = mcps.iter().filter(|row| row["healthy"] == true).count();
    json!({
        "scope": scope,
        "summary": {"total": mcps.len(), "healthy": healthy, "unhealthy": mcps.len() - healthy},
        "mcps": mcps,
    })
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

/// Whether the house brought it or somebody declared it.
fn kind(status: &Status) -> &'static str {
    status.spec.standing.as_str()
}
