//! From a change to the places that change, and to what the file must declare afterwards. Pure.

mod add;

use std::collections::BTreeSet;

use serde_json::json;
use switchboard_model::{Scope, ServerName, ServerSpec};

use super::entry::{Keys, Rewrite, entry, unsayable};
use super::guard::{Facts, State, comparable};
use super::places::{Entry, entries, lists};
use super::text::{Op, further};
use super::{Change, EditError, File};
use crate::catalog;
use crate::declared::Defaults;
use crate::dialect::Dialect;
use crate::syntax::{Node, Value};

/// What is done, and what must come of it.
pub(super) struct Plan {
    pub(super) ops: Vec<Op>,
    pub(super) expected: Facts,
    /// What a person should know of it.
    pub(super) notes: Vec<String>,
}

impl Plan {
    fn new(state: &State) -> Self {
        Self { ops: Vec::new(), expected: state.facts.clone(), notes: Vec::new() }
    }
}

/// The ways to make a change, the gentlest first.
pub(super) fn plans(
    file: &File<'_>,
    root: &Node,
    state: &State,
    change: &Change,
) -> Result<Vec<Plan>, EditError> {
    match change {
        Change::Add { spec, agents, to_defaults } => {
            // In our own file, what only an agent has may have the name of everybody's.
            let is_own = |entry: &Entry<'_>| {
                file.dialect == Dialect::Native && entry.key.scope != Scope::Global
            };
            if entries(file.dialect, root, &spec.name).iter().any(|entry| !is_own(entry)) {
                let place = Box::new(state.place_of(file, &spec.name));
                return Err(EditError::Exists { name: spec.name.clone(), place });
            }
            cannot_say(file, None, spec)?;
            Ok(vec![add::add(file, root, state, spec, agents, *to_defaults)?])
        }
        Change::AddOwn { spec, agent } => Ok(vec![add::own(file, state, spec, agent)?]),
        Change::Replace { spec } => replace(file, root, state, spec),
        Change::Remove { name } => Ok(vec![remove(file, root, state, name)?]),
        Change::Enable { name, enabled } => {
            let found = entries(file.dialect, root, name);
            if found.is_empty() {
                return Err(state.missing(file, name));
            }
            Ok(vec![enable(file, state, &found, *enabled)?])
        }
    }
}

fn cannot_say(
    file: &File<'_>,
    old: Option<&ServerSpec>,
    spec: &ServerSpec,
) -> Result<(), EditError> {
    match unsayable(file.dialect, old, spec) {
        Some(what) => Err(unsaid(file, &spec.name, what)),
        None => Ok(()),
    }
}

fn unsaid(file: &File<'_>, name: &ServerName, what: impl Into<String>) -> EditError {
    EditError::CannotSay {
        name: name.clone(),
        path: file.path.into(),
        dialect: file.dialect,
        what: what.into(),
    }
}

fn replace(
    file: &File<'_>,
    root: &Node,
    state: &State,
    spec: &ServerSpec,
) -> Result<Vec<Plan>, EditError> {
    let found = entries(file.dialect, root, &spec.name);
    let global = found.iter().find(|entry| entry.key.scope == Scope::Global);
    let target = match (global, found.as_slice()) {
        (Some(global), _) => global,
        (None, [only]) => only,
        (None, []) => return Err(state.missing(file, &spec.name)),
        (None, several) => {
            let agents = several.iter().filter_map(|entry| match &entry.key.scope {
                Scope::Agent(id) => Some(id.clone()),
                Scope::Global | Scope::User(_) => None,
            });
            return Err(EditError::Ambiguous {
                name: spec.name.clone(),
                path: file.path.into(),
                agents: agents.collect(),
            });
        }
    };
    if is_composio(file, target) {
        let why = "`integrations.composio` is a key of its own and not a server's entry";
        return Err(file.would_break(why.into()));
    }
    let before = state.facts.servers.get(&target.key);
    cannot_say(file, before, spec)?;
    let new = entry(file.dialect, spec);
    let old = before.map(|before| entry(file.dialect, before));
    let plan = |old| {
        let (dialect, format) = (file.dialect, file.format);
        let rewrite = Rewrite { dialect, keys: Keys::Entry, format, old, new: &new };
        let mut plan = Plan::new(state);
        plan.ops = rewrite.ops(&target.trail, target.node);
        plan.ops.extend(switch(file.dialect, target, spec.enabled));
        plan.expected.broken.remove(&target.key);
        plan.expected.servers.insert(target.key.clone(), comparable(file.dialect, spec.clone()));
        plan
    };
    Ok(old.iter().map(Some).chain([None]).map(plan).collect())
}

