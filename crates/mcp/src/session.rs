//! A session of the session era: what a client said of itself, its calls under way, what servers
//! ask of it, and its streams. Never routes anything.

mod ended;
mod streams;
mod table;
mod token;

use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use switchboard_core::port::{Progressed, RpcError, Who, Wish};
use switchboard_core::{Kind, View};
use switchboard_wire::types::Capabilities;
use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::{Id, IdKey, Json, JsonBuf, Revision};
use tokio::sync::oneshot;

pub use self::ended::Remember;
pub(crate) use self::streams::{EventId, Streams};
pub(crate) use self::table::{Owner, Sessions};
use crate::auth::Principal;
use crate::door::Door;
use crate::port::{Over, Port};

/// What a server's question to the client ends with.
pub(crate) type Input = Result<JsonBuf, RpcError>;

/// A session.
pub(crate) struct Session {
    /// Under which the client knows it.
    pub(crate) id: Arc<str>,
    /// Who calls, as every call of it has it.
    pub(crate) who: Arc<Who>,
    /// Where it came in.
    pub(crate) door: Door,
    pub(crate) principal: Arc<Principal>,
    hello: OnceLock<Hello>,
    /// When it was last used, in milliseconds of the table's time.
    used: AtomicU64,
    /// Until when its id is good, in the same; for ever where it lives on a single connection.
    until: AtomicU64,
    level: AtomicU8,
    /// How many resources it is told about.
    watched: Arc<AtomicUsize>,
    /// The digests of the lists that the client knows.
    seen: [AtomicU64; 4],
    state: Mutex<State>,
}

/// What a client says of itself.
pub(crate) struct Hello {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Capabilities,
}

#[derive(Default)]
struct State {
    calls: Vec<(IdKey, Arc<Port>)>,
    asked: Vec<Asked>,
    last_asked: u64,
    streams: Streams,
}

/// Something that the client is asked.
struct Asked {
    number: u64,
    answer: oneshot::Sender<Input>,
    /// Where what it tells of how far it is goes.
    progressed: Option<Progressed>,
}

/// One of the resources that a session is told about; it counts until this is gone.
pub(crate) struct Watched(Arc<AtomicUsize>);

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// No level was chosen.
const NO_LEVEL: u8 = u8::MAX;

impl Session {
    pub(crate) fn new(id: Arc<str>, door: Door, principal: Arc<Principal>) -> Self {
        // The id itself opens doors, and who calls is recorded: only its end is told.
        let tail: Arc<str> = id[id.len().saturating_sub(16)..].into();
        let who = Who { session: Some(tail), ..Who::clone(&door.who(&principal)) };
        Self {
            id,
            who: Arc::new(who),
            door,
            principal,
            hello: OnceLock::new(),
            used: AtomicU64::new(0),
            until: AtomicU64::new(u64::MAX),
            level: AtomicU8::new(NO_LEVEL),
            watched: Arc::default(),
            seen: Default::default(),
            state: Mutex::default(),
        }
    }

    /// The client introduces itself; only the first time counts.
    pub(crate) fn greet(&self, hello: Hello) {
        let _ = self.hello.set(hello);
    }

    pub(crate) fn hello(&self) -> Option<&Hello> {
        self.hello.get()
    }

    pub(crate) fn revision(&self) -> Revision {
        self.hello().map_or(Revision::V2024_11_05, |hello| hello.revision)
    }

    /// From which level on the client wants log messages; without one, all.
    pub(crate) fn level(&self) -> Option<LogLevel> {
        LEVELS.get(usize::from(self.level.load(Ordering::Relaxed))).copied()
    }

    pub(crate) fn set_level(&self, level: LogLevel) {
        self.level.store(level as u8, Ordering::Relaxed);
    }

    /// The client knows this list now; whether that is news to it.
    pub(crate) fn saw(&self, view: &View, kind: Kind) -> bool {
        let digest = view.digest(kind);
        self.seen[kind as usize].swap(digest, Ordering::Relaxed) != digest
    }

    /// One more resource that it is told about; `None` if it is told about too many.
    pub(crate) fn watched(&self, limit: usize) -> Option<Watched> {
        let more = |count: usize| (count < limit).then_some(count + 1);
        let grown = self.watched.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        grown.is_ok().then(|| Watched(self.watched.clone()))
    }

