//! A client driven by hand, in any revision over any transport. Says what the test says, no more.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_testkit::script::Script;
use switchboard_wire::{Era, Revision, meta, method};

use crate::links::{Http, Link, Pipes, Sse};

/// How long an answer may take that must come.
const LONG: Duration = Duration::from_secs(60);
/// How long is waited for what must not come.
pub(crate) const SHORT: Duration = Duration::from_millis(300);

pub(crate) struct Client<L> {
    pub(crate) revision: Revision,
    pub(crate) link: L,
    inbox: Receiver<Value>,
    aside: Vec<Value>,
    next: u64,
}

impl Client<Pipes> {
    pub(crate) fn stdio(script: &Script, revision: Revision) -> Self {
        Self::new(Pipes::start(script), revision)
    }
}

impl Client<Http> {
    pub(crate) fn http(script: &Script, revision: Revision) -> Self {
        Self::new(Http::start(script), revision)
    }
}

impl Client<Sse> {
    pub(crate) fn sse(script: &Script, revision: Revision) -> Self {
        Self::new(Sse::start(script), revision)
    }
}

impl<L: Link> Client<L> {
    fn new((link, inbox): (L, Receiver<Value>), revision: Revision) -> Self {
        Self { revision, link, inbox, aside: Vec::new(), next: 1 }
    }

    /// The handshake of the era; its result.
    pub(crate) fn connect(&mut self) -> Value {
        match self.revision.era() {
            Era::Stateless => self.request(method::DISCOVER, json!({}))["result"].take(),
            Era::Session => {
                let params = json!({
                    "protocolVersion": self.revision.as_str(),
                    "capabilities": capabilities(),
                    "clientInfo": {"name": "test", "version": "1"},
                });
                let mut answer = self.request(method::INITIALIZE, params);
                self.notify(method::INITIALIZED, json!({}));
                answer["result"].take()
            }
        }
    }

    /// The answer to a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// The answer to a call.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request(method::TOOLS_CALL, json!({"name": tool, "arguments": arguments}))
    }

    /// Sends a request; its id.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if self.revision.era() == Era::Stateless {
            params[meta::META][meta::PROTOCOL_VERSION] = self.revision.as_str().into();
            params[meta::META][meta::CLIENT_CAPABILITIES] = capabilities();
        }
        self.link.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.link.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Waits for the answer of that id; what else comes is kept.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            assert!(message.get("closed").is_none(), "{message} instead of an answer to {id}");
            self.aside.push(message);
        }
    }

    /// Waits for a message of that method.
    pub(crate) fn heard(&mut self, method: &str) -> Value {
        if let Some(at) = self.aside.iter().position(|message| message["method"] == method) {
            return self.aside.remove(at);
        }
        loop {
            let message = self.receive();
            if message["method"] == method {
                return message;
            }
            self.aside.push(message);
        }
    }

    /// The next message, which must come.
    pub(crate) fn receive(&mut self) -> Value {
        self.inbox.recv_timeout(LONG).expect("a message")
    }

    /// The next message, if there is one soon.
    pub(crate) fn soon(&mut self) -> Option<Value> {
        self.inbox.recv_timeout(SHORT).ok()
    }

    /// What was kept while waiting for something else.
    pub(crate) fn aside(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.aside)
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.revision.era() == Era::Stateless
    }
}

pub(crate) fn capabilities() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

#[expect(clippy::disallowed_methods, reason = "the server has a time of its own")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The text of a tool's result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}
