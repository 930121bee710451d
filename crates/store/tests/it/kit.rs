//! What the cases share: a world with a database, a key and a clock.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection, PgConnection, SqliteConnection};
use switchboard_model::{
    AgentId, CallOrigin, Decision, HttpKind, HttpSpec, Outcome, Scope, Secret, ServerKey,
    ServerName, ServerSpec, StdioSpec, Template, Transport, UserId,
};
use switchboard_store::{
    Actor, Address, CallRecord, KeySource, Options, Result, Role, Shape, Store,
};
use switchboard_testkit::{ManualClock, Postgres, Scratch};

/// Runs every case on both engines: on SQLite each by itself, on PostgreSQL one after another.
macro_rules! suite {
    ($($case:ident,)*) => {
        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    super::$case(crate::kit::World::sqlite()).await;
                }
            )*
        }

        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn postgres() {
            let server = switchboard_testkit::Postgres::start();
            $(
                eprintln!("{}", stringify!($case));
                $case(crate::kit::World::postgres(&server)).await;
            )*
        }
    };
}

/// A database, a key and a clock.
pub(crate) struct World {
    pub(crate) scratch: Scratch,
    pub(crate) address: Address,
    pub(crate) clock: Arc<ManualClock>,
}

impl World {
    pub(crate) fn sqlite() -> Self {
        let scratch = Scratch::new();
        let path = scratch.path().join("state/store.db");
        Self { scratch, address: Address::Sqlite(path), clock: clock() }
    }

    pub(crate) fn postgres(server: &Postgres) -> Self {
        let url = Secret::new(server.database());
        Self { scratch: Scratch::new(), address: Address::Postgres(url), clock: clock() }
    }

    pub(crate) fn key_file(&self) -> PathBuf {
        self.scratch.path().join("state/master.key")
    }

    pub(crate) fn options(&self) -> Options {
        let key = KeySource::File(self.key_file());
        Options { address: self.address.clone(), key, clock: self.clock.clone() }
    }

    pub(crate) async fn try_open(&self) -> Result<Store> {
        Store::open(self.options()).await
    }

    pub(crate) async fn open(&self) -> Store {
        self.try_open().await.unwrap()
    }

    /// A store with an administrator and a member.
    pub(crate) async fn peopled(&self) -> Store {
        let store = self.open().await;
        store.users().first(&user("ada"), "Ada").await.unwrap().unwrap();
        store.users().create(&user("bob"), "Bob", Role::Member, &ada()).await.unwrap();
        store
    }

    /// Does something behind the store's back.
    pub(crate) async fn raw(&self, text: &str) {
        let text = sqlx::AssertSqlSafe(text.to_owned());
        match &self.address {
            Address::Sqlite(path) => {
                let url = format!("sqlite://{}", path.display());
                let mut connection = SqliteConnection::connect(&url).await.unwrap();
                sqlx::raw_sql(text).execute(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
            Address::Postgres(url) => {
                let mut connection = PgConnection::connect(url.expose()).await.unwrap();
                sqlx::raw_sql(text).execute(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
        }
    }

    /// Asks for one number behind the store's back.
    pub(crate) async fn count(&self, text: &str) -> i64 {
        let text = sqlx::AssertSqlSafe(text.to_owned());
        match &self.address {
            Address::Sqlite(path) => {
                let url = format!("sqlite://{}", path.display());
                let mut connection = SqliteConnection::connect(&url).await.unwrap();
                sqlx::query_scalar(text).fetch_one(&mut connection).await.unwrap()
            }
            Address::Postgres(url) => {
                let mut connection = PgConnection::connect(url.expose()).await.unwrap();
                sqlx::query_scalar(text).fetch_one(&mut connection).await.unwrap()
            }
        }
    }
}

fn clock() -> Arc<ManualClock> {
    let clock = ManualClock::new();
    clock.advance(Duration::from_secs(1_800_000_000));
    Arc::new(clock)
}

pub(crate) fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}

pub(crate) fn agent(id: &str) -> AgentId {
    AgentId::parse(id).unwrap()
}

pub(crate) fn ada() -> Actor {
    Actor::user(user("ada"), CallOrigin::Rest)
}

pub(crate) fn global(name: &str) -> ServerKey {
    ServerKey::global(ServerName::parse(name).unwrap())
}

pub(crate) fn of_user(id: &str, name: &str) -> ServerKey {
    ServerKey { scope: Scope::User(user(id)), ..global(name) }
}

pub(crate) fn of_agent(id: &str, name: &str) -> ServerKey {
    ServerKey { scope: Scope::Agent(agent(id)), ..global(name) }
}

pub(crate) fn command(key: &ServerKey, args: &[&str]) -> ServerSpec {
    let transport = Transport::Stdio(StdioSpec {
        command: Template::literal("npx"),
        args: args.iter().map(|word| Template::literal(*word)).collect(),
        env: Default::default(),
        cwd: None,
    });
    ServerSpec::new(key.name.clone(), transport)
}

pub(crate) fn remote(key: &ServerKey) -> ServerSpec {
    let url = Template::literal("https://example.com/mcp");
    let http = HttpSpec { kind: HttpKind::Streamable, url, headers: Default::default() };
    ServerSpec::new(key.name.clone(), Transport::Http(http))
}

/// A call, told apart by its number.
pub(crate) fn call(world: &World, n: u32) -> CallRecord {
    use switchboard_model::Clock;
    CallRecord {
        at: world.clock.now(),
        user: Some(user("ada")),
        agent: Some(agent("cto")),
        server: global("github"),
        tool: format!("tool_{n}").into(),
        origin: CallOrigin::Mcp,
        decision: Decision::Allow,
        outcome: Some(Outcome::Done),
        duration: Duration::from_millis(5),
        bytes_in: 10,
        bytes_out: 100,
        trace: Some(format!("trace-{n}")),
        shape: Shape::parse(r#"{"path":"string"}"#),
        arguments: None,
        error: None,
    }
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..3_000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it never came to be: {what}");
}
