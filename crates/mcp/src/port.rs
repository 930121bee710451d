//! The client behind one call, as servers meet it: what they tell goes on the call's stream, what
//! they ask becomes a request of its own or waits for the client to come back with inputs. Never
//! asks for what the client did not say it can do.

mod asked;
mod beyond;
mod key;
mod sampling;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use switchboard_core::port::{BoxFuture, ClientPort, Progressed, RpcError, Who, Wish};
use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::types::{Capabilities, LogMessage};
use switchboard_wire::{Edit, Era, Json, JsonBuf, Revision, code, method, rewrite, write};
use tokio::sync::oneshot;

use crate::outbox::{Outbox, Weight};
use crate::session::{Input, Session};

/// Bytes of questions that wait until the client of a call comes back: it is the server that says how long they are.
const ASKED: usize = 16 * 1024 * 1024;
const TOO_LONG: &str = "the questions of this call are too long together; ask for less at once";

/// The client behind one call.
pub(crate) struct Port {
    pub(crate) out: Arc<Outbox>,
    pub(crate) speech: Speech,
    who: Arc<Who>,
    asking: Asking,
    /// How long the client may take to answer.
    patience: Duration,
    state: Mutex<State>,
}

/// Whether servers may ask anything during this call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// They may.
    Allowed,
    /// They may not.
    Refused,
}

/// How the client is spoken to.
#[derive(Clone)]
pub(crate) enum Speech {
    /// As a session, whose client answers by itself.
    Session(Arc<Session>),
    /// Request by request: the client comes back with what it is asked for.
    Stateless {
        /// What it can do.
        capabilities: Capabilities,
        /// From which level on it wants log messages; without one, none.
        level: Option<LogLevel>,
    },
}

impl Speech {
    pub(crate) fn era(&self) -> Era {
        match self {
            Self::Session(_) => Era::Session,
            Self::Stateless { .. } => Era::Stateless,
        }
    }
}

/// Something that a server asks of a client which has to come back with it.
pub(crate) struct Ask {
    pub(crate) key: String,
    pub(crate) method: &'static str,
    pub(crate) params: Option<JsonBuf>,
    pub(crate) answer: oneshot::Sender<Input>,
}

#[derive(Default)]
struct State {
    waker: Option<Waker>,
    asks: Vec<Ask>,
    /// Refusals that wait: what the client can answer is asked before the server hears what it
    /// cannot.
    refusals: Vec<oneshot::Sender<()>>,
    /// The keys of what was asked.
    keys: Vec<String>,
    /// What the client answered before it was asked (`inputResponses`).
    given: Option<JsonBuf>,
    over: Option<Over>,
    progress: Progress,
    missing: Option<JsonBuf>,
    /// The numbers of what a session's client is asked and has not answered.
    numbers: Vec<u64>,
    hearing: Hearing,
}

/// Under which token the client hears of progress.
#[derive(Default)]
enum Progress {
    /// That of the request that began the call, under which it comes.
    #[default]
    First,
    /// That of the request with which the call goes on.
    Another(JsonBuf),
    /// The call goes on with a request that wants none; the first one's token is no longer in use.
    Unwanted,
}

/// Whether anybody can read what goes on the call's own stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hearing {
    /// Somebody does, or can come back to it.
    #[default]
    Stream,
    /// Nobody: the client was gone before there was a stream.
    Nobody,
}

/// Why a call goes on no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The client does not want its answer any more.
    Cancelled,
    /// The session has ended, or the hub does. Whoever still waits for the answer has to be told.
    Ended,
}

/// What happens to a call besides its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// It goes on no more.
    Over(Over),
    /// The server asks something that the client has to come back with, or cannot.
    Asked,
}

impl Port {
    pub(crate) fn new(
        out: Arc<Outbox>,
        speech: Speech,
        who: Arc<Who>,
        asking: Asking,
        patience: Duration,
    ) -> Self {
        Self { out, speech, who, asking, patience, state: Mutex::default() }
    }

