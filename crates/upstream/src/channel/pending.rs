//! The table of requests under way. Its lock is held for a look-up, never across a wait.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_core::port::{CallError, ClientPort};
use switchboard_wire::JsonBuf;

use crate::connection::Turns;
use crate::pulse::{Answer, Pulse, Tell};

/// Which request a message has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Related {
    /// It came on the stream of that request.
    To(u64),
    /// It came on a stream that all share.
    Unknown,
}

/// Who waits, and what they want to hear meanwhile.
#[derive(Clone, Default)]
pub(crate) struct Waiting {
    /// The client behind the request.
    pub(crate) port: Option<Arc<dyn ClientPort>>,
    /// The client's own progress token.
    pub(crate) token: Option<JsonBuf>,
    /// Who hears what comes under a subscription; nobody to be asked anything.
    pub(crate) listener: Option<Arc<dyn ClientPort>>,
    /// The task whose result it waits for, by the server's own id.
    pub(crate) task: Option<Arc<str>>,
    /// Whether its client knows nothing of that task, and takes it for its call.
    pub(crate) unaware: bool,
    /// Whether its answer may begin a task that outlasts it.
    pub(crate) begins: bool,
    /// The turns of the connection, of which the request has one.
    pub(crate) turns: Option<Arc<Turns>>,
}

/// A request under way.
pub(super) struct Pending {
    pub(super) pulse: Arc<Pulse>,
    pub(super) waiting: Waiting,
}

impl Pending {
    pub(super) fn answer(self, answer: Answer, tell: Tell) {
        self.pulse.answer(answer, tell);
    }
}

impl Drop for Pending {
    /// A row that is gone is answered by nobody.
    fn drop(&mut self) {
        self.pulse.close();
    }
}

/// All requests under way; closed once, for ever.
#[derive(Default)]
pub(super) struct Table(Mutex<Rows>);

#[derive(Default)]
struct Rows {
    rows: HashMap<u64, Pending, BuildHasherDefault<Numbered>>,
    closed: bool,
}

/// The keys are numbers that we count up ourselves: nobody can make them collide, and nothing better than a
/// product is needed to spread them.
#[derive(Default)]
struct Numbered(u64);

impl Hasher for Numbered {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Table {
    /// `false` if the table is closed.
    pub(super) fn insert(&self, id: u64, pending: Pending) -> bool {
        let mut table = self.lock();
        if !table.closed {
            table.rows.insert(id, pending);
        }
        !table.closed
    }

    pub(super) fn remove(&self, id: u64) -> Option<Pending> {
        self.lock().rows.remove(&id)
    }

    pub(super) fn has(&self, id: u64) -> bool {
        self.lock().rows.contains_key(&id)
    }

    /// The pulse and the client of a request.
    pub(super) fn find(&self, id: u64) -> Option<(Arc<Pulse>, Waiting)> {
        self.lock().rows.get(&id).map(|row| (row.pulse.clone(), row.waiting.clone()))
    }

    /// Whether any request has a client behind it.
    pub(super) fn has_clients(&self) -> bool {
        self.lock().rows.values().any(|row| row.waiting.port.is_some())
    }

    /// The request that a server has in mind where it does not say: the only call there is; of
    /// several of one caller, the newest that waits for no answer of the client's. With calls of
    /// several callers there is none, since nobody may see what is another's; a call without a
    /// client behind it may be anybody's.
    pub(super) fn likely(&self) -> Option<u64> {
        let table = self.lock();
        let mut calls = table.rows.iter().filter_map(|(id, row)| {
            let Waiting { port, turns, .. } = &row.waiting;
            // The hub's own requests have neither.
            (port.is_some() || turns.is_some()).then_some(())?;
            let who = port.as_deref().and_then(|port| port.who());
            Some((!row.pulse.is_held(), *id, who))
        });
        let (mut free, mut id, who) = calls.next()?;
        for (other_free, other_id, other) in calls {
            if !who.zip(other).is_some_and(|(one, other)| one.is_same_caller(other)) {
                return None;
            }
            (free, id) = (free, id).max((other_free, other_id));
        }
        Some(id)
    }

    /// The request that waits for the result of the task with that id, of the server's own: of several the
    /// newest whose client is not being asked. All of them are of whoever was given the task.
    pub(super) fn awaits(&self, task: &str) -> Option<u64> {
        let table = self.lock();
        let awaiting =
            table.rows.iter().filter(|(_, row)| row.waiting.task.as_deref() == Some(task));
        awaiting.map(|(id, row)| (!row.pulse.is_held(), *id)).max().map(|(_, id)| id)
    }

    /// Answers everything with `error`, and takes nothing more.
    pub(super) fn close(&self, error: &CallError) {
        let rows = {
            let mut table = self.lock();
            table.closed = true;
            std::mem::take(&mut table.rows)
        };
        for pending in rows.into_values() {
            pending.answer(Err(error.clone()), Tell::Wake);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
