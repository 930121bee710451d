//! Who makes a call, and what a server may ask of them meanwhile. Only the port: whoever calls
//! brings the other side of it.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::{Json, JsonBuf, Revision};

use super::call::Who;
use super::error::RpcError;

/// A future that can be kept in a table.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Takes what a client tells of how far it is with an answer: the params of `notifications/progress`, under
/// whatever token. Must not wait.
pub type Progressed = Arc<dyn Fn(JsonBuf) + Send + Sync>;

/// The client behind a call: what a server asks back goes here, and what it tells about the call.
pub trait ClientPort: Send + Sync {
    /// What the client can do, as it declared it; servers are told.
    fn capabilities(&self) -> Json<'_> {
        Json::EMPTY
    }

    /// Whose client it is. Where a server does not say which of several calls it asks for, it may
    /// ask only if all of them are of one caller.
    fn who(&self) -> Option<&Who> {
        None
    }

    /// From which level on the client wants log messages, if it said so.
    fn level(&self) -> Option<LogLevel> {
        None
    }

    /// Who wants that level beyond the call, such as a session; without it, the call alone does.
    fn wish(&self) -> Option<Weak<dyn Wish>> {
        None
    }

    /// Answers a request of the server: `elicitation/create`, `sampling/createMessage` or
    /// `roots/list`. The call's time does not run while the answer is awaited.
    fn request<'a>(
        &'a self,
        method: &'a str,
        params: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>>;

    /// The same for a server that wants to hear how far the answer is.
    fn request_with_progress<'a>(
        &'a self,
        method: &'a str,
        params: Option<JsonBuf>,
        progressed: Progressed,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let _ = progressed;
        self.request(method, params)
    }

    /// Takes note of something about the call: `notifications/progress` under the caller's own
    /// token, or `notifications/message`. Must not wait.
    fn notify(&self, method: &str, params: JsonBuf) {
        let _ = (method, params);
    }

    /// Who hears of what comes when the call is over, such as that a page is done with to which the
    /// client was sent. Keeps nothing of the call alive; `None` if nobody is there by then.
    fn beyond(self: Arc<Self>) -> Option<Arc<dyn ClientPort>> {
        None
    }
}

/// Somebody who wants log messages, for as long as they are there.
pub trait Wish: Send + Sync {
    /// From which level on, by now.
    fn level(&self) -> Option<LogLevel>;
}

/// What becomes of a result that asks back (`input_required`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// The port is asked, and the call is repeated with the answers.
    #[default]
    Ask,
    /// The caller gets it as it is, and repeats the call by itself.
    PassOn,
}

/// Who makes a call.
#[derive(Clone, Default)]
pub struct Caller {
    /// The client, if somebody is there to be asked.
    pub port: Option<Arc<dyn ClientPort>>,
    /// What becomes of a result that asks back.
    pub inputs: Inputs,
    /// The revision that the client speaks, if it speaks the protocol: what that revision cannot say is left out.
    pub revision: Option<Revision>,
}

impl Caller {
    /// Somebody who can be asked.
    pub fn with_port(port: Arc<dyn ClientPort>) -> Self {
        Self { port: Some(port), ..Self::default() }
    }
}
