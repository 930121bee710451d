//! The one agent whose sessions a server's messages outside any call can be for: the agent for which the server was
//! declared, as long as nobody else has made a call on this connection. Never looks at messages, and keeps no call alive.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use switchboard_core::port::{Caller, ClientPort, Who, Wish};
use switchboard_model::AgentId;

use super::{Channel, Link};

/// Who has called on a connection.
#[derive(Default)]
pub(super) struct Alone(Mutex<Callers>);

#[derive(Default)]
enum Callers {
    #[default]
    Nobody,
    One(Who, Vec<Session>),
    /// Others, or somebody who cannot be told from others: for good.
    Several,
}

/// A session that called, and its client beyond the call.
type Session = (Weak<dyn Wish>, Arc<dyn ClientPort>);

impl Channel {
    /// A call of a server that is declared for this agent alone begins. Over HTTP a server may remember who called on
    /// an earlier connection; a process begins and ends with its own.
    pub(crate) fn called(&self, agent: &AgentId, caller: &Caller) {
        if matches!(self.link, Link::Pipe(_)) {
            self.alone.note(agent, caller);
        }
    }
}

impl Alone {
    fn note(&self, agent: &AgentId, caller: &Caller) {
        let mut callers = self.lock();
        let port = caller.port.as_ref();
        let who = port.and_then(|port| port.who());
        let itself = who.filter(|who| who.agent.as_ref() == Some(agent) && who.is_itself());
        let Some((port, who)) = port.zip(itself) else { return *callers = Callers::Several };
        if matches!(&*callers, Callers::Nobody) {
            *callers = Callers::One(who.clone(), Vec::new());
        }
        match &mut *callers {
            Callers::One(one, sessions) if one.is_same_caller(who) => add(sessions, port),
            Callers::One(..) => *callers = Callers::Several,
            Callers::Nobody | Callers::Several => {}
        }
    }

    /// Whoever hears of what the server says outside any call.
    pub(super) fn sessions(&self) -> Vec<Arc<dyn ClientPort>> {
        match &*self.lock() {
            Callers::One(_, sessions) => {
                sessions.iter().map(|(_, client)| client.clone()).collect()
            }
            Callers::Nobody | Callers::Several => Vec::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Callers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(sessions: &mut Vec<Session>, port: &Arc<dyn ClientPort>) {
    let Some(session) = port.wish() else { return };
    if sessions.iter().any(|(known, _)| known.ptr_eq(&session)) {
        return;
    }
    let Some(client) = port.clone().beyond() else { return };
    sessions.retain(|(known, _)| known.strong_count() > 0);
    sessions.push((session, client));
}
