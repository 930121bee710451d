//! Who a token belongs to, answered from memory: the call's path never waits for the database.
//! The snapshot is swapped as a whole when people, agents or tokens change, here or elsewhere, and when
//! the files declare other agents, whose word counts before the store's.

mod recent;

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use switchboard_model::{AgentId, AgentSpec, Clock, Secret, UserId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::recent::Recent;
use crate::agents::{self, Agent};
use crate::db::{Db, millis, sql};
use crate::error::Result;
use crate::outage::Outage;
use crate::random;
use crate::tokens::{self, Subject, Token};
use crate::users::{self, Role, User};

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
    /// Whoever makes a new snapshot of two parts holds it, so that neither part is an old one.
    making: Mutex<()>,
    used: Mutex<HashMap<Arc<str>, SystemTime>>,
    /// Which state of people, agents and tokens counts now.
    counts: watch::Sender<i64>,
}

/// Agents as files declare them.
type Files = BTreeMap<AgentId, AgentSpec>;

struct People {
    rows: Arc<Rows>,
    files: Arc<Files>,
    agents: HashMap<AgentId, Arc<Agent>>,
    /// Rows whose agent a file declares, and that do not count.
    contested: Vec<Arc<Agent>>,
    tokens: HashMap<[u8; 32], Arc<Good>>,
    recent: Recent,
}

/// What the store has.
struct Rows {
    /// The counter of changes that this state has.
    counter: i64,
    users: HashMap<UserId, Arc<User>>,
    agents: Vec<Arc<Agent>>,
    tokens: Vec<([u8; 32], Token)>,
}

struct Good {
    principal: Principal,
    expires_at: Option<SystemTime>,
    /// When its use was last noted.
    noted: AtomicI64,
    /// What somebody else makes of it.
    made: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Access {
    /// Whose token it is, if it is good now. Notes its use.
    pub fn identify(&self, token: &Secret) -> Option<Principal> {
        self.find(token.expose(), |good| Some(good.principal.clone()))
    }

    /// What somebody else makes of whose token it is, if it is good now; made once, for as long as nothing changes.
    /// Notes its use.
    pub fn known_as<T: Clone + Send + Sync + 'static>(
        &self,
        token: &str,
        make: impl FnOnce(&Principal) -> T,
    ) -> Option<T> {
        self.find(token, |good| {
            let mut make = Some(make);
            let made = good.made.get_or_init(|| match make.take() {
                Some(make) => Box::new(make(&good.principal)),
                None => Box::new(()),
            });
            // Somebody who makes something else of it does so each time.
            made.downcast_ref::<T>().cloned().or_else(|| Some(make.take()?(&good.principal)))
        })
    }

    fn find<T>(&self, token: &str, look: impl FnOnce(&Good) -> Option<T>) -> Option<T> {
        let people = self.0.people.load();
        let find = || people.tokens.get(&random::hash(token)).cloned();
        people.recent.look(token, find, |good| {
            let now = self.0.clock.now();
            if good.expires_at.is_some_and(|expires| expires <= now) {
                return None;
            }
            let at = millis(now);
            if (at - good.noted.load(Ordering::Relaxed)).abs() >= SAME_USE {
                good.noted.store(at, Ordering::Relaxed);
                self.lock().insert(good.principal.token.clone(), now);
            }
            look(good)
        })
    }

    /// Everybody whose token is good now, once for each token.
    pub fn good(&self) -> Vec<Principal> {
        let (people, now) = (self.0.people.load(), self.0.clock.now());
        let good = people.tokens.values();
        let good = good.filter(|good| good.expires_at.is_none_or(|expires| expires > now));
        good.map(|good| good.principal.clone()).collect()
    }

    /// How long it takes until the next of the good tokens expires, if one does.
    pub fn next_expiry(&self) -> Option<Duration> {
        let (people, now) = (self.0.people.load(), self.0.clock.now());
        let ends = people.tokens.values().filter_map(|good| good.expires_at);
        ends.filter_map(|end| end.duration_since(now).ok()).filter(|left| !left.is_zero()).min()
    }

    /// Tells when people, agents or tokens have changed, and the answers here with them.
    pub fn changes(&self) -> watch::Receiver<i64> {
        self.0.counts.subscribe()
    }

    /// Takes over which agents files declare. For those the file's word counts, and of the store's rows
    /// only who has a token: if an administrator owns the row, who could as well have written the file.
    /// A row of anybody else would be theirs to take the file's agent over with, and is left aside.
    pub fn declare(&self, files: &BTreeMap<AgentId, AgentSpec>) {
        let _making = self.0.making.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.0.people.load_full();
        if *now.files != *files {
            let files = Arc::new(files.clone());
            self.0.people.store(Arc::new(People::of(now.rows.clone(), files)));
            self.0.counts.send_replace(now.rows.counter);
        }
    }

    /// The rows that are left aside, since files declare agents of the same ids.
    pub fn contested(&self) -> Vec<Arc<Agent>> {
        self.0.people.load().contested.clone()
    }

