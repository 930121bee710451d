//! What a hub is made of.

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use switchboard_config::environment;
use switchboard_core::port::{Record, RecordNothing, Trace};
use switchboard_core::results::{Bounds, Results};
use switchboard_core::router::Ports;
use switchboard_core::{Registry, Router, Surface};
use switchboard_mcp::{Authenticate, Endpoint, Options};
use switchboard_model::{Clock, Desired, SystemClock};
use switchboard_store::{Actor, Recorder, RecorderOptions, Store};
use switchboard_upstream::{Gate, Lookup, Open, Upstreams};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::audited::Audited;
use super::house::House;
use super::record::Recording;
use super::{Hub, Inner, Tokens, access, cache, ended, house_key, offers};
use crate::servers::{self, Making};
use crate::state_dir::StateDir;
use crate::traces::{Spans, Target, Traced};

/// Why a hub did not start.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The store did not answer.
    #[error("the store cannot be used")]
    Store(#[from] switchboard_store::Error),
    /// No random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
}

/// What a hub is made of. Everything has a default: without a store nothing lasts, without a state
/// directory nothing is remembered and nothing guards the servers against a crash.
pub struct Builder {
    store: Option<Store>,
    state: Option<StateDir>,
    clock: Arc<dyn Clock>,
    env: Lookup,
    guardian: Option<(PathBuf, String)>,
    gate: Arc<dyn Gate>,
    surface: Surface,
    models: Surface,
    hosts: Vec<String>,
    auth: Option<Arc<dyn Authenticate>>,
    traces: Option<Target>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            store: None,
            state: None,
            clock: Arc::new(SystemClock),
            env: Arc::new(environment::variable),
            guardian: None,
            gate: Arc::new(Open),
            surface: Surface::mcp(),
            models: Surface::model(),
            hosts: Vec::new(),
            auth: None,
            traces: None,
        }
    }
}

impl Builder {
    /// With state that lasts: agents and their tokens, usage, audit, cached catalogs. [`Hub::shutdown`] closes it, for all
    /// who have a clone of it.
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// With a directory for what was learnt, and for finding what an earlier hub left running.
    pub fn state(mut self, state: StateDir) -> Self {
        self.state = Some(state);
        self
    }

    /// With another time.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// With other variables than those of the process, for templates and servers.
    pub fn env(mut self, env: Lookup) -> Self {
        self.env = env;
        self
    }

    /// With a guardian: a program that calls [`servers::guard`] with its second argument when it is
    /// started with `argument` as its first. It ends the servers if this process is killed.
    pub fn guardian(mut self, program: PathBuf, argument: &str) -> Self {
        self.guardian = Some((program, argument.to_owned()));
        self
    }

