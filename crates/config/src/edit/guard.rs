//! Compares what a file declares before and after an edit: nothing is written that changes more
//! than was asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use switchboard_model::{
    AgentId, AgentSpec, AuditArguments, MasterKeyPlace, Names, Place, Problem, Rule,
    SecretTemplate, ServerKey, ServerName, ServerSpec, Source, StoreSpec,
};

use super::entry::plain;
use super::plan::Plan;
use super::{Change, EditError, File};
use crate::declared::{Declared, Defaults};
use crate::decode::nearest;
use crate::dialect::Dialect;
use crate::internal::Internal;

/// What a file declares, without places.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Facts {
    pub(super) servers: BTreeMap<ServerKey, ServerSpec>,
    pub(super) broken: BTreeSet<ServerKey>,
    pub(super) defaults: Defaults,
    pub(super) agents: BTreeMap<AgentId, AgentSpec>,
    broken_agents: BTreeSet<AgentId>,
    policy: Vec<Rule>,
    listen: Option<SocketAddr>,
    store: Option<StoreSpec>,
    master_key: Option<MasterKeyPlace>,
    traces: Option<SecretTemplate>,
    audit_arguments: Option<AuditArguments>,
    names: [Option<Names>; 2],
    internal: Option<Internal>,
}

/// A file as it was read.
pub(super) struct State {
    declared: Declared,
    pub(super) facts: Facts,
    pub(super) problems: Vec<Problem>,
}

impl State {
    pub(super) fn read(file: &File<'_>, text: &str) -> Result<Self, EditError> {
        let parsed = file.parse(text);
        match parsed.declared {
            Some(declared) => {
                let facts = facts(file.dialect, &declared);
                Ok(Self { declared, facts, problems: parsed.problems })
            }
            None => Err(file.invalid(parsed.problems)),
        }
    }

    /// Holds the text that an edit would give against what was planned. Gives what a person should
    /// know of it.
    pub(super) fn check(
        &self,
        file: &File<'_>,
        text: &str,
        plan: &Plan,
        change: &Change,
    ) -> Result<Vec<String>, EditError> {
        let after = Self::read(file, text)
            .map_err(|_| file.would_break("the file would no longer be valid".into()))?;
        if let Some(problem) = new_error(&self.problems, &after.problems) {
            return Err(
                file.would_break(format!("there would be a new error: {}", problem.message))
            );
        }
        if let Some(what) = difference(&plan.expected, &after.facts) {
            return Err(file.would_break(what));
        }
        if let Change::Remove { name } = change
            && after.declared.references.iter().any(|reference| reference.name == *name)
        {
            return Err(file.would_break(format!("`{name}` would still be assigned")));
        }
        let mut notes = plan.notes.clone();
        if matches!(change, Change::Remove { .. }) {
            notes.extend(gains(&self.facts, &after.facts));
        }
        Ok(notes)
    }

    /// Where a server of this name stands.
    pub(super) fn place_of(&self, file: &File<'_>, name: &ServerName) -> Place {
        let good = self.declared.servers.iter().find(|server| server.key.name == *name);
        let bad = self.problems.iter().find(|problem| problem.server.as_ref() == Some(name));
        let place = good.map(|server| &server.place).or(bad.and_then(|bad| bad.place.as_ref()));
        place.cloned().unwrap_or_else(|| Place {
            source: Arc::new(Source::new(file.path, "", |_| Vec::new())),
            span: 0..0,
        })
    }

    /// The error for a name that is not there.
    pub(super) fn missing(&self, file: &File<'_>, name: &ServerName) -> EditError {
        let servers = self.facts.servers.keys().chain(&self.facts.broken).map(|key| &key.name);
        let known = servers.chain(self.declared.references.iter().map(|r| &r.name));
        let near = nearest(name.as_str(), known.map(ServerName::as_str));
        EditError::Missing {
            name: name.clone(),
            path: file.path.into(),
            near: near.and_then(|near| ServerName::parse(near).ok()),
        }
    }
}

