//! One declared server as everybody sees it: its state, its connection while there is one, its
//! catalog, its log. Written by its supervisor alone.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::{ArcSwap, ArcSwapOption};
use switchboard_core::port::CallError;
use switchboard_model::{
    Counts, EventKind, LogLine, ServerKey, ServerSpec, ServerState, Until, state::Input,
};
use switchboard_wire::Era;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::bus::Bus;
use crate::catalog::{Catalog, Listing};
use crate::connection::Connection;
use crate::journal::Journal;
use crate::watched::Watched;

/// Health checks that are remembered.
const HISTORY: usize = 60;
/// Lines of its log that a status shows.
const LINES: usize = 20;

/// What a supervisor is told.
pub(crate) enum Command {
    /// Another declaration; answered when it has been taken over.
    Apply(Arc<ServerSpec>, oneshot::Sender<()>),
    /// Connect anew; answered when that has begun.
    Reconnect(oneshot::Sender<()>),
    /// End; answered when nothing runs any more.
    Stop(oneshot::Sender<()>),
}

/// One declared server.
pub(crate) struct Server {
    pub(crate) key: ServerKey,
    pub(crate) spec: ArcSwap<ServerSpec>,
    pub(crate) connection: ArcSwapOption<Connection>,
    pub(crate) catalog: Arc<ArcSwap<Catalog>>,
    pub(crate) listing: ArcSwap<Listing>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) state: watch::Sender<ServerState>,
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) wake: Notify,
    pub(crate) watched: Watched,
    pub(crate) bus: Bus,
    pid: ArcSwapOption<u32>,
    health: Mutex<VecDeque<Health>>,
}

/// One health check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// When.
    pub at: SystemTime,
    /// How long the answer took, or why there was none.
    pub outcome: Result<Duration, String>,
}

/// Everything about one server at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// Which server.
    pub key: ServerKey,
    /// What is declared.
    pub spec: Arc<ServerSpec>,
    /// Where it stands.
    pub state: ServerState,
    /// What it speaks, while it is connected.
    pub era: Option<Era>,
    /// The revision, while it is connected.
    pub revision: Option<&'static str>,
    /// Its name and version, while it is connected.
    pub server: Option<String>,
    /// How much it offers; from the last connection if there is none now.
    pub counts: Counts,
    /// Its process, while there is one.
    pub pid: Option<u32>,
    /// Calls under way.
    pub in_flight: u32,
    /// Calls that this connection has answered.
    pub served: u64,
    /// What it said last.
    pub log: Vec<LogLine>,
    /// The last health checks, oldest first.
    pub health: Vec<Health>,
}

impl Server {
    pub(crate) fn new(
        key: ServerKey,
        spec: Arc<ServerSpec>,
        bus: Bus,
        commands: mpsc::Sender<Command>,
    ) -> Self {
        let journal = Journal::new(key.clone(), bus.clone(), spec.limits.log_buffer);
        Self {
            journal: Arc::new(journal),
            key,
            spec: ArcSwap::new(spec),
            connection: ArcSwapOption::empty(),
            catalog: Arc::default(),
            listing: ArcSwap::default(),
            state: watch::Sender::new(ServerState::START),
            commands,
            wake: Notify::new(),
            watched: Watched::default(),
            bus,
            pid: ArcSwapOption::empty(),
            health: Mutex::default(),
        }
    }

    /// What happens to the connection, and what follows from it.
    pub(crate) fn input(&self, input: Input) {
        let from = self.state.borrow().clone();
        let to = from.next(input);
        if from != to {
            tracing::debug!(server = %self.key, from = from.code(), to = to.code(), "state");
            self.state.send_replace(to.clone());
            self.bus.send(&self.key, EventKind::StateChanged { from, to });
        }
    }

