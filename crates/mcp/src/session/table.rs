//! The sessions that are held: found by id, bounded in number, let go when idle. What is let go can
//! come back by its id, which says all that matters.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use switchboard_core::port::Who;
use switchboard_model::{AgentId, Clock, UserId};

use super::{Hello, Session, Streams, token};
use crate::auth::Principal;
use crate::door::Door;
use crate::options::Limits;
use crate::seal::Seal;

/// Ids of ended sessions that are remembered, so that they stay ended.
const ENDED: usize = 100_000;

/// There is no room for one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The sessions.
pub(crate) struct Sessions {
    seal: Arc<Seal>,
    clock: Arc<dyn Clock>,
    start: Instant,
    limits: Limits,
    held: RwLock<Held>,
    ended: Mutex<Ended>,
}

/// The end of an id, which is its authentication tag: as good as random, and short to hash.
type Tail = [u8; 16];

#[derive(Default)]
struct Held {
    rows: HashMap<Tail, Arc<Session>>,
    /// How many each caller has.
    each: HashMap<Owner, usize>,
}

/// Who a session belongs to, whatever else is known of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Owner(Option<AgentId>, Option<UserId>);

impl Owner {
    fn of(who: &Who) -> Self {
        Self(who.agent.clone(), who.user.clone())
    }
}

impl Held {
    fn insert(&mut self, tail: Tail, session: Arc<Session>) {
        *self.each.entry(Owner::of(&session.principal.who)).or_default() += 1;
        self.rows.insert(tail, session);
    }

    fn remove(&mut self, tail: &Tail) {
        let Some(session) = self.rows.remove(tail) else { return };
        let owner = Owner::of(&session.principal.who);
        if let Some(count) = self.each.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                self.each.remove(&owner);
            }
        }
    }

    fn count(&self, who: &Who) -> usize {
        self.each.get(&Owner::of(who)).copied().unwrap_or_default()
    }

    /// Lets go of those that were idle longest: a sixteenth of them, so that it is not done every
    /// time.
    fn make_room(&mut self, of: Option<&Who>) -> Result<(), Full> {
        let fits = |session: &Session| of.is_none_or(|who| is_same(&session.principal.who, who));
        let idle = self.rows.iter().filter(|(_, session)| fits(session) && !session.is_busy());
        let mut idle: Vec<(u64, Tail)> =
            idle.map(|(tail, session)| (session.used.load(Ordering::Relaxed), *tail)).collect();
        if idle.is_empty() {
            return Err(Full);
        }
        let some = idle.len().div_ceil(16);
        idle.sort_unstable();
        for (_, tail) in idle.into_iter().take(some) {
            self.remove(&tail);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Ended {
    order: VecDeque<Tail>,
    known: HashMap<Tail, ()>,
}

impl Sessions {
    pub(crate) fn new(seal: Arc<Seal>, clock: Arc<dyn Clock>, limits: Limits) -> Self {
        let start = clock.monotonic();
        Self { seal, clock, start, limits, held: RwLock::default(), ended: Mutex::default() }
    }

    /// A new session; without a greeting, one that lives on a single connection.
    pub(crate) fn open(
        &self,
        principal: &Arc<Principal>,
        door: &Door,
        hello: Option<Hello>,
    ) -> Result<Arc<Session>, Full> {
        let now = self.clock.now();
        let id = token::close(&self.seal, now, principal, door, hello.as_ref()).ok_or(Full)?;
        let session = Session::new(id, door.clone(), principal.clone());
        if let Some(hello) = hello {
            session.greet(hello);
        }
        self.hold(session)
    }

    /// The session of an id, if it is this caller's and of this door.
    pub(crate) fn find(
        &self,
        id: &str,
        principal: &Arc<Principal>,
        door: &Door,
    ) -> Option<Arc<Session>> {
        let tail = tail(id)?;
        let held = self.read().rows.get(&tail).cloned();
        match held {
            Some(session) => {
                let theirs = is_same(&session.principal.who, &principal.who);
                let same = *session.id == *id && theirs && session.door == *door;
                same.then(|| {
                    self.touch(&session);
                    session
                })
            }
            None => self.take_over(id, &tail, principal, door),
        }
    }

    /// Ends a session for good.
    pub(crate) fn end(&self, session: &Session) {
        let Some(tail) = tail(&session.id) else { return };
        self.held.write().unwrap_or_else(PoisonError::into_inner).remove(&tail);
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.known.insert(tail, ()).is_none() {
            ended.order.push_back(tail);
        }
        if ended.order.len() > ENDED
            && let Some(oldest) = ended.order.pop_front()
        {
            ended.known.remove(&oldest);
        }
        drop(ended);
        session.end();
    }

    /// Lets go of what was idle for long.
    pub(crate) fn sweep(&self) {
        let limit = millis(self.limits.session_idle);
        let now = self.now();
        let idle = |session: &Arc<Session>| {
            now.saturating_sub(session.used.load(Ordering::Relaxed)) > limit && !session.is_busy()
        };
        for session in self.all() {
            session.streams(Streams::age);
        }
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        let old: Vec<Tail> =
            held.rows.iter().filter(|(_, session)| idle(session)).map(|(tail, _)| *tail).collect();
        for tail in old {
            held.remove(&tail);
        }
    }

    /// How many are held.
    pub(crate) fn count(&self) -> usize {
        self.read().rows.len()
    }

    /// All that are held.
    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.read().rows.values().cloned().collect()
    }

    fn take_over(
        &self,
        id: &str,
        tail: &Tail,
        principal: &Arc<Principal>,
        door: &Door,
    ) -> Option<Arc<Session>> {
        if self.ended.lock().unwrap_or_else(PoisonError::into_inner).known.contains_key(tail) {
            return None;
        }
        let life = self.limits.session_life;
        let session = token::open(&self.seal, self.clock.now(), life, id, principal, door)?;
        self.hold(session).ok()
    }

    fn hold(&self, session: Session) -> Result<Arc<Session>, Full> {
        let tail = tail(&session.id).ok_or(Full)?;
        self.touch(&session);
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = held.rows.get(&tail) {
            return Ok(other.clone());
        }
        let who = &session.principal.who;
        if held.count(who) >= self.limits.sessions_each {
            held.make_room(Some(who))?;
        }
        if held.rows.len() >= self.limits.sessions {
            held.make_room(None)?;
        }
        let session = Arc::new(session);
        held.insert(tail, session.clone());
        Ok(session)
    }

    fn read(&self) -> RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, session: &Session) {
        session.used.store(self.now(), Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        millis(self.clock.monotonic().saturating_duration_since(self.start))
    }
}

fn is_same(one: &Who, other: &Who) -> bool {
    one.agent == other.agent && one.user == other.user
}

fn tail(id: &str) -> Option<Tail> {
    id.as_bytes().last_chunk().copied()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
