//! Calls that ask back of a client of the stateless era: the client gets a sealed state and comes
//! back with it. What a stateless server asked is passed on; a call of a session-era server waits
//! here meanwhile, bounded in number, bytes and time. Having a state is not being allowed to use it.

mod page;
mod state;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use switchboard_core::port::Who;
use switchboard_wire::types::InputRequired;
use switchboard_wire::{
    Edit, Era, IdBuf, Json, JsonBuf, ParamsBuf, code, method, peek, rewrite, write,
};

use crate::auth::Principal;
use crate::endpoint::Inner;
use crate::guests::Pass;
use crate::options::Limits;
use crate::port::Ask;
use crate::reply::Reply;
use crate::running::{Asker, Running, Task, progress_token};
use crate::seal::random;
use state::State;

/// The calls that wait.
pub(crate) struct Parked {
    limits: Limits,
    rows: Mutex<HashMap<u128, Row>>,
}

struct Row {
    pass: Pass,
    until: Instant,
    running: Running,
    asks: Vec<Ask>,
}

/// How a request begins.
pub(crate) enum Begun {
    /// As a call.
    Call(Task),
    /// It is answered already.
    Reply(Reply),
}

impl Parked {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, rows: Mutex::default() }
    }

    /// Gives up what nobody came back for.
    pub(crate) fn sweep(&self, now: Instant) {
        self.remove(|row| row.until <= now);
    }

    /// Gives up what these have.
    pub(crate) fn give_up(&self, theirs: impl Fn(&Who) -> bool) {
        self.remove(|row| theirs(row.who()));
    }

    /// Gives up what was begun by a token that is not good any more.
    pub(crate) fn see_off(&self, welcome: &dyn Fn(&Principal) -> bool) {
        self.remove(|row| !welcome(&row.pass.principal));
    }

    fn remove(&self, goes: impl Fn(&Row) -> bool) {
        let gone: Vec<(u128, Row)> = self.lock().extract_if(|_, row| goes(row)).collect();
        // Dropping a call cancels it, which is nothing to do under a lock.
        drop(gone);
    }

    /// Whether there is room for one more, which is there from now on.
    fn put(&self, id: u128, row: Row) -> bool {
        let mut rows = self.lock();
        let limits = &self.limits;
        let (mut theirs, mut bytes_each, mut bytes) = (0, row.bytes(), row.bytes());
        for other in rows.values() {
            bytes += other.bytes();
            if other.who().is_same_caller(row.who()) {
                theirs += 1;
                bytes_each += other.bytes();
            }
        }
        let fits = rows.len() < limits.parked
            && theirs < limits.parked_each
            && bytes <= limits.parked_bytes
            && bytes_each <= limits.parked_bytes_each;
        if fits {
            rows.insert(id, row);
        }
        fits
    }

    fn take(&self, id: u128) -> Option<Row> {
        self.lock().remove(&id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u128, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Row {
    /// Whose it is, whichever agent they speak for.
    fn who(&self) -> &Who {
        &self.pass.principal.who
    }

    /// What it holds that others say the size of.
    fn bytes(&self) -> usize {
        let asked = self.asks.iter().filter_map(|ask| ask.params.as_ref());
        self.running.bytes + asked.map(|params| params.as_json().as_bytes().len()).sum::<usize>()
    }
}

impl Inner {
    /// Begins a request, or goes on with the call that it comes back to.
    pub(crate) fn begin(
        self: &Arc<Self>,
        asker: Asker,
        id: IdBuf,
        method: &'static str,
        params: ParamsBuf,
        start: impl FnOnce(&Asker, ParamsBuf) -> Running,
    ) -> Begun {
        let whole = params.buf().clone();
        let state = match asker.era() {
            Era::Stateless if asks_back(method) => params.as_params().request_state(),
            _ => None,
        };
        let state = state.filter(|state| !state.is_null()).map(|state| whole.part(state));
        let Some(state) = state else {
            let running = start(&asker, params);
            return Begun::Call(Task::new(self.clone(), asker, id, method, whole, running));
        };
        let params = whole;
        let refuse = |text: &str| {
            let reply = Reply::refused(Some(id.as_id()), code::INVALID_PARAMS, text, None);
            Begun::Reply(reply.with_status(200))
        };
        match self.open_state(&asker, method, params.as_json(), state.as_json()) {
            None => refuse(
                "the requestState is not one that was given to you for this request, here and at the same server, or it is too old; make the request again without it",
            ),
            Some(State::Passed(inner)) => {
                let inner = [Edit::set("requestState", inner.as_json())];
                let Ok(sent) = rewrite::edited(params.as_json(), &inner) else {
                    return refuse("`requestState` is there twice");
                };
                let running = start(&asker, sent.into());
                Begun::Call(Task::new(self.clone(), asker, id, method, params, running))
            }
            Some(State::Sent(count)) => match self.come_back(count, &id, method, &params) {
                Err(reply) => Begun::Reply(reply),
                Ok(sent) => {
                    let running = start(&asker, sent);
                    Begun::Call(Task::new(self.clone(), asker, id, method, params, running))
                }
            },
            Some(State::Parked(number)) => match self.parked.take(number) {
                None => refuse(
                    "the call is not waiting here any more; make the request again without requestState",
                ),
                Some(row) => self.go_on(row, asker, id, method, params),
            },
        }
    }

    /// A waiting call gets its answers; what is still missing is asked for again.
    fn go_on(
        self: &Arc<Self>,
        row: Row,
        asker: Asker,
        id: IdBuf,
        method: &'static str,
        params: JsonBuf,
    ) -> Begun {
        let answers = peek::input_responses(params.as_json()).unwrap_or(Json::EMPTY);
        let mut left = Vec::new();
        for ask in row.asks {
            match answers.get(&ask.key).filter(|answer| answer.is_object()) {
                Some(answer) => {
                    let _ = ask.answer.send(Ok(answer.into()));
                }
                None => left.push(ask),
            }
        }
        let running = row.running;
        running.port.go_on(progress_token(params.as_json()));
        if left.is_empty() {
            running.port.refuse();
            return Begun::Call(Task::new(self.clone(), asker, id, method, params, running));
        }
        Begun::Reply(self.put_aside(&asker, &id, method, &params, running, left))
    }

    /// A call waits for its client to come back.
    pub(crate) fn park(&self, task: &Task, running: Running) -> Reply {
        let asks = running.port.take_asks();
        self.put_aside(&task.asker, &task.id, task.method, &task.params, running, asks)
    }

    fn put_aside(
        &self,
        asker: &Asker,
        id: &IdBuf,
        method: &str,
        params: &JsonBuf,
        running: Running,
        asks: Vec<Ask>,
    ) -> Reply {
        let number = random();
        let state = self.close_state(asker, method, params.as_json(), |plain| {
            plain.text("p", &format!("{number:032x}"));
        });
        let requests = write::object(|all| {
            for ask in &asks {
                all.object(&ask.key, |request| {
                    request.text("method", ask.method);
                    if let Some(params) = &ask.params {
                        request.raw("params", params.as_json());
                    }
                });
            }
        });
        let until = self.clock.monotonic() + self.limits.input;
        let pass = asker.pass.clone().filter(|_| state.is_some());
        let row = pass.map(|pass| Row { pass, until, running, asks });
        let put = row.is_some_and(|row| self.parked.put(number, row));
        let Some(state) = state.filter(|_| put) else {
            let text = format!(
                "too many calls wait for inputs, or too large ones (of one caller {} calls may wait, and {} \
                 bytes): answer some of them first, or send less",
                self.limits.parked_each, self.limits.parked_bytes_each,
            );
            return Reply::refused(Some(id.as_id()), code::INTERNAL_ERROR, &text, None)
                .with_status(200);
        };
        // A token may have ended just before, too early for whoever looked at what waits.
        if asker.pass.as_ref().is_some_and(|pass| pass.turn != self.guests.turn()) {
            self.parked.see_off(&*self.auth.still());
        }
        let result = write::object(|result| {
            result.text("resultType", "input_required");
            result.raw("inputRequests", requests.as_json());
            result.text("requestState", &state);
        });
        self.scribe.result(id.as_id(), Era::Stateless, method, result.as_json())
    }

    /// A stateless server's own question goes on to the client, with its state sealed: to the
    /// server all our callers are one, so it cannot tell whose state it gets back.
    pub(crate) fn pass_on(&self, task: &Task, result: Json<'_>) -> Reply {
        let id = task.id.as_id();
        let own = InputRequired::read(result).request_state;
        let Some(own) = own else {
            return self.scribe.result(id, Era::Stateless, task.method, result);
        };
        let sealed = self.close_state(&task.asker, task.method, task.params.as_json(), |plain| {
            plain.raw("s", own);
        });
        let sealed = sealed.unwrap_or_default();
        match rewrite::edited(result, &[Edit::text("requestState", &sealed)]) {
            Ok(result) => self.scribe.result(id, Era::Stateless, task.method, result.as_json()),
            Err(repeated) => {
                let text = format!("the server's result cannot be passed on: {repeated}");
                Reply::refused(Some(id), code::INTERNAL_ERROR, &text, None).with_status(200)
            }
        }
    }
}

/// The requests that may be answered with `input_required`.
pub(crate) fn asks_back(name: &str) -> bool {
    matches!(name, method::TOOLS_CALL | method::PROMPTS_GET | method::RESOURCES_READ)
}
