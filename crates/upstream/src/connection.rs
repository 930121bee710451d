//! A live session with one server: calls go through here, side by side, each with its own limits.

mod compose;
mod failure;
mod level;
mod listen;
mod turns;
mod unaware;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use switchboard_core::port::{CallError, Caller, Inputs};
use switchboard_model::{Limits, Scope, ServerKey, Timing};
use switchboard_wire::types::InputRequired;
use switchboard_wire::{Era, Json, JsonBuf, Params, ParamsBuf, method, peek};
use tokio::time::{Instant, timeout};

use crate::catalog::Catalog;
use crate::channel::{Channel, Kinds, Outgoing, Waiting};
use crate::peer::Peer;
use crate::pulse::Patience;
use crate::transport::{Headers, Link};
use turns::Turn;
pub(crate) use turns::Turns;

/// How often a server may ask back within one call.
const ROUNDS: usize = 16;

/// A live session with one server.
pub struct Connection {
    key: ServerKey,
    peer: Peer,
    pub(crate) channel: Arc<Channel>,
    pub(crate) catalog: Arc<ArcSwap<Catalog>>,
    settings: ArcSwap<Settings>,
    turns: Arc<Turns>,
    level: Arc<level::Level>,
    in_flight: AtomicU32,
    /// How many listen to it.
    heard: AtomicU32,
    /// Whether it is of a revision whose calls may begin tasks, and declares to have some.
    begins_tasks: bool,
    served: AtomicU64,
    start: Instant,
    last_used: AtomicU64,
}

/// What can change while the session lives.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) timing: Timing,
    pub(crate) limits: Limits,
}

impl Connection {
    pub(crate) fn new(
        key: ServerKey,
        peer: Peer,
        channel: Arc<Channel>,
        catalog: Arc<ArcSwap<Catalog>>,
        settings: Settings,
    ) -> Self {
        let turns = Turns::new(settings.limits.max_in_flight);
        let begins_tasks = peer.era() == Era::Session && peer.capabilities.has(&["tasks"]);
        Self {
            key,
            peer,
            channel,
            catalog,
            settings: ArcSwap::from_pointee(settings),
            turns,
            level: Arc::default(),
            in_flight: AtomicU32::new(0),
            heard: AtomicU32::new(0),
            begins_tasks,
            served: AtomicU64::new(0),
            start: Instant::now(),
            last_used: AtomicU64::new(0),
        }
    }

    /// Whose session it is.
    pub fn key(&self) -> &ServerKey {
        &self.key
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Makes a request and returns its result as it came. Waits for its turn if the server works on
    /// `max_in_flight` others; progress extends its time; dropped, it is cancelled.
    pub async fn call(
        &self,
        method: &str,
        params: Option<Json<'_>>,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        self.request(method, &Params::from(params.unwrap_or(Json::EMPTY)), caller).await
    }

    /// The same, with params whose members are known.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: &Params<'_>,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        let (mut patience, limit) = self.limits();
        let turn = match self.turns.try_take() {
            Some(turn) => turn,
            None => match Box::pin(timeout(patience.quiet, self.turns.take())).await {
                Ok(Some(turn)) => turn,
                _ => return Err(CallError::Busy { limit }),
            },
        };
        let _use = self.used(turn);
        patience = patience.with(method);
        if let Scope::Agent(agent) = &self.key.scope {
            self.channel.called(agent, caller);
        }
        if let Some((port, level)) =
            caller.port.as_ref().and_then(|port| Some((port, port.level()?)))
            && let Some(heard) = self.want(level, port)
        {
            Box::pin(heard).await;
        }
        let result = match self.wants_task(method, params, caller) {
            true => Box::pin(self.as_task(params, caller, patience)).await,
            false => self.once(method, params, caller, patience).await,
        };
        match result {
            Ok(result) if asks(caller, &result) => {
                Box::pin(self.go_on(method, params, result, (caller, patience))).await
            }
            result => self.ended(method, params, result),
        }
    }

    /// A call whose server asked back, until it does so no more.
    async fn go_on(
        &self,
        method: &str,
        params: &Params<'_>,
        mut result: JsonBuf,
        (caller, patience): (&Caller, Patience),
    ) -> Result<JsonBuf, CallError> {
        let mut sent: Option<ParamsBuf> = None;
        for _ in 1..ROUNDS {
            let Some(port) = &caller.port else { break };
            let before = sent.as_ref().map_or(*params, ParamsBuf::as_params);
            let answered = {
                let asked = InputRequired::read(result.as_json());
                let _lent = self.turns.lent();
                compose::answers(&**port, before.json(), &asked).await?
            };
            let again = ParamsBuf::from(answered);
            match self.once(method, &again.as_params(), caller, patience).await {
                Ok(asked) if asks(caller, &asked) => result = asked,
                answer => {
                    let answer = answer.map_err(failure::begun);
                    return self.ended(method, &again.as_params(), answer);
                }
            }
            sent = Some(again);
        }
        Err(CallError::Malformed(format!("it asked back {ROUNDS} times")))
    }

