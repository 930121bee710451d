//! A new server: its entry, and who gets it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use switchboard_model::{AgentId, Scope, ServerKey, ServerName, ServerSpec};

use super::{Plan, unsaid};
use crate::declared::Defaults;
use crate::dialect::Dialect;
use crate::edit::entry::entry;
use crate::edit::guard::{State, comparable};
use crate::edit::places::{List, has_role, lists, map_of_servers};
use crate::edit::text::{Op, Step, Trail, further, trail};
use crate::edit::{EditError, File};
use crate::syntax::{Node, Value};

pub(super) fn add(
    file: &File<'_>,
    root: &Node,
    state: &State,
    spec: &ServerSpec,
    agents: &[AgentId],
    to_defaults: bool,
) -> Result<Plan, EditError> {
    let agents: BTreeSet<&AgentId> = agents.iter().collect();
    let name = &spec.name;
    let mut adding = Adding { file, root, spec, agents, to_defaults, plan: Plan::new(state) };
    if file.dialect == Dialect::Spacebot {
        adding.for_spacebot();
        return Ok(adding.plan);
    }
    let value = Json::Object(entry(file.dialect, spec));
    let map = map_of_servers(file.dialect, root);
    adding.plan.ops.push(Op::Set(further(&map, name.as_str()), value));
    adding.expect(Scope::Global);
    match file.dialect {
        Dialect::Native => adding.for_native(),
        Dialect::Aicib => adding.for_aicib(),
        // Whoever reads the file has all of its servers.
        _ if adding.agents.is_empty() => {}
        _ => return Err(unsaid(file, name, "agents")),
    }
    Ok(adding.plan)
}

/// A server that only one agent has.
pub(super) fn own(
    file: &File<'_>,
    state: &State,
    spec: &ServerSpec,
    agent: &AgentId,
) -> Result<Plan, EditError> {
    if file.dialect != Dialect::Native {
        return Err(unsaid(file, &spec.name, "own"));
    }
    let mut plan = Plan::new(state);
    let key = ServerKey { scope: Scope::Agent(agent.clone()), name: spec.name.clone() };
    if plan.expected.servers.contains_key(&key) || plan.expected.broken.contains(&key) {
        let place = Box::new(state.place_of(file, &spec.name));
        return Err(EditError::Exists { name: spec.name.clone(), place });
    }
    let way = trail(["agents", agent.as_str(), "own", spec.name.as_str()]);
    plan.ops.push(Op::Set(way, Json::Object(entry(file.dialect, spec))));
    plan.expected.servers.insert(key, comparable(file.dialect, spec.clone()));
    plan.expected.agents.entry(agent.clone()).or_default();
    Ok(plan)
}

struct Adding<'a> {
    file: &'a File<'a>,
    root: &'a Node,
    spec: &'a ServerSpec,
    agents: BTreeSet<&'a AgentId>,
    to_defaults: bool,
    plan: Plan,
}

