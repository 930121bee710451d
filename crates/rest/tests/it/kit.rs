//! What the tests share: a hub around the API, people with tokens, and a client. Never checks
//! anything itself.

mod client;
mod hub;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard_core::results::Bounds;
use switchboard_core::{Ports, Registry, Results, Router};
use switchboard_model::{AgentId, AgentSpec, Secret, ServerKey, ServerName, UserId};
use switchboard_rest::{Api, Parts};
use switchboard_store::{
    Actor, Address, KeySource, Options, Recorder, RecorderOptions, Role, Store, Subject,
};
use switchboard_testkit::{ManualClock, Postgres, Scratch};
use switchboard_upstream::{Context, Instance, Upstreams};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use client::{Answer, Client};
pub(crate) use hub::{TestGate, TestHub};

/// Runs every case on both engines: on SQLite each by itself, on PostgreSQL one after another.
macro_rules! suite {
    ($($case:ident,)*) => {
        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    super::$case(crate::kit::Engine::Sqlite).await;
                }
            )*
        }

        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn postgres() {
            let server = switchboard_testkit::Postgres::start();
            $(
                eprintln!("{}", stringify!($case));
                $case(crate::kit::Engine::Postgres(&server)).await;
            )*
        }
    };
}

/// Which database a case runs on.
#[derive(Clone, Copy)]
pub(crate) enum Engine<'p> {
    Sqlite,
    Postgres(&'p Postgres),
}

/// What somebody sends to prove who they are.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    /// An administrator.
    pub(crate) ada: String,
    /// A member.
    pub(crate) bob: String,
    /// Another member.
    pub(crate) eve: String,
    /// Bob's agent.
    pub(crate) agent: String,
    /// Bob's, no longer good.
    pub(crate) expired: String,
    /// Bob's, made worthless.
    pub(crate) revoked: String,
}

/// A running API.
pub(crate) struct World {
    pub(crate) scratch: Scratch,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Store,
    pub(crate) hub: Arc<TestHub>,
    pub(crate) tokens: Tokens,
    pub(crate) address: SocketAddr,
    end: CancellationToken,
    tasks: TaskTracker,
}

impl World {
    /// With nothing in files.
    pub(crate) async fn start(engine: Engine<'_>) -> Self {
        Self::with(engine, |_| Vec::new()).await
    }

    /// With what a file declares, as text of our own file.
    pub(crate) async fn with(
        engine: Engine<'_>,
        files: impl FnOnce(&Scratch) -> Vec<String>,
    ) -> Self {
        let scratch = Scratch::new();
        let clock = Arc::new(ManualClock::new());
        clock.advance(Duration::from_secs(1_800_000_000));
        let store = Store::open(Options {
            address: match engine {
                Engine::Sqlite => Address::Sqlite(scratch.path().join("store.db")),
                Engine::Postgres(server) => Address::Postgres(Secret::new(server.database())),
            },
            key: KeySource::File(scratch.path().join("master.key")),
            clock: clock.clone(),
        });
        let store = store.await.unwrap();
        let tokens = people(&store, &clock).await;
        let files = files(&scratch);
        let (end, tasks) = (CancellationToken::new(), TaskTracker::new());
        let gate = Arc::new(TestGate::default());
        let env = |name: &str| match name {
            "PATH" => Some(Secret::new("/usr/bin:/bin")),
            "HOME" => Some(Secret::new("/tmp")),
            "HUB_SECRET" => Some(Secret::new("hub-canary-value")),
            _ => None,
        };
        let mut context = Context::new(Arc::new(env), Instance::current(scratch.path()));
        context.gate = gate.clone();
        let upstreams = Upstreams::new(context);
        let registry = Registry::default();
        let hub = TestHub::new(store.clone(), upstreams.clone(), registry.clone(), gate, &files);
        let hub = Arc::new(hub);
        tasks.spawn(hub::follow(hub.clone(), end.clone()));
        hub.make_so().await.unwrap();
        let recorder = Recorder::start(&store, RecorderOptions::default()).unwrap();
        let ports = Ports::new(Arc::new(upstreams.clone()));
        let api = Api::new(Parts {
            store: store.clone(),
            upstreams,
            registry,
            models: switchboard_core::Surface::model(),
            router: Router::new(ports, Results::new(clock.clone(), Bounds::default()), [7; 32]),
            recorder: Some(recorder),
            spans: None,
            hub: hub.clone(),
            clock: clock.clone(),
            end: end.clone(),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = end.clone().cancelled_owned();
        let router = api.router();
        tasks.spawn(async move {
            axum::serve(listener, router).with_graceful_shutdown(stop).await.unwrap();
        });
        Self { scratch, clock, store, hub, tokens, address, end, tasks }
    }

    /// Without a credential.
    pub(crate) fn nobody(&self) -> Client {
        Client::new(self.address, &self.tasks)
    }

    /// With a token.
    pub(crate) fn client(&self, token: &str) -> Client {
        self.nobody().header("authorization", &format!("Bearer {token}"))
    }

    /// The administrator.
    pub(crate) fn ada(&self) -> Client {
        self.client(&self.tokens.ada)
    }

    /// A member.
    pub(crate) fn bob(&self) -> Client {
        self.client(&self.tokens.bob)
    }

    /// Ends everything.
    pub(crate) async fn stop(self) {
        self.end.cancel();
        self.hub.upstreams.disconnect_all().await;
        self.store.close().await.unwrap();
    }
}

async fn people(store: &Store, clock: &ManualClock) -> Tokens {
    let by = Actor::system();
    store.users().first(&user("ada"), "Ada").await.unwrap();
    for id in ["bob", "eve"] {
        store.users().create(&user(id), id, Role::Member, &by).await.unwrap();
    }
    let helper = AgentId::parse("helper").unwrap();
    let spec = AgentSpec::default();
    store.agents().create(&helper, &user("bob"), &spec, &by).await.unwrap();
    let token = |subject: Subject, lasts: Option<Duration>| {
        let (by, expires) = (by.clone(), lasts.map(|lasts| clock_now(clock) + lasts));
        async move {
            let made = store.tokens().create(&subject, "test", expires, &by).await.unwrap();
            (made.token.id, made.secret.expose().to_owned())
        }
    };
    let person = |id: &str| Subject::User(user(id));
    let ada = token(person("ada"), None).await.1;
    let bob = token(person("bob"), None).await.1;
    let eve = token(person("eve"), None).await.1;
    let agent = token(Subject::Agent(helper), None).await.1;
    let expired = token(person("ada"), Some(Duration::from_secs(60))).await.1;
    let (id, revoked) = token(person("ada"), None).await;
    store.tokens().revoke(&id, &by).await.unwrap();
    clock.advance(Duration::from_secs(120));
    Tokens { ada, bob, eve, agent, expired, revoked }
}

fn clock_now(clock: &ManualClock) -> std::time::SystemTime {
    switchboard_model::Clock::now(clock)
}

pub(crate) fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}

pub(crate) fn global(name: &str) -> ServerKey {
    ServerKey::global(ServerName::parse(name).unwrap())
}
