//! The store itself: opens, hands out its groups, closes. Holds no query of its own.

use std::sync::Arc;
use std::time::SystemTime;

use switchboard_model::Clock;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::Access;
use crate::audit::Memory;
use crate::db::{Address, Db, Engine, millis};
use crate::error::Result;
use crate::topics::{Topic, Topics};
use crate::vault::{KeySource, Vault};
use crate::{
    Agents, Approvals, Audit, Credentials, Definitions, Events, Idempotency, Leases, Rules,
    Servers, Settings, SignIn, Snapshots, Tokens, ToolCache, Usage, Users, Verdicts, migrate,
};

/// How a store is opened.
pub struct Options {
    /// Where the database is.
    pub address: Address,
    /// Where the master key is.
    pub key: KeySource,
    /// What tells the time.
    pub clock: Arc<dyn Clock>,
}

/// State that lasts. Clones share it.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    db: Db,
    vault: Vault,
    clock: Arc<dyn Clock>,
    topics: Topics,
    access: Access,
    log: Memory,
    tasks: TaskTracker,
    end: CancellationToken,
}

/// A handle on one group of tables.
macro_rules! groups {
    ($($(#[$doc:meta])* $method:ident: $group:ident,)*) => {
        impl Store {
            $(
                $(#[$doc])*
                pub fn $method(&self) -> $group<'_> {
                    $group(self)
                }
            )*
        }
    };
}

groups! {
    /// People.
    users: Users,
    /// How people sign in on the page.
    sign_in: SignIn,
    /// Agents.
    agents: Agents,
    /// Bearer tokens.
    tokens: Tokens,
    /// Servers that the store declares, and what happened to any server.
    servers: Servers,
    /// What the hub proves itself with to servers.
    credentials: Credentials,
    /// Definitions of tools, pinned, with their history.
    definitions: Definitions,
    /// Catalogs, for an answer before the servers are there.
    tool_cache: ToolCache,
    /// What servers were found to speak.
    verdicts: Verdicts,
    /// Calls that wait for a person's answer.
    approvals: Approvals,
    /// The rules of the policy that the store has.
    rules: Rules,
    /// Counts over time.
    usage: Usage,
    /// The audit log.
    audit: Audit,
    /// What happened, for those who resume.
    events: Events,
    /// What was known at the last start.
    snapshots: Snapshots,
    /// Requests that must not be done twice.
    idempotency: Idempotency,
    /// Settings.
    settings: Settings,
    /// Locks that several instances share.
    leases: Leases,
}

impl Store {
    /// Opens the database, brings its schema up to date, and opens the vault. Several instances may
    /// do so at once: they take turns.
    pub async fn open(options: Options) -> Result<Self> {
        let Options { address, key, clock } = options;
        let db = match &address {
            Address::Sqlite(path) => Db::sqlite(path).await?,
            Address::Postgres(url) => Db::postgres(url).await?,
        };
        let now = clock.now();
        let mut tx = db.begin().await?;
        migrate::lock(&mut tx).await?;
        migrate::run(&mut tx).await?;
        let vault = Vault::open(&mut tx, key, millis(now)).await?;
        crate::audit::found(&mut tx, &vault).await?;
        tx.commit().await?;
        vault.finish_rotation(&db).await?;

        let topics = Topics::new();
        topics.refresh(&db).await?;
        let access = Access::load(db.clone(), clock.clone()).await?;
        let log = Memory::default();
        let (tasks, end) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(topics.clone().follow(db.clone(), end.clone()));
        tasks.spawn(access.clone().follow(topics.watch(Topic::People), end.clone()));
        tasks.close();
        Ok(Self(Arc::new(Inner { db, vault, clock, topics, access, log, tasks, end })))
    }

    /// Which database it is.
    pub fn engine(&self) -> Engine {
        self.0.db.engine()
    }

    /// Who a token belongs to, answered from memory.
    pub fn access(&self) -> &Access {
        &self.0.access
    }

    /// Changes of a topic, here or in another instance: the value counts them.
    pub fn watch(&self, topic: Topic) -> watch::Receiver<i64> {
        self.0.topics.watch(topic)
    }

    /// Whether the database answers, and the vault opens: a key that was changed behind this store's
    /// back makes everything fail that seals something, and each change does.
    pub async fn ping(&self) -> Result<()> {
        let mut tx = self.db().read().await?;
        self.vault().check(&mut tx).await
    }

    /// Takes a new master key and a new data key, and seals everything anew. Cut short, it is
    /// finished at the next start.
    pub async fn rotate(&self, to: KeySource) -> Result<()> {
        self.vault().rotate(self.db(), to, millis(self.now())).await?;
        let mut change = crate::change::Change::begin(self).await?;
        let (by, to) = (crate::Actor::system(), crate::change::To::Named("master key"));
        change.act(&by, "vault.rotate", to, serde_json::json!({}));
        change.commit().await
    }

    /// Writes what is still in memory and closes every connection. Whoever records must have
    /// closed the recorder before.
    pub async fn close(&self) -> Result<()> {
        self.0.end.cancel();
        self.0.tasks.wait().await;
        let written = self.0.access.write_last_used().await;
        self.0.db.close().await;
        written
    }

    pub(crate) fn db(&self) -> &Db {
        &self.0.db
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.0.vault
    }

    /// What is remembered of the audit log.
    pub(crate) fn log(&self) -> &Memory {
        &self.0.log
    }

    pub(crate) fn topics(&self) -> &Topics {
        &self.0.topics
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.0.clock
    }

    /// The time, as the store sees it.
    pub fn now(&self) -> SystemTime {
        self.0.clock.now()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("engine", &self.engine()).finish_non_exhaustive()
    }
}
