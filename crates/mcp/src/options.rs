//! What an endpoint is made of, and how much it takes. Never does anything.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::{Registry, Router, Surface};
use switchboard_model::{Clock, SystemClock};
use switchboard_wire as wire;

use crate::auth::Authenticate;
use crate::session::Remember;

/// What an endpoint is made of. [`Options::new`] has defaults for what need not be said.
pub struct Options {
    /// What is on offer, to whom.
    pub registry: Registry,
    /// The path of every call.
    pub router: Router,
    /// Who calls.
    pub auth: Arc<dyn Authenticate>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Seals the ids of sessions and what callers keep for us: instances that share it can take
    /// over each other's sessions.
    pub key: [u8; 32],
    /// Where it is kept beyond this process which sessions were ended.
    pub ended: Option<Arc<dyn Remember>>,
    /// How much is taken.
    pub limits: Limits,
    /// The names that agents see; a server's own door always has its own names.
    pub surface: Surface,
    /// Who we say we are.
    pub identity: Identity,
    /// Names under which we may be called besides those of the loopback, with or without a port.
    pub hosts: Vec<String>,
    /// Origins that pages may call from besides those of our hosts, such as `https://hub.example`.
    pub origins: Vec<String>,
}

impl Options {
    /// With the defaults.
    pub fn new(
        registry: Registry,
        router: Router,
        auth: Arc<dyn Authenticate>,
        key: [u8; 32],
    ) -> Self {
        Self {
            registry,
            router,
            auth,
            clock: Arc::new(SystemClock),
            key,
            ended: None,
            limits: Limits::default(),
            surface: Surface::mcp(),
            identity: Identity::default(),
            hosts: Vec::new(),
            origins: Vec::new(),
        }
    }
}

/// Who we say we are (`serverInfo`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

impl Default for Identity {
    fn default() -> Self {
        Self { name: "switchboard".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// How much is taken, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes, depth and batch length of a message.
    pub message: wire::Limits,
    /// Bytes of long messages of one caller that arrive or whose calls are under way.
    pub taken_each: usize,
    /// The same of all callers together.
    pub taken: usize,
    /// Bytes of all headers of a request.
    pub headers: usize,
    /// How long a body may take to arrive.
    pub read: Duration,
    /// How long a call may take before its answer becomes a stream, so that nobody in between
    /// takes the silence for the end.
    pub plain: Duration,
    /// After how much silence a stream says that it is alive.
    pub keep_alive: Duration,
    /// Sessions in all that are held at once.
    pub sessions: usize,
    /// Sessions of one caller that are held at once.
    pub sessions_each: usize,
    /// After how much idleness what is held of a session is let go.
    pub session_idle: Duration,
    /// The same for a session of which nothing is held that its id does not say: most are left behind by
    /// clients that are gone and did not end them.
    pub session_light: Duration,
    /// How long a session id is good.
    pub session_life: Duration,
    /// Bytes of what a client declares that it can do: a session keeps it for as long as it lasts.
    pub capabilities: usize,
    /// Calls of one session under way at once.
    pub calls: usize,
    /// Bytes of events that a session's stream keeps for a client that comes back.
    pub replay: usize,
    /// Bytes of events that all sessions of one caller keep so, with what waits to be read on channels; above,
    /// what can be missed goes, and streams that are over are not kept. Above twice as much, channels of the
    /// older transport take nothing more.
    pub kept_each: usize,
    /// The same for all callers together.
    pub kept: usize,
    /// Bytes of the answers to one batch; what does not fit is answered with an error.
    pub batch: usize,
    /// Bytes that may wait for a client on a connection of its own before nothing more is taken
    /// from it.
    pub unread: usize,
    /// How long a client may take to answer what a server asks.
    pub input: Duration,
    /// How long calls under way may take when the hub ends; behind that they are answered with an error.
    pub farewell: Duration,
    /// Calls in all that wait for a client to come back with inputs.
    pub parked: usize,
    /// Calls of one caller that wait so.
    pub parked_each: usize,
    /// Bytes of all calls that wait so: what they were sent with, and what is asked.
    pub parked_bytes: usize,
    /// The same of one caller.
    pub parked_bytes_each: usize,
    /// Streams of changes (`subscriptions/listen`) of one caller.
    pub listens: usize,
    /// How long servers may take to agree to a stream's subscriptions; those that have not by then
    /// are not promised.
    pub agree: Duration,
    /// Resources that one session or stream is told about.
    pub subscriptions: usize,
    /// Bytes of what one caller is subscribed to, on all sessions and streams: of its names, and what is kept beside.
    pub subscribed_each: usize,
    /// The same of all callers together.
    pub subscribed: usize,
    /// How long changes, and what a server asks back, are gathered before anybody is told.
    pub gather: Duration,
    /// For how long a list may be kept by who got it.
    pub list_ttl: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: wire::Limits { max_bytes: 32 * 1024 * 1024, ..wire::Limits::DEFAULT },
            taken_each: 128 * 1024 * 1024,
            taken: 512 * 1024 * 1024,
            headers: 64 * 1024,
            read: Duration::from_secs(30),
            plain: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            sessions: 100_000,
            sessions_each: 20_000,
            session_idle: Duration::from_secs(60 * 60),
            session_light: Duration::from_secs(5 * 60),
            session_life: Duration::from_secs(7 * 24 * 60 * 60),
            capabilities: 8 * 1024,
            calls: 1_024,
            replay: 256 * 1024,
            kept_each: 32 * 1024 * 1024,
            kept: 256 * 1024 * 1024,
            batch: 8 * 1024 * 1024,
            unread: 16 * 1024 * 1024,
            input: Duration::from_secs(10 * 60),
            farewell: Duration::from_secs(5),
            parked: 1_024,
            parked_each: 16,
            parked_bytes: 256 * 1024 * 1024,
            parked_bytes_each: 64 * 1024 * 1024,
            listens: 256,
            agree: Duration::from_secs(5),
            subscriptions: 1_000,
            subscribed_each: 32 * 1024 * 1024,
            subscribed: 256 * 1024 * 1024,
            gather: Duration::from_millis(50),
            list_ttl: Duration::from_secs(60),
        }
    }
}
