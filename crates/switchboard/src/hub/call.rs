//! The hub from Rust: the tools of an agent, and calls in its name.

use switchboard_core::Request;
use switchboard_core::port::{CallError, Caller, RpcError, Who};
use switchboard_model::{AgentId, CallOrigin, ServerKey};
use switchboard_wire::types::Annotations;
use switchboard_wire::{JsonBuf, Limits, code, method, write};

use super::Hub;

/// A tool as an agent sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// What a model calls it by: `mcp__{server}__{tool}` unless other names were chosen.
    pub name: String,
    /// Whose it is.
    pub server: ServerKey,
    /// The server's own name of it.
    pub original: String,
    /// What it says of itself.
    pub description: Option<String>,
    /// The JSON schema of its arguments, as the server sent it.
    pub input_schema: JsonBuf,
    /// The hints, as the server claims them.
    pub annotations: Annotations,
}

/// The arguments of a call: a JSON object, as text or as raw JSON that was checked before.
pub trait Arguments {
    /// As raw JSON.
    fn into_json(self) -> Result<JsonBuf, CallError>;
}

impl Arguments for &str {
    fn into_json(self) -> Result<JsonBuf, CallError> {
        JsonBuf::parse(self.to_owned().into(), &Limits::DEFAULT).map_err(|fault| {
            let text = format!("the arguments are not JSON: {fault}");
            RpcError::new(code::INVALID_PARAMS, &text).into()
        })
    }
}

impl Arguments for JsonBuf {
    fn into_json(self) -> Result<JsonBuf, CallError> {
        Ok(self)
    }
}

impl Hub {
    /// The tools that an agent may use now, always in the same order. Nobody knows an agent that is
    /// neither declared nor in the store: it has none.
    pub fn tools(&self, agent: &AgentId) -> Vec<Tool> {
        let now = self.0.registry.load();
        let Some(view) = now.agent(agent, self.models()) else { return Vec::new() };
        let tools = view.tools().map(|listed| Tool {
            name: listed.name.to_owned(),
            server: listed.server.clone(),
            original: listed.entry.name.clone(),
            description: listed.entry.description().map(|text| text.into_owned()),
            input_schema: JsonBuf::from(listed.entry.input_schema()),
            annotations: listed.entry.annotations,
        });
        tools.collect()
    }

    /// Calls a tool by the name that [`Hub::tools`] has for it. The result is the server's, byte for byte but for URIs
    /// and ids of tasks, which are those that the agent knows, and cut where it is longer than `max_output`.
    /// Nobody is there to be asked anything.
    pub async fn call(
        &self,
        agent: &AgentId,
        name: &str,
        arguments: impl Arguments,
    ) -> Result<JsonBuf, CallError> {
        let who = Who::agent(agent.clone(), None);
        self.call_as(&who, CallOrigin::Agent, name, arguments, &Caller::default()).await
    }

    /// The same for whoever calls, through whichever door, with somebody who can be asked.
    pub async fn call_as(
        &self,
        who: &Who,
        origin: CallOrigin,
        name: &str,
        arguments: impl Arguments,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        let now = self.0.registry.load();
        let surface = self.models();
        let view = match (&who.agent, &who.user) {
            (Some(agent), _) => now.agent(agent, surface),
            (None, Some(user)) => now.user(user, surface),
            (None, None) => None,
        };
        let view = view.ok_or_else(|| {
            RpcError::new(code::INVALID_PARAMS, "this agent is not known to the hub")
        })?;
        let arguments = arguments.into_json()?;
        if !arguments.as_json().is_object() {
            let text = "the arguments are not a JSON object, such as {\"path\": \".\"}";
            return Err(RpcError::new(code::INVALID_PARAMS, text).into());
        }
        let params = write::object(|params| {
            params.text("name", name);
            params.raw("arguments", arguments.as_json());
        });
        let params = params.as_json().into();
        let method = method::TOOLS_CALL;
        let request = Request { view: &view, who, origin, method, params, trace: None };
        self.0.router.call(&request, caller).await
    }
}