    /// The end of a call.
    fn ended(
        &self,
        method: &str,
        sent: &Params<'_>,
        result: Result<JsonBuf, CallError>,
    ) -> Result<JsonBuf, CallError> {
        if result.is_ok() {
            self.served.fetch_add(1, Ordering::Relaxed);
        }
        result.map_err(|error| failure::told(&self.peer, method, sent, error))
    }

    async fn once(
        &self,
        name: &str,
        params: &Params<'_>,
        caller: &Caller,
        patience: Patience,
    ) -> Result<JsonBuf, CallError> {
        let token = params.progress_token().map(JsonBuf::from);
        let wanted = compose::Wanted {
            peer: &self.peer,
            capabilities: caller.port.as_deref().map_or(Json::EMPTY, |port| port.capabilities()),
            // Without a token no progress comes, and without progress a long call would die.
            progress: token.is_some() || name == method::TOOLS_CALL,
        };
        let headers = self.headers(name, Some(params));
        let turns = Some(self.turns.clone());
        let task = (name == method::TASKS_RESULT).then(|| params.subject("taskId")).flatten();
        let task = task.and_then(Json::string).map(Arc::from);
        let port = caller.port.clone();
        let begins = self.begins_tasks && token.is_some();
        let unaware = task.is_some() && !unaware::knows_tasks(caller);
        let waiting = Waiting { port, token, task, unaware, begins, turns, ..Waiting::default() };
        let params = |out: &mut Vec<u8>, id| wanted.write(out, params, id);
        let outgoing = Outgoing { method: name, params, headers, patience, waiting };
        let result = self.channel.request(outgoing).await;
        if let (Err(CallError::Lost { .. }), Link::Http(_)) = (&result, self.channel.link()) {
            // What answers next may be another server.
            self.channel.changed.note(Kinds::ALL);
        }
        result
    }

    fn headers(&self, name: &str, params: Option<&Params<'_>>) -> Headers {
        match (self.peer.era(), self.channel.link()) {
            (Era::Stateless, Link::Http(_)) => {
                let member = method::subject(name);
                let subject =
                    params.zip(member).and_then(|(of, member)| of.subject(member)?.string());
                let catalog = self.catalog.load();
                let mirrored = match (name, subject.as_deref()) {
                    (method::TOOLS_CALL, Some(tool)) => catalog.mirrored(tool),
                    _ => &[],
                };
                let headers = Headers::mirror(self.peer.revision, name, subject.as_deref());
                match params {
                    Some(params) if !mirrored.is_empty() => {
                        headers.with_arguments(params.arguments(), mirrored)
                    }
                    _ => headers,
                }
            }
            _ => Headers::default(),
        }
    }

    /// Asks whether it is still there: `ping`, or the stateless era's equal.
    pub async fn check(&self, limit: Duration) -> Result<Duration, CallError> {
        let began = Instant::now();
        let name = match self.peer.era() {
            Era::Session => method::PING,
            Era::Stateless => method::DISCOVER,
        };
        let params = self.peer.own(Json::EMPTY);
        let headers = self.headers(name, None);
        let patience = Patience::of(limit);
        match self.channel.ask(name, params.as_json(), headers, patience).await {
            Err(CallError::Rpc(error)) if failure::is_foreign(&self.peer, &error) => {
                Err(CallError::Rpc(error))
            }
            // Whoever refuses to answer is there to do so.
            Ok(_) | Err(CallError::Rpc(_) | CallError::Throttled { .. }) => Ok(began.elapsed()),
            Err(error) => Err(error),
        }
    }

    /// Applies other limits to the calls that come.
    pub(crate) fn adjust(&self, settings: Settings) {
        let (old, new) = (self.settings.load().limits.max_in_flight, settings.limits.max_in_flight);
        self.settings.store(Arc::new(settings));
        self.turns.resize(old, new);
    }

    /// How long a call may take, and how many there may be at once.
    fn limits(&self) -> (Patience, u32) {
        let Settings { timing, limits } = &**self.settings.load();
        (Patience { quiet: timing.call, total: timing.call_total }, limits.max_in_flight)
    }

    /// Calls under way.
    pub fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Calls that were answered.
    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// Answers that nobody waited for: late ones, and second ones.
    pub fn stray_answers(&self) -> u64 {
        self.channel.stray()
    }

    /// How long nobody has called.
    pub(crate) fn idle(&self) -> Duration {
        match self.in_flight() + self.heard.load(Ordering::Relaxed) {
            0 => {
                let last = Duration::from_millis(self.last_used.load(Ordering::Relaxed));
                self.start.elapsed().saturating_sub(last)
            }
            _ => Duration::ZERO,
        }
    }

    fn used<'c>(&'c self, turn: Turn<'c>) -> Use<'c> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        Use { connection: self, _turn: turn }
    }
}

/// Whether the server wants to know something first, and there is somebody to ask here.
fn asks(caller: &Caller, result: &JsonBuf) -> bool {
    caller.port.is_some() && caller.inputs == Inputs::Ask && peek::wants_input(result.as_json())
}

/// A call under way.
struct Use<'c> {
    connection: &'c Connection,
    _turn: Turn<'c>,
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        let connection = self.connection;
        let now = u64::try_from(connection.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        connection.last_used.store(now, Ordering::Relaxed);
        connection.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