/// `enabled` as the entry has it, or clients' `disabled`.
fn switch(dialect: Dialect, entry: &Entry<'_>, enabled: bool) -> Vec<Op> {
    let flag = |key: &str| match entry.node.get(key).map(|node| &node.value) {
        Some(Value::Bool(flag)) => Some(*flag),
        _ => None,
    };
    let mut ops = Vec::new();
    let mut set = |key: &str, value: bool| {
        ops.push(Op::Set(further(&entry.trail, key), json!(value)));
    };
    match dialect {
        Dialect::Annabelle | Dialect::Aicib => {}
        Dialect::McpServers if flag("disabled").is_some() => {
            if flag("disabled") == Some(enabled) {
                set("disabled", !enabled);
            }
            if enabled && flag("enabled") == Some(false) {
                set("enabled", true);
            }
        }
        _ if flag("enabled").unwrap_or(true) != enabled => set("enabled", enabled),
        _ => {}
    }
    ops
}

fn enable(
    file: &File<'_>,
    state: &State,
    found: &[Entry<'_>],
    enabled: bool,
) -> Result<Plan, EditError> {
    let mut plan = Plan::new(state);
    for entry in found {
        let name = &entry.key.name;
        if matches!(file.dialect, Dialect::Annabelle | Dialect::Aicib) {
            return Err(unsaid(file, name, "enabled"));
        }
        let Some(spec) = plan.expected.servers.get_mut(&entry.key) else {
            let mut problems = state.problems.clone();
            problems.retain(|problem| problem.server.as_ref() == Some(name));
            return Err(file.invalid(problems));
        };
        spec.enabled = enabled;
        plan.ops.extend(switch(file.dialect, entry, enabled));
    }
    Ok(plan)
}

fn remove(
    file: &File<'_>,
    root: &Node,
    state: &State,
    name: &ServerName,
) -> Result<Plan, EditError> {
    let mut plan = Plan::new(state);
    // From the last to the first, so that the numbers of the others stay right.
    for list in lists(file.dialect, root).iter().rev() {
        for (at, item) in list.items.iter().enumerate().rev() {
            if item.as_str() == Some(name.as_str()) {
                plan.ops.push(Op::Remove(further(&list.trail, at)));
            }
        }
    }
    let found = entries(file.dialect, root, name);
    plan.ops.extend(found.iter().rev().map(|entry| Op::Remove(entry.trail.clone())));
    if plan.ops.is_empty() {
        return Err(state.missing(file, name));
    }
    let expected = &mut plan.expected;
    expected.servers.retain(|key, _| key.name != *name);
    expected.broken.retain(|key| key.name != *name);
    let defaults = match &mut expected.defaults {
        Defaults::All => BTreeSet::new(),
        Defaults::These(names) | Defaults::Only(names) => {
            names.remove(name);
            names.clone()
        }
    };
    for servers in expected.agents.values_mut().filter_map(|agent| agent.servers.as_mut()) {
        let named = servers.remove(name);
        // AICIB knows no agent without servers: one that names none has the defaults.
        if named && servers.is_empty() && file.dialect == Dialect::Aicib {
            *servers = defaults.clone();
        }
    }
    Ok(plan)
}

fn is_composio(file: &File<'_>, entry: &Entry<'_>) -> bool {
    file.dialect == Dialect::Aicib
        && entry.trail == super::text::trail(["integrations", catalog::COMPOSIO])
}
