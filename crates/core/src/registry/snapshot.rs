//! What is on offer at one moment, and the views of it. Parts that a change did not touch are
//! shared with the snapshot before; views that it did, and that somebody uses, are made before anybody
//! can ask for them.

mod set;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard_model::{AgentId, ServerKey, UserId};

use self::set::Set;
use super::Settings;
use super::audience::{Audience, Keys};
use super::freed::Freed;
use super::offer::Offer;
use super::part::Parts;
use super::view::{Labels, View};
use crate::naming::Surface;

/// What is on offer at one moment.
pub struct Snapshot {
    version: u64,
    settings: Settings,
    servers: BTreeMap<ServerKey, Arc<Parts>>,
    audience: Arc<Audience>,
    seats: Arc<Seats>,
    /// The views of each set of servers that somebody sees, as the seats have them.
    sets: Vec<Arc<Set>>,
    /// The views of one server alone.
    single: HashMap<ServerKey, Arc<Set>>,
    /// The views of everything.
    everything: Arc<Set>,
    /// Names that servers had where there are no prefixes.
    freed: Arc<Freed>,
    /// Whether anybody was ever shown such names: else nobody remembers any.
    shown: Arc<AtomicBool>,
}

/// The audience, in a form in which nobody has to be looked for twice: readers that see the same
/// servers have the same number.
#[derive(Default)]
struct Seats {
    agents: HashMap<AgentId, usize>,
    users: HashMap<UserId, usize>,
    keys: Vec<Keys>,
}

impl Seats {
    fn of(audience: &Audience) -> Self {
        let all: BTreeSet<&Keys> =
            audience.agents.values().chain(audience.users.values()).collect();
        let keys: Vec<Keys> = all.into_iter().cloned().collect();
        let number = |of: &Keys| keys.partition_point(|keys| keys < of);
        Self {
            agents: audience.agents.iter().map(|(id, of)| (id.clone(), number(of))).collect(),
            users: audience.users.iter().map(|(id, of)| (id.clone(), number(of))).collect(),
            keys,
        }
    }

    fn number(&self, keys: &Keys) -> Option<usize> {
        self.keys.binary_search(keys).ok()
    }

    /// The numbers that readers have, and had before.
    fn moved(&self, before: &Self) -> BTreeSet<(usize, usize)> {
        let agents =
            self.agents.iter().filter_map(|(id, now)| Some((*now, *before.agents.get(id)?)));
        let users = self.users.iter().filter_map(|(id, now)| Some((*now, *before.users.get(id)?)));
        agents.chain(users).collect()
    }
}

/// The server of that name; keys are in the order of their names, and each name is there once.
fn named<'k>(keys: &'k Keys, name: &str) -> Option<&'k ServerKey> {
    let at = keys.binary_search_by(|key| key.name.as_str().cmp(name)).ok()?;
    keys.get(at)
}

fn has(keys: &Keys, key: &ServerKey) -> bool {
    named(keys, key.name.as_str()) == Some(key)
}

impl Snapshot {
    pub(super) fn empty(settings: Settings) -> Self {
        Self {
            version: 0,
            settings,
            servers: BTreeMap::new(),
            audience: Arc::default(),
            seats: Arc::default(),
            sets: Vec::new(),
            single: HashMap::new(),
            everything: Arc::default(),
            freed: Arc::default(),
            shown: Arc::default(),
        }
    }

    /// Which snapshot this is; later ones have greater numbers.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Who may see what.
    pub(super) fn audience(&self) -> &Audience {
        &self.audience
    }

    /// Every server that offers something, by key.
    pub fn servers(&self) -> impl Iterator<Item = (&ServerKey, &Arc<Offer>)> {
        self.servers.iter().map(|(key, parts)| (key, parts.offer()))
    }

    /// What a server offers.
    pub fn offer(&self, key: &ServerKey) -> Option<&Arc<Offer>> {
        self.servers.get(key).map(|parts| parts.offer())
    }

    /// What an agent sees; `None` for one that nobody knows.
    pub fn agent(&self, agent: &AgentId, surface: &Surface) -> Option<Arc<View>> {
        Some(self.seat(*self.seats.agents.get(agent)?, surface))
    }

    /// What a person sees; `None` for one that nobody knows.
    pub fn user(&self, user: &UserId, surface: &Surface) -> Option<Arc<View>> {
        Some(self.seat(*self.seats.users.get(user)?, surface))
    }

    /// Whether an agent may see a server.
    pub fn may_see(&self, agent: &AgentId, server: &ServerKey) -> bool {
        self.audience.agents.get(agent).is_some_and(|keys| has(keys, server))
    }

    /// Whether a person may see a server.
    pub fn may_person_see(&self, user: &UserId, server: &ServerKey) -> bool {
        self.audience.users.get(user).is_some_and(|keys| has(keys, server))
    }

    /// The server that an agent sees under that name.
    pub fn server_of(&self, agent: &AgentId, name: &str) -> Option<&ServerKey> {
        named(self.audience.agents.get(agent)?, name)
    }

