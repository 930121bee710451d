//! Who a token belongs to, answered from memory: the call's path never waits for the database.
//! The snapshot is swapped as a whole when people, agents or tokens change, here or elsewhere.

mod recent;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use switchboard_model::{AgentId, Clock, Secret, UserId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::recent::Recent;
use crate::agents::{self, Agent};
use crate::db::{Db, millis, sql};
use crate::error::Result;
use crate::random;
use crate::tokens::{self, Subject};
use crate::users::{self, User};

/// How late `last_used` may be.
const LAST_USED: Duration = Duration::from_secs(5);
/// A use within so many milliseconds of the last one is not noted again.
const SAME_USE: i64 = 1_000;

/// Whose token it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The person it counts for: the token's own, or the owner of its agent.
    pub user: Arc<User>,
    /// The agent, if it is one's token.
    pub agent: Option<Arc<Agent>>,
    /// The token's id.
    pub token: Arc<str>,
}

/// Who a token belongs to. Clones share it.
#[derive(Clone)]
pub struct Access(Arc<Inner>);

struct Inner {
    db: Db,
    clock: Arc<dyn Clock>,
    people: ArcSwap<People>,
    used: Mutex<HashMap<Arc<str>, SystemTime>>,
}

struct People {
    /// The counter of changes that this state has.
    counter: i64,
    users: HashMap<UserId, Arc<User>>,
    agents: HashMap<AgentId, Arc<Agent>>,
    tokens: HashMap<[u8; 32], Arc<Good>>,
    recent: Recent,
}

struct Good {
    principal: Principal,
    expires_at: Option<SystemTime>,
    /// When its use was last noted.
    noted: AtomicI64,
}

impl Access {
    /// Whose token it is, if it is good now. Notes its use.
    pub fn identify(&self, token: &Secret) -> Option<Principal> {
        self.who(token.expose())
    }

    /// The same for a token that somebody else keeps.
    pub fn who(&self, token: &str) -> Option<Principal> {
        let people = self.0.people.load();
        let find = || people.tokens.get(&random::hash(token)).cloned();
        let good = people.recent.get(token, find)?;
        let now = self.0.clock.now();
        if good.expires_at.is_some_and(|expires| expires <= now) {
            return None;
        }
        let at = millis(now);
        if (at - good.noted.load(Ordering::Relaxed)).abs() >= SAME_USE {
            good.noted.store(at, Ordering::Relaxed);
            self.lock().insert(good.principal.token.clone(), now);
        }
        Some(good.principal.clone())
    }

    /// The agent of this id, as the store declares it.
    pub fn agent(&self, id: &AgentId) -> Option<Arc<Agent>> {
        self.0.people.load().agents.get(id).cloned()
    }

    /// Every agent that the store declares.
    pub fn agents(&self) -> Vec<Arc<Agent>> {
        self.0.people.load().agents.values().cloned().collect()
    }

    /// Everybody.
    pub fn users(&self) -> Vec<Arc<User>> {
        self.0.people.load().users.values().cloned().collect()
    }

    /// The person of this id.
    pub fn user(&self, id: &UserId) -> Option<Arc<User>> {
        self.0.people.load().users.get(id).cloned()
    }

    pub(crate) async fn load(db: Db, clock: Arc<dyn Clock>) -> Result<Self> {
        let people = ArcSwap::from_pointee(People::read(&db).await?);
        Ok(Self(Arc::new(Inner { db, clock, people, used: Mutex::default() })))
    }

    /// Reads everything again. Of two at once, the newer state stays.
    pub(crate) async fn reload(&self) -> Result<()> {
        let read = Arc::new(People::read(&self.0.db).await?);
        self.0.people.rcu(|now| match now.counter > read.counter {
            true => now.clone(),
            false => read.clone(),
        });
        Ok(())
    }

    /// Keeps the snapshot fresh and writes `last_used`, until the end.
    pub(crate) async fn follow(self, mut changed: watch::Receiver<i64>, end: CancellationToken) {
        loop {
            let done = tokio::select! {
                () = end.cancelled() => return,
                changed = changed.changed() => match changed {
                    Ok(()) => self.reload().await,
                    Err(_) => return,
                },
                () = tokio::time::sleep(LAST_USED) => self.write_last_used().await,
            };
            if let Err(error) = done {
                tracing::warn!(%error, "tokens could not be read or marked as used; trying again");
                changed.mark_changed();
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    }

    /// Writes when tokens were used; what cannot be written is kept.
    pub(crate) async fn write_last_used(&self) -> Result<()> {
        let used = std::mem::take(&mut *self.lock());
        if used.is_empty() {
            return Ok(());
        }
        let written = self.write(&used).await;
        if written.is_err() {
            let mut kept = self.lock();
            for (token, at) in used {
                kept.entry(token).or_insert(at);
            }
        }
        written
    }

    async fn write(&self, used: &HashMap<Arc<str>, SystemTime>) -> Result<()> {
        let mut rows: Vec<_> = used.iter().collect();
        rows.sort();
        let mut tx = self.0.db.begin().await?;
        for (token, at) in rows {
            let query = sql("UPDATE tokens SET last_used = $2
                 WHERE id = $1 AND COALESCE(last_used, 0) < $2");
            query.bind(&**token).bind(*at).run(&mut tx).await?;
        }
        tx.commit().await
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, SystemTime>> {
        self.0.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl People {
    async fn read(db: &Db) -> Result<Self> {
        let mut tx = db.read().await?;
        let counter = sql("SELECT value FROM counters WHERE name = 'people'");
        let counter = counter.one(&mut tx).await?.int("value")?;
        let users = users::all(&mut tx).await?.into_iter();
        let users: HashMap<_, _> = users.map(|user| (user.id.clone(), Arc::new(user))).collect();
        let agents = agents::all(&mut tx).await?.into_iter();
        let agents: HashMap<_, _> = agents.map(|one| (one.id.clone(), Arc::new(one))).collect();
        let (tokens, recent) = (HashMap::new(), Recent::default());
        let mut people = Self { counter, users, agents, tokens, recent };
        for (hash, token) in tokens::good(&mut tx).await? {
            let agent = match &token.subject {
                Subject::Agent(id) => people.agents.get(id).cloned(),
                Subject::User(_) => None,
            };
            let owner = match (&token.subject, &agent) {
                (Subject::User(id), _) => Some(id),
                (Subject::Agent(_), agent) => agent.as_ref().map(|agent| &agent.owner),
            };
            let Some(user) = owner.and_then(|id| people.users.get(id)).cloned() else { continue };
            let principal = Principal { user, agent, token: token.id.into() };
            let (expires_at, noted) = (token.expires_at, AtomicI64::new(0));
            people.tokens.insert(hash, Arc::new(Good { principal, expires_at, noted }));
        }
        Ok(people)
    }
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("tokens", &self.0.people.load().tokens.len()).finish()
    }
}
