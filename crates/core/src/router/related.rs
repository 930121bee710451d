//! The client that waits for a task's result, as the task's server meets it: what it is asked and told
//! names the task by the id that the client knows, what it answers by the server's own. Never decides
//! who is asked.

use std::sync::{Arc, Weak};

use switchboard_wire::output::{self, Hit, Place};
use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::{Json, JsonBuf};

use crate::port::{BoxFuture, Call, Caller, ClientPort, Progressed, RpcError, Who, Wish};

/// A client, and the task whose result it waits for.
struct Related {
    port: Arc<dyn ClientPort>,
    /// The server's own id of the task.
    own: Arc<str>,
    /// The id that the client was given.
    known: Arc<str>,
}

/// Who makes this call, if it is one for a task's result.
pub(super) fn to_task(call: &Call<'_>, caller: &Caller) -> Caller {
    let Some(port) = caller.port.clone() else { return caller.clone() };
    let related = Related { port, own: call.subject.into(), known: call.published.into() };
    Caller { port: Some(Arc::new(related)), ..caller.clone() }
}

/// With the id `to` where the task is called `from`.
fn renamed(params: JsonBuf, from: &str, to: &str) -> JsonBuf {
    let name = |hit: Hit<'_>| match hit {
        Hit::Task(id) if id == from => Some(to.to_owned()),
        Hit::Task(_) | Hit::Uri(_) => None,
    };
    output::rewritten(params.as_json(), Place::Notice, &name).unwrap_or(params)
}

impl ClientPort for Related {
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
        let params = params.map(|params| renamed(params, &self.own, &self.known));
        Box::pin(async move {
            let answer = self.port.request(method, params).await?;
            Ok(renamed(answer, &self.known, &self.own))
        })
    }

    fn request_with_progress<'a>(
        &'a self,
        method: &'a str,
        params: Option<JsonBuf>,
        progressed: Progressed,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let params = params.map(|params| renamed(params, &self.own, &self.known));
        let (own, known) = (self.own.clone(), self.known.clone());
        let progressed: Progressed =
            Arc::new(move |progress| progressed(renamed(progress, &known, &own)));
        Box::pin(async move {
            let answer = self.port.request_with_progress(method, params, progressed).await?;
            Ok(renamed(answer, &self.known, &self.own))
        })
    }

    fn notify(&self, method: &str, params: JsonBuf) {
        self.port.notify(method, renamed(params, &self.own, &self.known));
    }

    fn beyond(self: Arc<Self>) -> Option<Arc<dyn ClientPort>> {
        self.port.clone().beyond()
    }
}