impl Adding<'_> {
    fn name(&self) -> &ServerName {
        &self.spec.name
    }

    fn expect(&mut self, scope: Scope) {
        let key = ServerKey { scope, name: self.name().clone() };
        let spec = comparable(self.file.dialect, self.spec.clone());
        self.plan.expected.servers.insert(key, spec);
    }

    fn push(&mut self, list: Trail) {
        self.plan.ops.push(Op::Push(list, json!(self.name().as_str())));
    }

    fn for_native(&mut self) {
        let root = self.root;
        let lists = lists(Dialect::Native, root);
        let defaults = lists.iter().find(|list| list.agent.is_none());
        let name = self.name().clone();
        if let (true, Some(list)) = (self.to_defaults, defaults)
            && !list.names(&name)
        {
            self.push(list.trail.clone());
            if let Defaults::Only(names) = &mut self.plan.expected.defaults {
                names.insert(name.clone());
            }
        }
        for agent in self.agents.clone() {
            let list = lists.iter().find(|list| list.agent == Some(agent.as_str()));
            let way = trail(["agents", agent.as_str()]);
            let is_there = crate::edit::text::find(root, &way).is_some_and(|node| !node.is_null());
            let expected = self.plan.expected.defaults.clone();
            match (list, is_there, expected) {
                (Some(list), ..) => {
                    if !list.names(&name) {
                        self.push(list.trail.clone());
                    }
                    self.assign(agent, None);
                }
                // It has the defaults, which are all servers or have this one by now.
                (None, true, Defaults::All) => {}
                (None, true, Defaults::Only(names) | Defaults::These(names))
                    if names.contains(&name) => {}
                // It would lose the defaults by naming one server, so it names them all.
                (None, true, Defaults::Only(names) | Defaults::These(names)) => {
                    self.write_out(further(&way, "servers"), agent, defaults, &names);
                }
                (None, false, _) => {
                    self.push(further(&way, "servers"));
                    self.assign(agent, Some(BTreeSet::new()));
                }
            }
        }
    }

    fn for_aicib(&mut self) {
        let lists = lists(Dialect::Aicib, self.root);
        let defaults = lists.iter().find(|list| list.agent.is_none());
        let mut named: BTreeMap<&str, &List<'_>> = BTreeMap::new();
        for list in lists.iter().filter(|list| !list.items.is_empty()) {
            if let Some(agent) = list.agent {
                named.entry(agent).or_insert(list);
            }
        }
        let had = defaults.map(|list| list.items).unwrap_or_default().iter();
        let had: BTreeSet<ServerName> =
            had.filter_map(|item| ServerName::parse(item.as_str()?).ok()).collect();
        if self.to_defaults && !defaults.is_some_and(|list| list.names(self.name())) {
            self.push(trail(["integrations", "default_servers"]));
            self.expect_in_aicib_defaults(&named);
        }
        for agent in self.agents.clone() {
            let is_known = has_role(self.root, agent.as_str());
            let per_agent = trail(["integrations", "per_agent", agent.as_str()]);
            match named.get(agent.as_str()) {
                Some(list) => {
                    if !list.names(self.name()) {
                        self.push(list.trail.clone());
                    }
                    self.assign(agent, None);
                }
                None if is_known && self.to_defaults => {}
                None if is_known && !had.is_empty() => {
                    self.write_out(per_agent, agent, defaults, &had);
                }
                None => {
                    self.push(per_agent);
                    self.assign(agent, Some(BTreeSet::new()));
                }
            }
        }
    }

    /// Agents that name none have the defaults, which have one more now.
    fn expect_in_aicib_defaults(&mut self, named: &BTreeMap<&str, &List<'_>>) {
        if self.is_off() {
            return;
        }
        let name = self.name().clone();
        let unnamed = self.plan.expected.agents.iter_mut();
        for (_, spec) in unnamed.filter(|(id, _)| !named.contains_key(id.as_str())) {
            spec.servers.get_or_insert_default().insert(name.clone());
        }
        if let Defaults::These(names) = &mut self.plan.expected.defaults {
            names.insert(name);
        }
    }

    /// AICIB's master switch: what is off declares no agents.
    fn is_off(&self) -> bool {
        let switch = self.root.get("integrations").and_then(|ours| ours.get("enabled"));
        self.file.dialect == Dialect::Aicib
            && switch.is_some_and(|node| !matches!(node.value, Value::Bool(true) | Value::Null))
    }

    /// Writes an agent's list with the defaults that it had and the new server.
    fn write_out(
        &mut self,
        list: Trail,
        agent: &AgentId,
        defaults: Option<&List<'_>>,
        had: &BTreeSet<ServerName>,
    ) {
        let items = defaults.map(|list| list.items).unwrap_or_default();
        let mut names: Vec<&str> = items.iter().filter_map(Node::as_str).collect();
        names.push(self.spec.name.as_str());
        self.plan.ops.push(Op::Set(list, json!(names)));
        self.assign(agent, Some(had.clone()));
        self.plan.notes.push(format!(
            "agent `{agent}` named no servers; the defaults it had are written out in its list now"
        ));
    }

    /// Expects the agent to have the server, beside `base` or what it names already.
    fn assign(&mut self, agent: &AgentId, base: Option<BTreeSet<ServerName>>) {
        if self.is_off() {
            return;
        }
        let name = self.name().clone();
        let spec = self.plan.expected.agents.entry(agent.clone()).or_default();
        if base.is_some() {
            spec.servers = base;
        }
        spec.servers.get_or_insert_default().insert(name);
    }

    fn for_spacebot(&mut self) {
        let value = Json::Object(entry(Dialect::Spacebot, self.spec));
        if self.agents.is_empty() || self.to_defaults {
            self.plan.ops.push(Op::Push(trail(["defaults", "mcp"]), value));
            self.expect(Scope::Global);
            return;
        }
        let root = self.root;
        let there = root.get("agents").map(Node::items).unwrap_or_default();
        let mut count = there.len();
        for agent in self.agents.clone() {
            let id = |node: &Node| node.get("id").and_then(Node::as_str) == Some(agent.as_str());
            let at = there.iter().position(id).unwrap_or_else(|| {
                self.plan.ops.push(Op::Push(trail(["agents"]), json!({ "id": agent.as_str() })));
                count += 1;
                count - 1
            });
            let list = vec![Step::from("agents"), at.into(), "mcp".into()];
            self.plan.ops.push(Op::Push(list, value.clone()));
            self.expect(Scope::Agent(agent.clone()));
            self.plan.expected.agents.entry(agent.clone()).or_default();
        }
    }
}
