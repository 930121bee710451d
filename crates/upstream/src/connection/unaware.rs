//! Tools of revision 2025-11-25 that run only as tasks, for callers whose revision has no tasks: the hub begins the
//! task, waits for its result and gives that as the tool's. What names the task is taken away towards the caller,
//! and put back towards the server. Never does so for a caller that could ask for a task itself.

use std::sync::{Arc, Weak};

use switchboard_core::port::{
    BoxFuture, CallError, Caller, ClientPort, Progressed, RpcError, Who, Wish,
};
use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::{
    Edit, Json, JsonBuf, Params, ParamsBuf, Revision, meta, method, output, rewrite, write,
};

use super::{Connection, failure};
use crate::channel::Channel;
use crate::pulse::Patience;
use crate::transport::Headers;

impl Connection {
    /// Whether the call is of a tool that runs only as a task, by a caller that cannot know of that.
    pub(super) fn wants_task(&self, name: &str, params: &Params<'_>, caller: &Caller) -> bool {
        if !self.begins_tasks || name != method::TOOLS_CALL {
            return false;
        }
        let catalog = self.catalog.load();
        if !catalog.has_lasting() || knows_tasks(caller) {
            return false;
        }
        let tool = params.subject("name").and_then(Json::string);
        tool.is_some_and(|tool| catalog.is_lasting(&tool))
            && params.json().get("task").is_none_or(Json::is_null)
            && self.peer.capabilities.has(&["tasks", "requests", "tools", "call"])
    }

    /// Makes the call as a task, from its beginning to its end.
    pub(super) async fn as_task(
        &self,
        params: &Params<'_>,
        caller: &Caller,
        patience: Patience,
    ) -> Result<JsonBuf, CallError> {
        let wish = [Edit::set("task", Json::EMPTY)];
        let sent = ParamsBuf::from(rewrite::edited(params.json(), &wish)?);
        let begun = self.once(method::TOOLS_CALL, &sent.as_params(), caller, patience).await?;
        let Some(id) = output::begun(begun.as_json()).map(|id| Arc::from(&*id)) else {
            return Ok(begun);
        };
        let mut left = Left { channel: &self.channel, id: &id, ends: false };
        left.ends = self.peer.capabilities.has(&["tasks", "cancel"]);
        let wanted = named(&id);
        let port = caller.port.clone().map(|port| Unaware { port, id: id.clone() });
        let port = port.map(|port| Arc::new(port) as Arc<dyn ClientPort>);
        let caller = Caller { port, ..caller.clone() };
        let patience = patience.with(method::TASKS_RESULT);
        let wanted = Params::from(wanted.as_json());
        let result = self.once(method::TASKS_RESULT, &wanted, &caller, patience).await;
        if matches!(result, Ok(_) | Err(CallError::Rpc(_))) {
            left.ends = false;
        }
        result.map(without_task).map_err(failure::begun)
    }
}

/// Whether a caller's revision has tasks of this kind.
pub(super) fn knows_tasks(caller: &Caller) -> bool {
    caller.revision == Some(Revision::V2025_11_25)
}

/// A task that nobody waits for any more is given up: its caller cannot.
struct Left<'c> {
    channel: &'c Arc<Channel>,
    id: &'c str,
    ends: bool,
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        if !self.ends || self.channel.token().is_cancelled() {
            return;
        }
        let (channel, params) = (self.channel.clone(), named(self.id));
        self.channel.tasks().spawn(async move {
            let patience = Patience::of(CANCELLING);
            let headers = Headers::default();
            // It may be over just now, which is as good.
            let _ = channel.ask(method::TASKS_CANCEL, params.as_json(), headers, patience).await;
        });
    }
}

/// How long a server may take to say that it has given up a task.
const CANCELLING: std::time::Duration = std::time::Duration::from_secs(10);

/// The client behind a call that is a task without its knowing.
struct Unaware {
    port: Arc<dyn ClientPort>,
    /// The server's own id of the task.
    id: Arc<str>,
}

impl ClientPort for Unaware {
    fn capabilities(&self) -> Json<'_> {
        self.port.capabilities()
    }

    fn who(&self) -> Option<&Who> {
        self.port.who()
    }

    fn level(&self) -> Option<LogLevel> {
        self.port.level()
    }

    fn wish(&self) -> Option<Weak<dyn Wish>> {
        self.port.wish()
    }

    fn request<'a>(
        &'a self,
        method: &'a str,
        params: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let params = params.map(without_task);
        Box::pin(async move {
            let answer = self.port.request(method, params).await?;
            Ok(with_task(answer, &self.id))
        })
    }

    fn request_with_progress<'a>(
        &'a self,
        method: &'a str,
        params: Option<JsonBuf>,
        progressed: Progressed,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let params = params.map(without_task);
        Box::pin(async move {
            let answer = self.port.request_with_progress(method, params, progressed).await?;
            Ok(with_task(answer, &self.id))
        })
    }

    fn notify(&self, method: &str, params: JsonBuf) {
        self.port.notify(method, without_task(params));
    }

    fn beyond(self: Arc<Self>) -> Option<Arc<dyn ClientPort>> {
        self.port.clone().beyond()
    }
}

/// The params of a request about a task.
fn named(id: &str) -> JsonBuf {
    write::object(|params| params.text(output::TASK_ID, id))
}

fn without_task(json: JsonBuf) -> JsonBuf {
    let inside = [Edit::remove(meta::RELATED_TASK)];
    rewrite::edited(json.as_json(), &[Edit::inside(meta::META, &inside)]).unwrap_or(json)
}

fn with_task(json: JsonBuf, id: &str) -> JsonBuf {
    let task = [Edit::text(output::TASK_ID, id)];
    let inside = [Edit::inside(meta::RELATED_TASK, &task)];
    rewrite::edited(json.as_json(), &[Edit::inside(meta::META, &inside)]).unwrap_or(json)
}