    /// One server alone; `None` if it offers nothing.
    pub fn server(&self, key: &ServerKey, surface: &Surface) -> Option<Arc<View>> {
        let set = self.single.get(key)?;
        Some(set.view(surface, || self.link([key], surface, Labels::Names)))
    }

    /// Everything, for administrators. Servers that are not everybody's are told apart by whose
    /// they are.
    pub fn everything(&self, surface: &Surface) -> Arc<View> {
        self.everything.view(surface, || self.link(self.servers.keys(), surface, Labels::Keys))
    }

    fn seat(&self, number: usize, surface: &Surface) -> Arc<View> {
        self.sets[number].view(surface, || self.link_seat(number, surface))
    }

    fn link_seat(&self, number: usize, surface: &Surface) -> View {
        self.link(self.seats.keys[number].iter(), surface, Labels::Names)
    }

    /// Makes what readers had in the snapshot before and do not have in this one, by the numbers of their seats
    /// now and then.
    fn prepared(self, before: &Self, seats: impl IntoIterator<Item = (usize, usize)>) -> Self {
        for (number, was) in seats {
            let had = &before.sets[was];
            self.sets[number].inherit(had, |surface| self.link_seat(number, surface));
        }
        self.everything.inherit(&before.everything, |surface| {
            self.link(self.servers.keys(), surface, Labels::Keys)
        });
        self
    }

    fn link<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k ServerKey>,
        surface: &Surface,
        labels: Labels,
    ) -> View {
        if matches!(surface, Surface::Short(_)) {
            self.shown.store(true, Ordering::Relaxed);
        }
        let parts = keys.into_iter().filter_map(|key| self.servers.get(key));
        View::link(parts, surface, labels, self.settings, &self.freed)
    }

    /// The names that are nobody else's once these servers do not offer to somebody what they did, but
    /// for what the one with an offer still does.
    fn freed(&self, left: &[(&ServerKey, Option<&Offer>)]) -> Arc<Freed> {
        if !self.shown.load(Ordering::Relaxed) || left.is_empty() {
            return self.freed.clone();
        }
        let mut freed = Freed::clone(&self.freed);
        for (key, has) in left {
            let Some(had) = self.offer(key) else { continue };
            let others = self.servers.iter().filter(|(other, _)| other != key);
            freed.left(key, had, *has, others.map(|(_, parts)| &**parts.offer()));
        }
        Arc::new(freed)
    }

    /// The snapshot after a server's offer became this, or nothing; `None` if it was nothing before.
    pub(super) fn with(&self, key: &ServerKey, offer: Option<Arc<Offer>>) -> Option<Self> {
        let freed = self.freed(&[(key, offer.as_deref())]);
        let had = self.single.get(key);
        let mut servers = self.servers.clone();
        let mut single = self.single.clone();
        match offer {
            Some(offer) => {
                servers.insert(key.clone(), Arc::new(Parts::new(key.clone(), offer)));
                single.insert(key.clone(), Arc::default());
            }
            None => {
                servers.remove(key)?;
                single.remove(key);
            }
        }
        let sets = self
            .seats
            .keys
            .iter()
            .zip(&self.sets)
            .map(|(keys, set)| if has(keys, key) { Arc::default() } else { set.clone() });
        let next = Self {
            version: self.version + 1,
            settings: self.settings,
            servers,
            audience: self.audience.clone(),
            seats: self.seats.clone(),
            sets: sets.collect(),
            single,
            everything: Arc::default(),
            freed,
            shown: self.shown.clone(),
        };
        if let (Some(set), Some(had)) = (next.single.get(key), had) {
            set.inherit(had, |surface| next.link([key], surface, Labels::Names));
        }
        let same = (0..next.sets.len()).map(|number| (number, number));
        Some(next.prepared(self, same))
    }

    /// The snapshot with another audience; `None` if it is the same.
    pub(super) fn with_audience(&self, audience: Audience) -> Option<Self> {
        if *self.audience == audience {
            return None;
        }
        let seats = Seats::of(&audience);
        let gone = self.audience.takes_away(&audience);
        let gone: Vec<_> = gone.into_iter().map(|key| (key, None)).collect();
        let freed = self.freed(&gone);
        // Views of the same servers stay, unless what they may be called has changed.
        let same = Arc::ptr_eq(&freed, &self.freed);
        let kept = |keys: &Keys| {
            let number = self.seats.number(keys).filter(|_| same)?;
            Some(self.sets[number].clone())
        };
        let moved = seats.moved(&self.seats);
        let next = Self {
            version: self.version + 1,
            settings: self.settings,
            servers: self.servers.clone(),
            sets: seats.keys.iter().map(|keys| kept(keys).unwrap_or_default()).collect(),
            seats: Arc::new(seats),
            audience: Arc::new(audience),
            single: self.single.clone(),
            everything: if same { self.everything.clone() } else { Arc::default() },
            freed,
            shown: self.shown.clone(),
        };
        Some(next.prepared(self, moved))
    }
}
