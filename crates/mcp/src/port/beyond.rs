//! The client of a session once its call may be over: what servers tell it then goes on the call's
//! stream as long as there is one, else on the session's own. Keeps neither of them.

use std::sync::{Arc, Weak};

use switchboard_core::port::{BoxFuture, ClientPort, RpcError, Who};
use switchboard_wire::types::LogMessage;
use switchboard_wire::{Edit, JsonBuf, code, method, rewrite, write};

use super::{Port, Speech};
use crate::outbox::Weight;
use crate::seal;
use crate::session::Session;

/// A session's client, whatever becomes of the call.
struct Beyond {
    call: Weak<Port>,
    session: Weak<Session>,
    who: Arc<Who>,
}

/// The client behind a call, for later. In the stateless era nobody is there between requests.
pub(super) fn of(port: &Arc<Port>) -> Option<Arc<dyn ClientPort>> {
    let Speech::Session(session) = &port.speech else { return None };
    let (call, session) = (Arc::downgrade(port), Arc::downgrade(session));
    Some(Arc::new(Beyond { call, session, who: port.who.clone() }))
}

impl ClientPort for Beyond {
    fn who(&self) -> Option<&Who> {
        Some(&self.who)
    }

    fn request<'a>(
        &'a self,
        _: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let refusal = RpcError::new(code::METHOD_NOT_FOUND, "Method not found");
        Box::pin(std::future::ready(Err(refusal)))
    }

    fn notify(&self, told: &str, params: JsonBuf) {
        let Some(session) = self.session.upgrade().filter(|session| knows(session, told)) else {
            return;
        };
        if told == method::LOG_MESSAGE && !wants(&session, &params) {
            return;
        }
        let call = self.call.upgrade().map(|port| port.out.clone());
        let own = || session.streams(|streams| streams.opened().cloned());
        let Some(out) = call.filter(|out| !out.is_ended()).or_else(own) else { return };
        let mut message = Vec::new();
        write::notification(&mut message, told, Some(params.as_json()));
        // What is told but once must not give way to what is told again and again.
        let weight = match told {
            method::ELICITATION_COMPLETE => Weight::Needed,
            _ => Weight::Notice,
        };
        out.push(message.into(), weight);
    }
}

/// Whether the client's revision has it, and the client can do what it is about.
fn knows(session: &Session, told: &str) -> bool {
    let Some(hello) = session.hello() else { return false };
    let can =
        told != method::ELICITATION_COMPLETE || hello.capabilities.has(&["elicitation", "url"]);
    can && method::lookup(told).is_some_and(|method| method.sender(hello.revision).is_some())
}

/// Whether the client has chosen a level, and a message reaches it: nobody else is told what is said outside a call.
fn wants(session: &Session, params: &JsonBuf) -> bool {
    let message = LogMessage::read(params.as_json());
    let level = message.ok().map(|message| message.level);
    level.zip(session.level()).is_some_and(|(level, from)| level >= from)
}

/// The params of a question that sends the client to a page, under a name: the session era wants
/// one, the stateless era has none. `None` if they can stay as they are.
pub(super) fn named(asked: &str, params: Option<&JsonBuf>) -> Option<JsonBuf> {
    let params = params.filter(|_| asked == method::ELICIT)?.as_json();
    let mode = params.get("mode")?.string()?;
    if mode != "url" || params.get("elicitationId").is_some() {
        return None;
    }
    let id = format!("{:016x}", seal::random());
    rewrite::edited(params, &[Edit::text("elicitationId", &id)]).ok()
}