    /// Publishes what it offers, by what it lists and what is declared; the same is no news.
    pub(crate) fn offer(&self) {
        let spec = self.spec.load();
        let health = spec.timing.health_interval;
        let catalog = Catalog::of(&self.listing.load(), &spec.tools, health);
        if **self.catalog.load() != catalog {
            let counts = catalog.counts();
            self.catalog.store(Arc::new(catalog));
            self.bus.send(&self.key, EventKind::CatalogChanged { counts });
        }
    }

    /// Nobody knows whether a resource changed while it was not heard: whoever subscribed to it looks once.
    pub(crate) fn tell_to_look(&self, uri: &str) {
        self.bus.send(&self.key, EventKind::ResourceUpdated { uri: uri.into() });
    }

    /// It does not tell of a resource of which it had agreed to. It is asked anew when somebody asks for it.
    pub(crate) fn lose(&self, uri: &str) {
        if self.watched.lose(uri) {
            self.bus.send(&self.key, EventKind::ResourceUntold { uri: uri.into() });
        }
    }

    /// Publishes a connection.
    pub(crate) fn publish(&self, connection: Arc<Connection>, pid: Option<u32>) {
        self.pid.store(pid.map(Arc::new));
        self.connection.store(Some(connection));
    }

    /// Takes the connection away: whoever has it keeps it until it ends.
    pub(crate) fn withdraw(&self) {
        self.connection.store(None);
        self.pid.store(None);
    }

    pub(crate) fn note_health(&self, outcome: Result<Duration, String>) {
        let at = self.bus.clock().now();
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        if health.len() == HISTORY {
            health.pop_front();
        }
        health.push_back(Health { at, outcome });
    }

    /// The connection, waiting for one that is on its way.
    pub(crate) async fn connected(&self, limit: Duration) -> Result<Arc<Connection>, CallError> {
        if let Some(connection) = self.usable() {
            return Ok(connection);
        }
        let mut states = self.state.subscribe();
        let wait = async {
            loop {
                let state = states.borrow_and_update().clone();
                match state {
                    ServerState::Connected { .. } => {
                        if let Some(connection) = self.usable() {
                            return Ok(connection);
                        }
                    }
                    ServerState::Disconnected { until: Until::NextCall } => self.wake.notify_one(),
                    // One that has just broken is back in a moment.
                    ServerState::Connecting { .. } | ServerState::Failed { attempt: 0..=1, .. } => {
                    }
                    ServerState::Disabled
                    | ServerState::NeedsSetup { .. }
                    | ServerState::NeedsApproval
                    | ServerState::NeedsAuth { .. }
                    | ServerState::Failed { .. }
                    | ServerState::Disconnected { until: Until::Told } => {
                        return Err(CallError::NotConnected { state: Box::new(state) });
                    }
                }
                if states.changed().await.is_err() {
                    return Err(CallError::Unknown);
                }
            }
        };
        match timeout(limit, wait).await {
            Ok(done) => done,
            Err(_) => Err(CallError::NotConnected { state: Box::new(self.state.borrow().clone()) }),
        }
    }

    /// The connection, unless it has ended and is only not yet taken away.
    pub(crate) fn usable(&self) -> Option<Arc<Connection>> {
        self.connection.load_full().filter(|connection| !connection.channel.token().is_cancelled())
    }

    pub(crate) fn status(&self) -> Status {
        let connection = self.connection.load_full();
        let peer = connection.as_ref().map(|connection| connection.peer());
        Status {
            key: self.key.clone(),
            spec: self.spec.load_full(),
            state: self.state.borrow().clone(),
            era: peer.map(|peer| peer.era()),
            revision: peer.map(|peer| peer.revision.as_str()),
            server: peer.map(|peer| self.journal.hide(&peer.title())),
            counts: self.catalog.load().counts(),
            pid: self.pid.load().as_deref().copied(),
            in_flight: connection.as_ref().map_or(0, |connection| connection.in_flight()),
            served: connection.as_ref().map_or(0, |connection| connection.served()),
            log: self.journal.last(LINES),
            health: self.health.lock().unwrap_or_else(PoisonError::into_inner).clone().into(),
        }
    }
}