    /// A call begins; `false` if there are too many.
    pub(crate) fn begin(&self, id: Id<'_>, port: &Arc<Port>, limit: usize) -> bool {
        let key = id.key();
        let mut state = self.lock();
        let fits = state.calls.len() < limit;
        if fits {
            state.calls.push((key, port.clone()));
        }
        fits
    }

    /// A call is over.
    pub(crate) fn done(&self, port: &Arc<Port>) {
        let mut state = self.lock();
        if let Some(at) = state.calls.iter().position(|(_, other)| Arc::ptr_eq(other, port)) {
            state.calls.swap_remove(at);
        }
    }

    /// The client does not want a call's answer any more.
    pub(crate) fn cancel(&self, id: &IdKey) {
        let found = {
            let state = self.lock();
            state.calls.iter().find(|(key, _)| key == id).map(|(_, port)| port.clone())
        };
        if let Some(port) = found {
            port.cancel();
        }
    }

    /// Takes note of a question to the client; under which number, and where its answer comes.
    pub(crate) fn ask(&self, progressed: Option<Progressed>) -> (u64, oneshot::Receiver<Input>) {
        let (answer, receiver) = oneshot::channel();
        let mut state = self.lock();
        state.last_asked += 1;
        let number = state.last_asked;
        state.asked.push(Asked { number, answer, progressed });
        (number, receiver)
    }

    /// The client tells how far it is with an answer, under the number of the question.
    pub(crate) fn progressed(&self, token: Id<'_>, params: Json<'_>) {
        let number = token.number().and_then(|number| u64::try_from(number).ok());
        let found = {
            let state = self.lock();
            let asked = state.asked.iter().find(|asked| Some(asked.number) == number);
            asked.and_then(|asked| asked.progressed.clone())
        };
        if let Some(progressed) = found {
            progressed(params.into());
        }
    }

    /// Whoever asked gets the answer; one that nobody waits for is passed over.
    pub(crate) fn answer(&self, id: Id<'_>, input: Input) {
        let number = id.number().and_then(|number| u64::try_from(number).ok());
        if let Some(sender) = number.and_then(|number| self.forget(number)) {
            let _ = sender.send(input);
        }
    }

    /// Nobody waits for that answer any more; what it would have been sent to, if nobody has.
    pub(crate) fn forget(&self, number: u64) -> Option<oneshot::Sender<Input>> {
        let mut state = self.lock();
        let at = state.asked.iter().position(|asked| asked.number == number)?;
        Some(state.asked.swap_remove(at).answer)
    }

    /// Does something with its streams.
    pub(crate) fn streams<T>(&self, act: impl FnOnce(&mut Streams) -> T) -> T {
        act(&mut self.lock().streams)
    }

    /// Whether its caller's streams keep more than they may.
    pub(crate) fn keeps_too_much(&self) -> bool {
        self.lock().streams.is_full()
    }

    /// Ends everything that is under way.
    pub(crate) fn end(&self) {
        let state = std::mem::take(&mut *self.lock());
        for (_, port) in state.calls {
            port.finish(Over::Ended);
        }
        state.streams.end();
    }

    /// Ends its calls, which are answered so, and nothing else.
    pub(crate) fn end_calls(&self) {
        let calls: Vec<_> = self.lock().calls.iter().map(|(_, port)| port.clone()).collect();
        for port in calls {
            port.finish(Over::Ended);
        }
    }

    /// Whether letting it go would take something from the client.
    fn is_busy(&self) -> bool {
        let state = self.lock();
        !state.calls.is_empty() || state.streams.is_open()
    }

    /// Whether its id says all that is held of it.
    fn is_light(&self) -> bool {
        let says_all = self.hello().is_none_or(|hello| token::says_all(&hello.capabilities));
        says_all && self.level().is_none() && self.streams(|streams| streams.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wish for Session {
    fn level(&self) -> Option<LogLevel> {
        Self::level(self)
    }
}

const LEVELS: [LogLevel; 8] = [
    LogLevel::Debug,
    LogLevel::Info,
    LogLevel::Notice,
    LogLevel::Warning,
    LogLevel::Error,
    LogLevel::Critical,
    LogLevel::Alert,
    LogLevel::Emergency,
];
