//! The desired state: the one list that every source of configuration becomes, and the pure
//! difference of two of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::agent::AgentSpec;
use crate::hub::HubSpec;
use crate::name::{AgentId, ServerName, UserId};
use crate::policy::Rule;
use crate::scope::{Scope, ServerKey};
use crate::server::ServerSpec;

/// What ought to run, and who may use it. Two that are equal want the same, whatever files they
/// came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Desired {
    /// The hub's own settings.
    pub hub: HubSpec,
    /// Every server, by identity.
    pub servers: BTreeMap<ServerKey, Arc<ServerSpec>>,
    /// What agents that name no servers have.
    pub defaults: DefaultServers,
    /// Every declared agent.
    pub agents: BTreeMap<AgentId, AgentSpec>,
    /// The rules, first match first.
    pub policy: Vec<Rule>,
}

/// What agents that name no servers have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DefaultServers {
    /// Nobody said who has what, so that a server that was just added is seen by whoever was just
    /// connected: every enabled server that is everybody's or their user's.
    #[default]
    Everything,
    /// Somebody did: these, and no others.
    These(BTreeSet<ServerName>),
}

impl DefaultServers {
    /// Whether a server of this name is among them.
    pub fn contains(&self, name: &ServerName) -> bool {
        match self {
            Self::Everything => true,
            Self::These(names) => names.contains(name),
        }
    }
}

impl From<BTreeSet<ServerName>> for DefaultServers {
    fn from(names: BTreeSet<ServerName>) -> Self {
        Self::These(names)
    }
}

impl Desired {
    /// The servers that an agent of this user has: what it names (or the defaults) and its own,
    /// each resolved agent over user over global. A disabled agent has none.
    pub fn servers_of(&self, agent: &AgentId, user: Option<&UserId>) -> Vec<&ServerKey> {
        let declared = self.agents.get(agent);
        if declared.is_some_and(|spec| !spec.enabled) {
            return Vec::new();
        }
        let own = Scope::Agent(agent.clone());
        let scopes = [Some(own.clone()), user.cloned().map(Scope::User), Some(Scope::Global)];
        let reaches = |key: &ServerKey| scopes.iter().flatten().any(|scope| *scope == key.scope);
        let mut names: BTreeSet<&ServerName> =
            match (declared.and_then(|spec| spec.servers.as_ref()), &self.defaults) {
                (Some(named), _) | (None, DefaultServers::These(named)) => named.iter().collect(),
                (None, DefaultServers::Everything) => {
                    let enabled = self.servers.iter().filter(|(_, spec)| spec.enabled);
                    enabled.filter(|(key, _)| reaches(key)).map(|(key, _)| &key.name).collect()
                }
            };
        names.extend(self.servers.keys().filter(|key| key.scope == own).map(|key| &key.name));
        let find = |name: &ServerName| {
            scopes.iter().flatten().find_map(|scope| {
                let key = ServerKey { scope: scope.clone(), name: name.clone() };
                self.servers.get_key_value(&key).map(|(key, _)| key)
            })
        };
        names.into_iter().filter_map(find).collect()
    }
}

/// How one set of servers differs from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// New ones: connect.
    pub added: Vec<ServerKey>,
    /// Gone ones: disconnect.
    pub removed: Vec<ServerKey>,
    /// The connection itself changed: reconnect.
    pub changed: Vec<ServerKey>,
    /// Only descriptions, limits or filters changed: apply in place.
    pub adjusted: Vec<ServerKey>,
    /// Left alone: sessions, calls and process ids stay.
    pub untouched: Vec<ServerKey>,
}

impl Changes {
    /// What must be done to get from `old` to `new`.
    pub fn between(
        old: &BTreeMap<ServerKey, Arc<ServerSpec>>,
        new: &BTreeMap<ServerKey, Arc<ServerSpec>>,
    ) -> Self {
        let mut changes = Self::default();
        for (key, spec) in new {
            let list = match old.get(key) {
                None => &mut changes.added,
                Some(before) if before == spec => &mut changes.untouched,
                Some(before) if before.same_connection(spec) => &mut changes.adjusted,
                Some(_) => &mut changes.changed,
            };
            list.push(key.clone());
        }
        changes.removed = old.keys().filter(|key| !new.contains_key(*key)).cloned().collect();
        changes
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        [&self.added, &self.removed, &self.changed, &self.adjusted].iter().all(|l| l.is_empty())
    }
}

#[cfg(test)]
mod tests;
