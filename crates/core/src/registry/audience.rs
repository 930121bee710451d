//! Who there is, and which servers each of them may see. Never looks at what is on offer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use switchboard_model::{AgentId, Desired, Scope, ServerKey, ServerName, UserId};

/// The servers of one reader, in order: at most one of each name.
pub(crate) type Keys = Arc<[ServerKey]>;

/// Who may see what. Whoever is not in it sees nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audience {
    pub(crate) agents: HashMap<AgentId, Keys>,
    pub(crate) users: HashMap<UserId, Keys>,
}

impl Audience {
    /// What is declared, for every declared agent and those in `agents`, each with its owner;
    /// agent over user over global, by name. Everybody but a disabled agent also sees `house`: the
    /// hub's own servers, which nothing declares and nothing hides.
    pub fn of<'a>(
        desired: &'a Desired,
        agents: impl IntoIterator<Item = (&'a AgentId, Option<&'a UserId>)>,
        house: &[ServerKey],
    ) -> Self {
        let declared = desired.agents.keys().map(|agent| (agent, None));
        let owners: BTreeMap<&AgentId, Option<&UserId>> = declared.chain(agents).collect();
        let users: BTreeSet<&UserId> = owners.values().copied().flatten().collect();
        let mut made = Self::default();
        let mut known = BTreeSet::new();
        for (agent, owner) in owners {
            let disabled = desired.agents.get(agent).is_some_and(|spec| !spec.enabled);
            let house = if disabled { &[] } else { house };
            let keys = resolved(desired.servers_of(agent, owner), house);
            made.agents.insert(agent.clone(), share(&mut known, keys));
        }
        for user in users {
            let keys = resolved(servers_of_user(desired, user), house);
            made.users.insert(user.clone(), share(&mut known, keys));
        }
        made
    }

    /// Adds people who may have no agent: each sees everybody's servers, their own and `house`.
    pub fn with_people<'a>(
        mut self,
        desired: &Desired,
        people: impl IntoIterator<Item = &'a UserId>,
        house: &[ServerKey],
    ) -> Self {
        let mut known: BTreeSet<Keys> = self.users.values().cloned().collect();
        for user in people {
            let keys = resolved(servers_of_user(desired, user), house);
            self.users.insert(user.clone(), share(&mut known, keys));
        }
        self
    }

    /// What everybody sees who sees it in `next`, too: nothing is new in it.
    pub(crate) fn within(&self, next: &Self) -> Self {
        fn both<K: Clone + Eq + Hash>(
            now: &HashMap<K, Keys>,
            next: &HashMap<K, Keys>,
        ) -> HashMap<K, Keys> {
            let left = |old: &Keys, new: &Keys| match old == new {
                true => old.clone(),
                false => old.iter().filter(|key| new.contains(key)).cloned().collect(),
            };
            now.iter()
                .filter_map(|(id, old)| Some((id.clone(), left(old, next.get(id)?))))
                .collect()
        }
        Self { agents: both(&self.agents, &next.agents), users: both(&self.users, &next.users) }
    }

    /// The servers that somebody sees who does not in `next`, where they are still there.
    pub(crate) fn takes_away(&self, next: &Self) -> BTreeSet<&ServerKey> {
        fn lost<'k>(old: &'k Keys, new: Option<&Keys>) -> impl Iterator<Item = &'k ServerKey> {
            let new = new.cloned();
            old.iter().filter(move |key| new.as_ref().is_some_and(|new| !new.contains(key)))
        }
        let agents = self.agents.iter().flat_map(|(id, old)| lost(old, next.agents.get(id)));
        let users = self.users.iter().flat_map(|(id, old)| lost(old, next.users.get(id)));
        agents.chain(users).collect()
    }

    /// Adds an agent that sees exactly these servers; of two with the same name, the later one.
    pub fn with_agent(mut self, agent: AgentId, servers: &[ServerKey]) -> Self {
        self.agents.insert(agent, resolved(servers, &[]).into());
        self
    }

    /// Adds a person who sees exactly these servers; of two with the same name, the later one.
    pub fn with_user(mut self, user: UserId, servers: &[ServerKey]) -> Self {
        self.users.insert(user, resolved(servers, &[]).into());
        self
    }
}

/// A person sees everybody's servers and their own, of the same name their own.
fn servers_of_user<'d>(desired: &'d Desired, user: &UserId) -> Vec<&'d ServerKey> {
    let of = |scope: Scope| desired.servers.keys().filter(move |key| key.scope == scope);
    of(Scope::Global).chain(of(Scope::User(user.clone()))).collect()
}

/// One of each name: the last, and the house's before all.
fn resolved<'k>(
    keys: impl IntoIterator<Item = &'k ServerKey>,
    house: &'k [ServerKey],
) -> Vec<ServerKey> {
    let all = keys.into_iter().chain(house);
    let by_name: BTreeMap<&ServerName, &ServerKey> = all.map(|key| (&key.name, key)).collect();
    by_name.into_values().cloned().collect()
}

/// Equal sets are the same set, so that their views are.
fn share(known: &mut BTreeSet<Keys>, keys: Vec<ServerKey>) -> Keys {
    match known.get(keys.as_slice()) {
        Some(keys) => keys.clone(),
        None => {
            let keys: Keys = keys.into();
            known.insert(keys.clone());
            keys
        }
    }
}