fn facts(dialect: Dialect, declared: &Declared) -> Facts {
    let server = |server: &crate::declared::DeclaredServer| {
        (server.key.clone(), comparable(dialect, (*server.spec).clone()))
    };
    Facts {
        servers: declared.servers.iter().map(server).collect(),
        broken: declared.broken.clone(),
        defaults: declared.defaults.clone(),
        agents: declared.agents.iter().map(|(id, (spec, _))| (id.clone(), spec.clone())).collect(),
        broken_agents: declared.broken_agents.clone(),
        policy: declared.policy.clone(),
        listen: declared.listen.as_ref().map(|(address, _)| *address),
        store: declared.store.as_ref().map(|(store, _)| store.clone()),
        master_key: declared.master_key.as_ref().map(|(place, _)| *place),
        traces: declared.traces.as_ref().map(|(url, _)| url.clone()),
        audit_arguments: declared.audit_arguments.as_ref().map(|(what, _)| *what),
        names: [&declared.mcp_names, &declared.model_names]
            .map(|names| names.as_ref().map(|(names, _)| names.clone())),
        internal: declared.internal.as_ref().map(|(internal, _)| internal.clone()),
    }
}

/// A server as far as its entry says it: in AICIB's file, whether one runs follows from who uses it.
pub(super) fn comparable(dialect: Dialect, spec: ServerSpec) -> ServerSpec {
    let mut spec = plain(dialect, spec);
    spec.enabled |= dialect == Dialect::Aicib;
    spec
}

/// The first thing that is not as planned. An entry or an agent that an edit mends is no loss.
fn difference(planned: &Facts, found: &Facts) -> Option<String> {
    let keys: BTreeSet<&ServerKey> = planned.servers.keys().chain(found.servers.keys()).collect();
    for key in keys {
        if planned.servers.get(key) != found.servers.get(key) {
            return Some(format!("server `{key}` would not be as it should be"));
        }
    }
    let ids: BTreeSet<&AgentId> = planned.agents.keys().chain(found.agents.keys()).collect();
    for id in ids.into_iter().filter(|id| !planned.broken_agents.contains(*id)) {
        if planned.agents.get(id) != found.agents.get(id) {
            return Some(format!("agent `{id}` would not be as it should be"));
        }
    }
    let same = [
        (planned.broken == found.broken, "other servers would be affected"),
        (found.broken_agents.is_subset(&planned.broken_agents), "agents would be affected"),
        (planned.defaults == found.defaults, "the default servers would not be as they should be"),
        (planned.policy == found.policy, "the policy would change"),
        (planned.listen == found.listen, "the hub's address would change"),
        (planned.store == found.store, "the hub's store would change"),
        (planned.master_key == found.master_key, "the place of the master key would change"),
        (planned.traces == found.traces, "the collector of traces would change"),
        (
            planned.audit_arguments == found.audit_arguments,
            "what is written down of calls would change",
        ),
        (planned.names == found.names, "the names of tools would change"),
        (planned.internal == found.internal, "the internal servers would change"),
    ];
    same.into_iter().find(|(same, _)| !same).map(|(_, what)| what.to_owned())
}

fn new_error<'p>(before: &[Problem], after: &'p [Problem]) -> Option<&'p Problem> {
    let mut known: Vec<(_, &str)> =
        before.iter().filter(|p| p.is_error()).map(|p| (p.code, p.message.as_str())).collect();
    after.iter().filter(|problem| problem.is_error()).find(|problem| {
        let same = known.iter().position(|one| *one == (problem.code, problem.message.as_str()));
        same.map(|at| known.swap_remove(at)).is_none()
    })
}

/// Agents that have servers they did not have: where an agent that names none has the defaults.
fn gains(before: &Facts, after: &Facts) -> Vec<String> {
    let none = BTreeSet::new();
    let servers = |spec: Option<&AgentSpec>| spec.and_then(|s| s.servers.clone());
    after
        .agents
        .iter()
        .filter_map(|(id, spec)| {
            let had = servers(before.agents.get(id))?;
            let gained = spec.servers.as_ref().unwrap_or(&none).difference(&had);
            let gained: Vec<&str> = gained.map(ServerName::as_str).collect();
            (!gained.is_empty()).then(|| {
                let list = gained.join(", ");
                format!("agent `{id}` names no server any more and now has the defaults: {list}")
            })
        })
        .collect()
}
