//! The sessions that are held: found by id, bounded in number, let go when idle. What is let go can
//! come back by its id, which says all that matters.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant, SystemTime};

use switchboard_core::port::Who;
use switchboard_model::{AgentId, Clock, UserId};

use super::ended::{Ended, Remember};
use super::{Hello, Session, Streams, token};
use crate::auth::Principal;
use crate::door::Door;
use crate::options::Limits;
use crate::outbox::{Account, Accounts};
use crate::seal::Seal;

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
    /// What the streams of all of them keep.
    kept: Arc<Account>,
    ended: Ended,
}

/// The end of an id, which is its authentication tag: as good as random, and short to hash.
pub(super) type Tail = [u8; 16];

#[derive(Default)]
struct Held {
    rows: HashMap<Tail, Arc<Session>>,
    /// What each caller has.
    each: HashMap<Owner, Each>,
}

/// What one caller has.
struct Each {
    sessions: usize,
    accounts: Accounts,
}

/// Who something belongs to, whatever else is known of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Owner(Option<AgentId>, Option<UserId>);

impl Owner {
    pub(crate) fn of(who: &Who) -> Self {
        Self(who.agent.clone(), who.user.clone())
    }
}

impl Held {
    fn insert(&mut self, tail: Tail, session: Arc<Session>) {
        if let Some(each) = self.each.get_mut(&Owner::of(&session.principal.who)) {
            each.sessions += 1;
        }
        self.rows.insert(tail, session);
    }

    fn remove(&mut self, tail: &Tail) -> Option<Arc<Session>> {
        let session = self.rows.remove(tail)?;
        let owner = Owner::of(&session.principal.who);
        if let Some(each) = self.each.get_mut(&owner) {
            each.sessions -= 1;
        }
        Some(session)
    }

    /// Takes out who has nothing any more. What streams of ended sessions still hold counts.
    fn forget_gone(&mut self) {
        self.each.retain(|_, each| each.sessions > 0 || each.accounts.bytes() > 0);
    }

    /// Where what this caller's streams keep is counted.
    fn accounts(&mut self, who: &Who, all: &Arc<Account>, most: usize) -> Accounts {
        let make = || Each { sessions: 0, accounts: Accounts::of_one(all, most) };
        self.each.entry(Owner::of(who)).or_insert_with(make).accounts.clone()
    }

    fn count(&self, who: &Who) -> usize {
        self.each.get(&Owner::of(who)).map_or(0, |each| each.sessions)
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

impl Sessions {
    pub(crate) fn new(
        seal: Arc<Seal>,
        clock: Arc<dyn Clock>,
        limits: Limits,
        elsewhere: Option<Arc<dyn Remember>>,
    ) -> Self {
        let start = clock.monotonic();
        let kept = Account::of_all(limits.kept);
        let (held, ended) = (RwLock::default(), Ended::new(elsewhere, clock.now()));
        Self { seal, clock, start, limits, held, kept, ended }
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
            self.limit(&session, self.limits.session_life);
        }
        self.hold(&mut self.write(), session)
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
                let now = self.now();
                if session.until.load(Ordering::Relaxed) <= now {
                    self.end(&session);
                    return None;
                }
                let theirs = is_same(&session.principal.who, &principal.who);
                let same = *session.id == *id && theirs && session.door == *door;
                same.then(|| {
                    session.used.store(now, Ordering::Relaxed);
                    session
                })
            }
            None => self.take_over(id, &tail, principal, door),
        }
    }

    /// Ends a session for good.
    pub(crate) fn end(&self, session: &Session) {
        let Some(tail) = tail(&session.id) else { return };
        // First: whoever finds that it is not held any more must find that it has ended.
        if let Some(until) = self.comes_back_until(session) {
            self.ended.add(tail, until);
        }
        let held = self.write().remove(&tail);
        session.end();
        // Another one, if it was let go and has come back since it was found.
        if let Some(held) = held {
            held.end();
        }
    }

    /// The session has something that its id does not say and that must not be lost without a word, such as a
    /// subscription: once it is let go, by this hub or with it, it has ended, so that its client begins anew.
    pub(crate) fn bind(&self, session: &Session) {
        if let (Some(tail), Some(until)) = (tail(&session.id), self.comes_back_until(session)) {
            self.ended.add(tail, until);
        }
    }

    /// Until when a session could come back by its id. One that lives on a single connection cannot, nor
    /// can an old one: to remember those would push out others that must stay ended.
    fn comes_back_until(&self, session: &Session) -> Option<SystemTime> {
        let until = session.until.load(Ordering::Relaxed);
        let left = until.checked_sub(self.now()).filter(|_| until < u64::MAX)?;
        self.clock.now().checked_add(Duration::from_millis(left))
    }

    /// Ends what is too old, and lets go of what was idle for long.
    pub(crate) fn sweep(&self) {
        let (limit, light) = (millis(self.limits.session_idle), millis(self.limits.session_light));
        let now = self.now();
        let idle = |session: &Arc<Session>| {
            let idle = now.saturating_sub(session.used.load(Ordering::Relaxed));
            // Who watches resources for it knows it without keeping it.
            let is_light = || Arc::weak_count(session) == 0 && session.is_light();
            (idle > limit || idle > light && is_light()) && !session.is_busy()
        };
        for session in self.all() {
            session.streams(Streams::age);
            if session.until.load(Ordering::Relaxed) <= now {
                self.end(&session);
            }
        }
        let mut held = self.write();
        let old: Vec<Tail> =
            held.rows.iter().filter(|(_, session)| idle(session)).map(|(tail, _)| *tail).collect();
        for tail in old {
            held.remove(&tail);
        }
        held.forget_gone();
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
        if self.ended.has(tail) {
            return None;
        }
        let life = self.limits.session_life;
        let now = self.clock.now();
        let (session, left) = token::open(&self.seal, now, life, id, principal, door)?;
        self.limit(&session, left);
        let mut held = self.write();
        // Once more, where nobody can end it in between: it may have ended since it was looked for.
        if self.ended.has(tail) {
            return None;
        }
        self.hold(&mut held, session).ok()
    }

    fn hold(&self, held: &mut Held, session: Session) -> Result<Arc<Session>, Full> {
        let tail = tail(&session.id).ok_or(Full)?;
        self.touch(&session);
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
        let accounts = held.accounts(who, &self.kept, self.limits.kept_each);
        session.streams(|streams| streams.charge(accounts));
        let session = Arc::new(session);
        held.insert(tail, session.clone());
        Ok(session)
    }

    fn read(&self) -> RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Held> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its id is good for so long from now on.
    fn limit(&self, session: &Session, left: Duration) {
        session.until.store(self.now().saturating_add(millis(left)), Ordering::Relaxed);
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

#[cfg(test)]
mod tests;
