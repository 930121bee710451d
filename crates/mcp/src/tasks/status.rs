//! Tasks of the session era: how one stands is told to the session that began it, and to no other.

use bytes::Bytes;
use switchboard_model::ServerKey;
use switchboard_wire::types::Task;
use switchboard_wire::{JsonBuf, method, write};

use crate::endpoint::{Endpoint, Inner};
use crate::outbox::Weight;

impl Endpoint {
    /// A server of the session era says how a task of its stands: whoever began it is told, if they
    /// are there, know of such things and still see the server. `task` is JSON, as it came.
    pub fn task_changed(&self, server: &ServerKey, task: &str) {
        // Nobody has to be told: whoever wants to know asks.
        let _ = self.0.task_changed(server, task);
    }
}

impl Inner {
    fn task_changed(&self, server: &ServerKey, task: &str) -> Option<()> {
        let bytes = Bytes::copy_from_slice(task.as_bytes());
        let task = JsonBuf::parse(bytes, &self.limits.message).ok()?;
        let id = Task::read(task.as_json()).ok()?.id;
        let (who, sealed) = self.router.began(server, &id)?;
        // One whose stream is lost for a while is held all the same, and what it is told is kept for it.
        let held = || self.sessions.all().into_iter().find(|session| *session.who == who);
        let session = self.listeners.session(&who).or_else(held)?;
        method::lookup(method::TASK_STATUS)?.sender(session.revision())?;
        let now = self.registry.load();
        let view = session.door.view(&now, &session.principal, &self.surface)?;
        let told = self.router.heard(&view, &who, &sealed, &task)?;
        let out = session.streams(|streams| streams.opened().cloned())?;
        let mut message = Vec::new();
        write::notification(&mut message, method::TASK_STATUS, Some(told.as_json()));
        out.push(message.into(), Weight::Notice);
        Some(())
    }
}