    /// The rows that count for agents of files, and that would be agents with the default servers by
    /// themselves.
    pub(crate) fn open_stand_ins(&self) -> Vec<Arc<Agent>> {
        let people = self.0.people.load();
        let counts = |row: &&Arc<Agent>| {
            people.files.contains_key(&row.id) && people.agents.contains_key(&row.id)
        };
        let rows = people.rows.agents.iter().filter(counts);
        rows.filter(|row| row.spec == AgentSpec::default()).cloned().collect()
    }

    /// The agent of this id, if the store has a row of it that counts; as it is declared.
    pub fn agent(&self, id: &AgentId) -> Option<Arc<Agent>> {
        self.0.people.load().agents.get(id).cloned()
    }

    /// Every agent that the store has a row of that counts; as they are declared.
    pub fn agents(&self) -> Vec<Arc<Agent>> {
        self.0.people.load().agents.values().cloned().collect()
    }

    /// Everybody.
    pub fn users(&self) -> Vec<Arc<User>> {
        self.0.people.load().rows.users.values().cloned().collect()
    }

    /// The person of this id.
    pub fn user(&self, id: &UserId) -> Option<Arc<User>> {
        self.0.people.load().rows.users.get(id).cloned()
    }

    pub(crate) async fn load(db: Db, clock: Arc<dyn Clock>) -> Result<Self> {
        let people = People::of(Arc::new(Rows::read(&db).await?), Arc::default());
        let (people, making) = (ArcSwap::from_pointee(people), Mutex::default());
        let (used, counts) = (Mutex::default(), watch::Sender::new(0));
        Ok(Self(Arc::new(Inner { db, clock, people, making, used, counts })))
    }

    /// Reads everything again. Of two at once, the newer state stays.
    pub(crate) async fn reload(&self) -> Result<()> {
        let read = Arc::new(Rows::read(&self.0.db).await?);
        let _making = self.0.making.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.0.people.load_full();
        if now.rows.counter <= read.counter {
            let counter = read.counter;
            self.0.people.store(Arc::new(People::of(read, now.files.clone())));
            self.0.counts.send_replace(counter);
        }
        Ok(())
    }

    /// Keeps the snapshot fresh and writes `last_used`, until the end.
    pub(crate) async fn follow(self, mut changed: watch::Receiver<i64>, end: CancellationToken) {
        let mut outage = Outage::new("tokens are not read, or not marked as used");
        loop {
            let done = tokio::select! {
                () = end.cancelled() => return,
                changed = changed.changed() => match changed {
                    Ok(()) => self.reload().await,
                    Err(_) => return,
                },
                () = tokio::time::sleep(LAST_USED) => self.write_last_used().await,
            };
            match done {
                Ok(()) => outage.over(),
                Err(error) => {
                    outage.met(&error);
                    changed.mark_changed();
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
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

impl Rows {
    async fn read(db: &Db) -> Result<Self> {
        let mut tx = db.read().await?;
        let counter = sql("SELECT value FROM counters WHERE name = 'people'");
        let counter = counter.one(&mut tx).await?.int("value")?;
        let users = users::all(&mut tx).await?.into_iter();
        let users = users.map(|user| (user.id.clone(), Arc::new(user))).collect();
        let agents = agents::all(&mut tx).await?.into_iter().map(Arc::new).collect();
        let tokens = tokens::good(&mut tx).await?;
        Ok(Self { counter, users, agents, tokens })
    }
}

impl People {
    fn of(rows: Arc<Rows>, files: Arc<Files>) -> Self {
        let (mut agents, mut contested) = (HashMap::new(), Vec::new());
        for row in &rows.agents {
            let owner = rows.users.get(&row.owner);
            let agent = match files.get(&row.id) {
                None => row.clone(),
                Some(spec) if owner.is_some_and(|owner| owner.role == Role::Administrator) => {
                    Arc::new(Agent { spec: spec.clone(), ..(**row).clone() })
                }
                Some(_) => {
                    contested.push(row.clone());
                    continue;
                }
            };
            agents.insert(row.id.clone(), agent);
        }
        let (tokens, recent) = (HashMap::new(), Recent::default());
        let mut people = Self { rows: rows.clone(), files, agents, contested, tokens, recent };
        for (hash, token) in &rows.tokens {
            if let Some(principal) = people.principal(token) {
                let good = Good {
                    principal,
                    expires_at: token.expires_at,
                    noted: AtomicI64::new(0),
                    made: OnceLock::new(),
                };
                people.tokens.insert(*hash, Arc::new(good));
            }
        }
        people
    }

    fn principal(&self, token: &Token) -> Option<Principal> {
        let agent = match &token.subject {
            Subject::Agent(id) => Some(self.agents.get(id)?.clone()),
            Subject::User(_) => None,
        };
        let owner = match &token.subject {
            Subject::User(id) => id,
            Subject::Agent(_) => &agent.as_ref()?.owner,
        };
        let user = self.rows.users.get(owner)?.clone();
        Some(Principal { user, agent, token: token.id.as_str().into() })
    }
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("tokens", &self.0.people.load().tokens.len()).finish()
    }
}
