//! What a server asks of the client behind a call: bounded, over when the call is, and while it is
//! open neither the time nor the turn of the call is used up. Never decides whose question it is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_core::port::{ClientPort, Progressed, RpcError};
use switchboard_wire::{
    Edit, Id, IdKey, Json, JsonBuf, Request, code, method, peek, rewrite, write,
};
use tokio_util::sync::CancellationToken;

use super::{Channel, Waiting};
use crate::connection::Turns;
use crate::pulse::Pulse;

/// Questions that may be open at once: of one call, and of all calls of a connection. People and
/// models answer one after another; more is a flood.
const OF_A_CALL: u32 = 32;
const OF_ALL: usize = 512;

/// The questions of a connection that are open, by their ids, which are the server's own.
#[derive(Default)]
pub(super) struct Questions(Mutex<Rows>);

#[derive(Default)]
struct Rows {
    count: usize,
    /// Of two of one id, which no server may use, the newer.
    open: HashMap<IdKey, CancellationToken>,
}

impl Questions {
    /// The server does not want an answer any more.
    pub(super) fn take_back(&self, id: &IdKey) {
        if let Some(taken_back) = self.lock().open.remove(id) {
            taken_back.cancel();
        }
    }

    /// `false` if there are too many.
    fn add(&self, id: IdKey, taken_back: CancellationToken) -> bool {
        let mut rows = self.lock();
        let fits = rows.count < OF_ALL;
        if fits {
            rows.count += 1;
            rows.open.insert(id, taken_back);
        }
        fits
    }

    fn remove(&self, id: &IdKey) {
        let mut rows = self.lock();
        rows.count -= 1;
        rows.open.remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it is something that a client can be asked.
pub(super) fn is_one(name: &str) -> bool {
    matches!(name, method::ELICIT | method::CREATE_MESSAGE | method::ROOTS_LIST)
}

/// Puts a question to the client behind a call, in a task of its own.
pub(super) fn put(
    channel: &Arc<Channel>,
    request: &Request<'_>,
    (pulse, waiting, port): (Arc<Pulse>, &Waiting, Arc<dyn ClientPort>),
) {
    let Some(open) = Open::begin(channel, request.id, pulse, waiting) else {
        let text = "too many questions are open; ask again when some of them are answered";
        return refuse(channel, request.id, &RpcError::new(code::INTERNAL_ERROR, text));
    };
    let (id, name) = (request.id.to_buf(), request.method.to_string());
    let params = request.params.map(JsonBuf::from);
    let progressed = request.params.and_then(|params| passed_on(channel, params));
    channel.tasks.spawn(async move {
        let asking = match progressed {
            Some(progressed) => port.request_with_progress(&name, params, progressed),
            None => port.request(&name, params),
        };
        let answer = tokio::select! {
            answer = asking => answer,
            () = open.pulse.over() => {
                Err(RpcError::new(code::INTERNAL_ERROR, "the call that this was asked for is over"))
            }
            // Nobody waits for an answer; the client is told as it is no longer asked.
            () = open.taken_back.cancelled() => return,
            () = open.channel.end.cancelled() => return,
        };
        let channel = open.channel.clone();
        // First the time runs again, then the server goes on.
        drop(open);
        channel.respond(id.as_id(), answer.as_ref().map(JsonBuf::as_json));
    });
}

/// Where the client's progress goes, if the server wants to hear of it: to the server, under its own token.
fn passed_on(channel: &Arc<Channel>, params: Json<'_>) -> Option<Progressed> {
    let token = JsonBuf::from(peek::progress_token(params)?);
    let channel = Arc::downgrade(channel);
    Some(Arc::new(move |progress: JsonBuf| {
        let Some(channel) = channel.upgrade().filter(|channel| channel.has_room()) else { return };
        let own = [Edit::set("progressToken", token.as_json())];
        let Ok(params) = rewrite::edited(progress.as_json(), &own) else { return };
        let mut message = Vec::with_capacity(128);
        write::notification(&mut message, method::PROGRESS, Some(params.as_json()));
        channel.post(message);
    }))
}

/// The answer to what nobody can be asked. Nobody declined or cancelled anything, so it does not
/// say so: a server would tell that a person did.
pub(super) fn unasked(channel: &Arc<Channel>, request: &Request<'_>) {
    let task = request.params.and_then(peek::related_task);
    let error = match (&*request.method, channel.table.has_clients()) {
        (name, _) if !is_one(name) => RpcError::new(code::METHOD_NOT_FOUND, "Method not found"),
        _ if task.is_some() => RpcError::new(
            code::INTERNAL_ERROR,
            "nobody waits for the result of the task that this is asked for; ask when somebody does",
        ),
        (_, true) => RpcError::new(
            code::INTERNAL_ERROR,
            "the client cannot be asked now: calls of several clients are under way, and the \
             question does not say which of them it is for; make the call again later",
        ),
        (method::ROOTS_LIST, false) => RpcError::new(
            code::INTERNAL_ERROR,
            "there is no client outside of a call, and several share this connection; give the \
             server its directories in its own configuration, or ask during a call",
        ),
        (_, false) => RpcError::new(
            code::INTERNAL_ERROR,
            "there is no client behind this call that could be asked",
        ),
    };
    refuse(channel, request.id, &error);
}

fn refuse(channel: &Arc<Channel>, id: Id<'_>, error: &RpcError) {
    channel.respond(id, Err(error));
}

/// An open question.
struct Open {
    channel: Arc<Channel>,
    id: IdKey,
    taken_back: CancellationToken,
    pulse: Arc<Pulse>,
    /// The first of a call's questions lends the call's turn, the last to end takes it back.
    turns: Option<Arc<Turns>>,
}

impl Open {
    fn begin(
        channel: &Arc<Channel>,
        id: Id<'_>,
        pulse: Arc<Pulse>,
        waiting: &Waiting,
    ) -> Option<Self> {
        let (id, taken_back) = (id.key(), CancellationToken::new());
        if !channel.questions.add(id.clone(), taken_back.clone()) {
            return None;
        }
        let Some(before) = pulse.hold(OF_A_CALL) else {
            channel.questions.remove(&id);
            return None;
        };
        let turns = waiting.turns.clone();
        if let (0, Some(turns)) = (before, &turns) {
            turns.lend();
        }
        Some(Self { channel: channel.clone(), id, taken_back, pulse, turns })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let (0, Some(turns)) = (self.pulse.release(), &self.turns) {
            turns.reclaim();
        }
        self.channel.questions.remove(&self.id);
    }
}
