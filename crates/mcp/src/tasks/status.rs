//! Tasks of the session era: how one stands, and how far it is, is told to the session that began it, and
//! to no other.

use std::sync::Arc;

use bytes::Bytes;
use switchboard_core::View;
use switchboard_model::ServerKey;
use switchboard_wire::types::Task;
use switchboard_wire::{JsonBuf, method, write};

use crate::endpoint::{Endpoint, Inner};
use crate::outbox::Weight;
use crate::session::Session;

/// The session that began a task, what it sees, and the id under which it knows the task.
struct Beginner {
    session: Arc<Session>,
    view: Arc<View>,
    sealed: String,
}

impl Endpoint {
    /// A server of the session era says how a task of its stands: whoever began it is told, if they
    /// are there, know of such things and still see the server. `task` is JSON, as it came.
    pub fn task_changed(&self, server: &ServerKey, task: &str) {
        // Nobody has to be told: whoever wants to know asks.
        let _ = self.0.task_changed(server, task);
    }

    /// A server of the session era says how far a task is whose call is answered: whoever began it is
    /// told. `params` is JSON, as it came but for the token, which is the one that they chose.
    pub fn task_progressed(&self, server: &ServerKey, task: &str, params: &str) {
        let _ = self.0.task_progressed(server, task, params);
    }
}

impl Inner {
    fn task_changed(&self, server: &ServerKey, task: &str) -> Option<()> {
        let task = self.read(task)?;
        let id = Task::read(task.as_json()).ok()?.id;
        let Beginner { session, view, sealed } = self.beginner(server, &id)?;
        let told = self.router.heard(&view, &session.who, &sealed, &task)?;
        tell(&session, method::TASK_STATUS, &told)
    }

    fn task_progressed(&self, server: &ServerKey, task: &str, params: &str) -> Option<()> {
        let params = self.read(params)?;
        let Beginner { session, view, sealed } = self.beginner(server, task)?;
        let told = self.router.heard_beside(&view, &session.who, &sealed, &params)?;
        tell(&session, method::PROGRESS, &told)
    }

    fn read(&self, text: &str) -> Option<JsonBuf> {
        JsonBuf::parse(Bytes::copy_from_slice(text.as_bytes()), &self.limits.message).ok()
    }

    fn beginner(&self, server: &ServerKey, id: &str) -> Option<Beginner> {
        let (who, sealed) = self.router.began(server, id)?;
        // One whose stream is lost for a while is held all the same, and what it is told is kept for it.
        let held = || self.sessions.all().into_iter().find(|session| *session.who == who);
        let session = self.listeners.session(&who).or_else(held)?;
        // Older revisions know of no tasks.
        method::lookup(method::TASK_STATUS)?.sender(session.revision())?;
        let view = session.door.view(&self.registry.load(), &session.principal, &self.surface)?;
        Some(Beginner { session, view, sealed })
    }
}

/// Tells a session on its own stream.
fn tell(session: &Session, told: &'static str, params: &JsonBuf) -> Option<()> {
    let out = session.streams(|streams| streams.opened().cloned())?;
    let mut message = Vec::new();
    write::notification(&mut message, told, Some(params.as_json()));
    out.push(message.into(), Weight::Notice);
    Some(())
}