    /// With somebody who says which command lines may be started, and has the credentials.
    pub fn gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.gate = gate;
        self
    }

    /// With other names at the MCP endpoint.
    pub fn surface(mut self, surface: Surface) -> Self {
        self.surface = surface;
        self
    }

    /// With other names towards models, in [`Hub::tools`] and whatever is built on it.
    pub fn models(mut self, surface: Surface) -> Self {
        self.models = surface;
        self
    }

    /// With names under which the endpoint may be called besides those of the loopback.
    pub fn hosts(mut self, hosts: Vec<String>) -> Self {
        self.hosts = hosts;
        self
    }

    /// With somebody who knows the tokens of agents, instead of the store. Without either, [`Hub::endpoint`] lets nobody
    /// in.
    pub fn auth(mut self, auth: Arc<dyn Authenticate>) -> Self {
        self.auth = Some(auth);
        self
    }

    /// With a collector that every call is told as a span.
    pub fn traces(mut self, collector: Option<Target>) -> Self {
        self.traces = collector;
        self
    }

    /// Starts it, with nothing declared. Must be called inside a tokio runtime.
    pub async fn start(self) -> Result<Hub, HubError> {
        let key = key(self.store.as_ref()).await?;
        let making = Making {
            state: self.state.as_ref(),
            env: self.env.clone(),
            guardian: self.guardian.clone(),
            gate: self.gate.clone(),
            clock: self.clock.clone(),
        };
        let upstreams = servers::prepare(making).await;
        let registry = Registry::default();
        let recorder = match &self.store {
            Some(store) => Some(Recorder::start(store, RecorderOptions::default())?),
            None => None,
        };
        let spans = self.traces.clone().and_then(|target| spans(target, &upstreams));
        let audited = self.store.as_ref();
        let audited = audited.map(|store| Arc::new(Audited::new(store.clone(), self.env.clone())));
        let recording = recorder
            .clone()
            .zip(audited.clone())
            .map(|(recorder, audited)| Recording::new(recorder, audited, self.clock.clone()));
        let router = self.router((&upstreams, &registry), recording, spans.clone(), key);
        let mut options = Options::new(registry.clone(), router.clone(), self.known(), key);
        let (ended, writer) = self.state.as_ref().map(ended::open).unzip();
        options.ended = ended.map(|ended| Arc::new(ended) as _);
        (options.clock, options.surface, options.hosts) = (self.clock, self.surface, self.hosts);
        let endpoint = Endpoint::new(options);
        registry.publish(&house_key(), Arc::new(House::offer()));

        let (tasks, keeping) = (TaskTracker::new(), TaskTracker::new());
        let end = CancellationToken::new();
        if let Some(writer) = writer {
            keeping.spawn(writer.write(end.clone()));
        }
        if let Some(store) = &self.store {
            cache::recall(store, &registry).await?;
            keeping.spawn(cache::keep(store.clone(), upstreams.clone(), end.clone()));
            tasks.spawn(access::review(store.clone(), endpoint.clone(), end.clone()));
        }
        let told = endpoint.clone();
        tasks.spawn(offers::follow(upstreams.clone(), registry.clone(), told, end.clone()));
        let hub = Hub(Arc::new(Inner {
            upstreams,
            registry,
            router,
            endpoint,
            store: self.store,
            recorder,
            audited,
            spans,
            models: self.models,
            desired: ArcSwap::from_pointee(Desired::default()),
            turn: Arc::default(),
            tasks,
            keeping,
            end,
        }));
        hub.refresh_audience();
        Ok(hub)
    }

    /// Who knows agents' tokens.
    fn known(&self) -> Arc<dyn Authenticate> {
        match &self.auth {
            Some(auth) => auth.clone(),
            None => Arc::new(Tokens::new(self.store.as_ref())),
        }
    }

    fn house(&self, upstreams: &Upstreams, registry: &Registry) -> House {
        let access = self.store.as_ref().map(|store| store.access().clone());
        House::new(upstreams.clone(), registry.clone(), access)
    }

    fn router(
        &self,
        (upstreams, registry): (&Upstreams, &Registry),
        recording: Option<Recording>,
        spans: Option<Spans>,
        key: [u8; 32],
    ) -> Router {
        let mut record: Arc<dyn Record> = match recording {
            Some(recording) => Arc::new(recording),
            None => Arc::new(RecordNothing),
        };
        let mut trace: Option<Arc<dyn Trace>> = None;
        if let Some(spans) = spans {
            let traced = Arc::new(Traced::new(spans, self.clock.clone(), record));
            trace = Some(traced.clone());
            record = traced;
        }
        let ports = Ports {
            hub: Some(Arc::new(self.house(upstreams, registry))),
            record,
            trace,
            clock: self.clock.clone(),
            ..Ports::new(Arc::new(upstreams.clone()))
        };
        Router::new(ports, Results::new(self.clock.clone(), Bounds::default()), key)
    }
}

/// A hub does without traces rather than not start.
fn spans(target: Target, upstreams: &Upstreams) -> Option<Spans> {
    match upstreams.http() {
        Ok(client) => Some(Spans::start(target, client)),
        Err(error) => {
            tracing::warn!("there are no traces, as nothing can be sent over HTTP: {error}");
            None
        }
    }
}

/// What seals ids towards agents: the same for all instances on one store, and across restarts.
async fn key(store: Option<&Store>) -> Result<[u8; 32], HubError> {
    const NAME: &str = "endpoint_key";
    let Some(store) = store else { return random() };
    let read = |text: &str| -> Option<[u8; 32]> {
        let digits = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..64).step_by(2).map(digits).collect();
        bytes?.try_into().ok()
    };
    if let Some(kept) = store.settings().secret(NAME).await?
        && let Some(key) = read(kept.expose())
    {
        return Ok(key);
    }
    let made = random()?;
    let text: String = made.iter().map(|byte| format!("{byte:02x}")).collect();
    let secret = switchboard_model::Secret::new(text);
    store.settings().set_secret(NAME, Some(&secret), &Actor::system()).await?;
    // Of two instances that start at once, the later one's counts for both.
    let kept = store.settings().secret(NAME).await?;
    Ok(kept.and_then(|kept| read(kept.expose())).unwrap_or(made))
}

fn random() -> Result<[u8; 32], HubError> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| HubError::Random(error.to_string()))?;
    Ok(key)
}
