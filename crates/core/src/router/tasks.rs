//! Tasks that outlast their calls: who may hear of them, and in which words. What a server tells of
//! a task passes the decision and the guard as a look at it would. Keeps only who began which.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_model::{CallOrigin, Decision, ServerKey};
use switchboard_wire::output::{self, Place};
use switchboard_wire::types::Task;
use switchboard_wire::{Json, JsonBuf, method, write};

use super::Router;
use crate::port::{BoxFuture, Call, CallError, Caller, Checked, Who};
use crate::registry::{Part, View};
use crate::trim;

/// Beyond so many the oldest are forgotten: whoever began them can still ask how they stand.
const MOST: usize = 4096;

/// The tasks that sessions began, oldest first.
#[derive(Default)]
pub(super) struct Begun(Mutex<VecDeque<Row>>);

struct Row {
    server: ServerKey,
    /// The server's own id of it.
    id: Box<str>,
    /// The id that the caller was given.
    sealed: String,
    who: Who,
}

impl Router {
    /// The server of a task and the server's own id, if this caller was given that id and may look
    /// at the task.
    pub fn hears(&self, view: &View, who: &Who, id: &str) -> Option<(ServerKey, String)> {
        let opened = self.0.seal.open(view, who, id)?;
        let (part, own) = (opened.part, opened.id);
        self.looks(who, part, own, id, |_| Some(()))?;
        Some((part.key.clone(), own.to_owned()))
    }

    /// Listens to a server; what it tells goes to the caller's port. Ends when the server ends it, or
    /// with the future.
    pub fn listen<'a>(
        &'a self,
        server: &'a ServerKey,
        params: Json<'a>,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        self.0.ports.servers.call(server, method::LISTEN, Some(params.into()), caller)
    }

    /// What a server tells of a task, as a caller who was given the id `sealed` may read it.
    pub fn heard(&self, view: &View, who: &Who, sealed: &str, params: &JsonBuf) -> Option<JsonBuf> {
        let own = self.0.seal.open(view, who, sealed)?.id;
        let is_it = Task::read(params.as_json()).ok()?.id == own;
        if is_it { self.heard_beside(view, who, sealed, params) } else { None }
    }

    /// The same for what does not say in itself of which task it is, such as how far that is.
    pub fn heard_beside(
        &self,
        view: &View,
        who: &Who,
        sealed: &str,
        params: &JsonBuf,
    ) -> Option<JsonBuf> {
        let opened = self.0.seal.open(view, who, sealed)?;
        let (part, own) = (opened.part, opened.id);
        let params = self.looks(who, part, own, sealed, |call| {
            let params = match self.0.ports.guard.result(call, params).ok()? {
                Checked::Pass => params.clone(),
                Checked::Replaced(other) => other,
            };
            Some(trim::trim(call, view, params, &self.0.results).result)
        })?;
        Some(self.renamed(view, who, part, Place::Notice, params))
    }

    /// The session that began a task, and the id that it knows it by.
    pub fn began(&self, server: &ServerKey, id: &str) -> Option<(Who, String)> {
        let rows = self.0.begun.lock();
        let row = rows.iter().find(|row| row.server == *server && *row.id == *id)?;
        Some((row.who.clone(), row.sealed.clone()))
    }

    /// Takes note of a task that a call of a session has begun.
    pub(super) fn begin(
        &self,
        who: &Who,
        part: &Part,
        method: &str,
        own: Json<'_>,
        told: Json<'_>,
    ) {
        if method != method::TOOLS_CALL || who.session.is_none() {
            return;
        }
        let (Some(own), Some(told)) = (output::begun(own), output::begun(told)) else { return };
        let mut rows = self.0.begun.lock();
        // Who was given it first keeps it.
        if rows.iter().any(|row| row.server == part.key && *row.id == *own) {
            return;
        }
        if rows.len() >= MOST {
            rows.pop_front();
        }
        let (server, who) = (part.key.clone(), who.clone());
        rows.push_back(Row { server, id: own.into(), sealed: told.into_owned(), who });
    }

    /// Does something with the call that a look at the task would be, if it may be made.
    fn looks<T>(
        &self,
        who: &Who,
        part: &Part,
        own: &str,
        sealed: &str,
        with: impl FnOnce(&Call<'_>) -> Option<T>,
    ) -> Option<T> {
        let params = write::object(|params| params.text(output::TASK_ID, own));
        let call = Call {
            who,
            origin: CallOrigin::Mcp,
            server: &part.key,
            offer: &part.offer,
            method: method::TASKS_GET,
            subject: own,
            published: sealed,
            tool: None,
            params: params.as_json(),
            arguments: None,
            trace: None,
        };
        let verdict = self.0.ports.decide.decide(&call).ok()?;
        // Nobody is asked for each thing that a server tells.
        if verdict.decision == Decision::Allow { with(&call) } else { None }
    }
}

impl Begun {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Row>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