    /// With answers that came before their questions.
    pub(crate) fn given(mut self, answers: Option<JsonBuf>) -> Self {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).given = answers;
        self
    }

    fn abilities(&self) -> Option<&Capabilities> {
        match &self.speech {
            Speech::Session(session) => session.hello().map(|hello| &hello.capabilities),
            Speech::Stateless { capabilities, .. } => Some(capabilities),
        }
    }

    /// The call is not wanted any more.
    pub(crate) fn cancel(&self) {
        self.finish(Over::Cancelled);
    }

    /// The call cannot go on; whatever came first stays the reason.
    pub(crate) fn finish(&self, over: Over) {
        self.change(|state| {
            state.over.get_or_insert(over);
        });
    }

    /// Ready when something happens to the call.
    pub(crate) fn poll_event(&self, context: &Context<'_>) -> Poll<Event> {
        let mut state = self.lock();
        if let Some(over) = state.over {
            return Poll::Ready(Event::Over(over));
        }
        // Who asked may be gone meanwhile.
        state.asks.retain(|ask| !ask.answer.is_closed());
        if !state.asks.is_empty() || !state.refusals.is_empty() {
            return Poll::Ready(Event::Asked);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            None => state.waker = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// What is asked, and was not given out yet.
    pub(crate) fn take_asks(&self) -> Vec<Ask> {
        std::mem::take(&mut self.lock().asks)
    }

    /// Whether anything is asked that the client can come back with; if not, the server hears what
    /// is refused.
    pub(crate) fn asks(&self) -> bool {
        let asks = !self.lock().asks.is_empty();
        if !asks {
            self.refuse();
        }
        asks
    }

    /// The server hears what the client cannot answer.
    pub(crate) fn refuse(&self) {
        let refusals = std::mem::take(&mut self.lock().refusals);
        for refusal in refusals {
            let _ = refusal.send(());
        }
    }

    /// The call goes on as another request, with its own token for progress, or with none.
    pub(crate) fn go_on(&self, token: Option<JsonBuf>) {
        self.lock().progress = token.map_or(Progress::Unwanted, Progress::Another);
    }

    /// The capability that the call failed for, if it did: what `requiredCapabilities` says.
    pub(crate) fn missing(&self) -> Option<JsonBuf> {
        self.lock().missing.clone()
    }

    pub(crate) fn revision(&self) -> Revision {
        match &self.speech {
            Speech::Session(session) => session.revision(),
            Speech::Stateless { .. } => Revision::LATEST_STATELESS,
        }
    }

    fn wants(&self, level: LogLevel) -> bool {
        match &self.speech {
            Speech::Session(session) => session.level().is_none_or(|least| level >= least),
            Speech::Stateless { level: least, .. } => least.is_some_and(|least| level >= least),
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let waker = {
            let mut state = self.lock();
            change(&mut state);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the client would have to declare for this; `None` if it did.
    fn lacks(&self, asked: &str, params: Option<&JsonBuf>) -> Option<JsonBuf> {
        let (group, inner) = match asked {
            method::CREATE_MESSAGE => ("sampling", sampling::needs(params)),
            method::ROOTS_LIST => ("roots", None),
            _ => {
                let mode = params.and_then(|params| params.as_json().get("mode")?.string());
                ("elicitation", (mode.as_deref() == Some("url")).then_some("url"))
            }
        };
        let has = self.abilities().is_some_and(|abilities| match (group, inner) {
            ("elicitation", None) => abilities.elicits_by_form(),
            (group, Some(inner)) => abilities.has(&[group, inner]),
            (group, None) => abilities.has(&[group]),
        });
        let needed = || {
            write::object(|all| {
                all.object(group, |group| {
                    if let Some(inner) = inner {
                        group.raw(inner, Json::EMPTY);
                    }
                });
            })
        };
        (!has).then(needed)
    }

    async fn ask_back(&self, asked: &'static str, params: Option<JsonBuf>) -> Input {
        let (sender, receiver) = oneshot::channel();
        let mut given = None;
        let mut fits = true;
        self.change(|state| {
            let bytes = |params: &Option<JsonBuf>| {
                params.as_ref().map_or(0, |params| params.as_json().as_bytes().len())
            };
            let waiting: usize = state.asks.iter().map(|ask| bytes(&ask.params)).sum();
            fits = waiting + bytes(&params) <= ASKED;
            if !fits {
                return;
            }
            let key = key::unused(asked, params.as_ref().map(JsonBuf::as_json), &state.keys);
            state.keys.push(key.clone());
            given = state.given.as_ref().and_then(|given| {
                let answer = given.as_json().get(&key).filter(|answer| answer.is_object());
                answer.map(|answer| given.part(answer))
            });
            if given.is_none() {
                state.asks.push(Ask { key, method: asked, params, answer: sender });
            }
        });
        match given {
            _ if !fits => Err(RpcError::new(code::INTERNAL_ERROR, TOO_LONG)),
            Some(answer) => Ok(answer),
            None => receiver.await.unwrap_or_else(|_| Err(silence())),
        }
    }

    /// Waits until the refusal's turn has come.
    async fn hold_back(&self) {
        let (sender, turn) = oneshot::channel();
        self.change(|state| state.refusals.push(sender));
        // Whoever drops it lets it go.
        let _ = turn.await;
    }
}

impl ClientPort for Port {
    fn capabilities(&self) -> Json<'_> {
        self.abilities().map_or(Json::EMPTY, Capabilities::raw)
    }

    fn who(&self) -> Option<&Who> {
        Some(&self.who)
    }

    fn level(&self) -> Option<LogLevel> {
        match &self.speech {
            Speech::Session(session) => session.level(),
            Speech::Stateless { level, .. } => *level,
        }
    }

    fn wish(&self) -> Option<Weak<dyn Wish>> {
        let Speech::Session(session) = &self.speech else { return None };
        let session: Weak<Session> = Arc::downgrade(session);
        Some(session)
    }

    fn request<'a>(
        &'a self,
        asked: &'a str,
        params: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        Box::pin(self.ask(asked, params, None))
    }

    fn request_with_progress<'a>(
        &'a self,
        asked: &'a str,
        params: Option<JsonBuf>,
        progressed: Progressed,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        Box::pin(self.ask(asked, params, Some(progressed)))
    }

    fn notify(&self, told: &str, params: JsonBuf) {
        let mut params = params;
        match told {
            method::LOG_MESSAGE => {
                let level = LogMessage::read(params.as_json()).map(|message| message.level);
                if !level.is_ok_and(|level| self.wants(level)) {
                    return;
                }
            }
            method::PROGRESS => match &self.lock().progress {
                Progress::First => {}
                Progress::Another(token) => {
                    let edits = [Edit::set("progressToken", token.as_json())];
                    params = rewrite::edited(params.as_json(), &edits).unwrap_or(params);
                }
                Progress::Unwanted => return,
            },
            _ => {}
        }
        let mut message = Vec::new();
        write::notification(&mut message, told, Some(params.as_json()));
        self.out.push(message.into(), Weight::Notice);
    }

    fn beyond(self: Arc<Self>) -> Option<Arc<dyn ClientPort>> {
        beyond::of(&self)
    }
}

fn silence() -> RpcError {
    RpcError::new(code::INTERNAL_ERROR, "the client gave no answer in time")
}
