//! What is on offer at one moment, and the views of it. Parts that a change did not touch are
//! shared with the snapshot before.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use switchboard_model::{AgentId, ServerKey, UserId};

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
}

/// The server of that name; keys are in the order of their names, and each name is there once.
fn named<'k>(keys: &'k Keys, name: &str) -> Option<&'k ServerKey> {
    let at = keys.binary_search_by(|key| key.name.as_str().cmp(name)).ok()?;
    keys.get(at)
}

fn has(keys: &Keys, key: &ServerKey) -> bool {
    named(keys, key.name.as_str()) == Some(key)
}

/// The views of one set of servers, one for each surface in use.
#[derive(Default)]
struct Set(RwLock<Vec<(Surface, Arc<View>)>>);

impl Set {
    /// The view for that surface; made by whoever asks first.
    fn view(&self, surface: &Surface, make: impl FnOnce() -> View) -> Arc<View> {
        let find = |views: &[(Surface, Arc<View>)]| {
            views.iter().find(|(of, _)| of == surface).map(|(_, view)| view.clone())
        };
        let known = find(&self.0.read().unwrap_or_else(PoisonError::into_inner));
        if let Some(view) = known {
            return view;
        }
        let mut views = self.0.write().unwrap_or_else(PoisonError::into_inner);
        find(&views).unwrap_or_else(|| {
            let view = Arc::new(make());
            views.push((surface.clone(), view.clone()));
            view
        })
    }
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
        let keys = &self.seats.keys[number];
        self.sets[number].view(surface, || self.link(keys.iter(), surface, Labels::Names))
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
        Some(Self {
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
        })
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
        Some(Self {
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
        })
    }
}
