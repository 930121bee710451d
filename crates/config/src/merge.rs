//! Several files become one desired state: the first that names a server has it, references are
//! looked up among all of them and in the catalog. Pure.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use switchboard_model::{
    AgentId, AgentSpec, Code, DefaultServers, Desired, HubSpec, Place, Problem, ServerKey,
    ServerName, ServerSpec, Severity,
};

use crate::catalog;
use crate::declared::{Declared, Defaults, FromCatalog, Reference};
use crate::decode::{MAX_PROBLEMS, nearest};
use crate::dialect::Dialect;

/// What one file declares, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Whose file.
    pub dialect: Dialect,
    /// What it declares.
    pub declared: &'a Declared,
}

/// Where a server of the desired state was declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The entry; for a server from the catalog, the place that names it.
    pub place: Place,
    /// Whose file it is in.
    pub dialect: Dialect,
}

/// The desired state and where it came from.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// What ought to run.
    pub desired: Desired,
    /// Where each server was declared.
    pub origins: BTreeMap<ServerKey, Origin>,
    /// Where each agent was declared.
    pub agents: BTreeMap<AgentId, Place>,
    /// Conflicts and names that nobody knows.
    pub problems: Vec<Problem>,
    /// The names that only internal servers have.
    pub reserved: BTreeSet<ServerName>,
}

/// Merges files, in the order in which they count but with native ones before all others. `reserved`
/// are the names that no file may take.
pub fn merge(inputs: &[Input<'_>], reserved: &BTreeSet<ServerName>) -> Merged {
    merge_with(&[], inputs, reserved)
}

/// The same, beside the internal servers of these manifests, whose names no file may take either.
pub fn merge_with(
    manifests: &[Input<'_>],
    inputs: &[Input<'_>],
    reserved: &BTreeSet<ServerName>,
) -> Merged {
    let mut ordered: Vec<&Input<'_>> = inputs.iter().collect();
    ordered.sort_by_key(|input| input.dialect != Dialect::Native);
    let mut merger = Merger {
        internal: reserved.clone(),
        merged: Merged::default(),
        names: HashSet::new(),
        suggestions: SUGGESTIONS,
    };
    manifests.iter().for_each(|input| merger.servers(input));
    for declared in manifests.iter().map(|input| input.declared) {
        let keys = declared.servers.iter().map(|server| &server.key).chain(&declared.broken);
        merger.internal.extend(keys.map(|key| key.name.clone()));
    }
    ordered.iter().for_each(|input| merger.servers(input));
    let broken: BTreeSet<&ServerName> =
        inputs.iter().flat_map(|input| &input.declared.broken).map(|key| &key.name).collect();
    for input in &ordered {
        input
            .declared
            .references
            .iter()
            .for_each(|it| merger.reference(it, input.dialect, &broken));
    }
    ordered.iter().for_each(|input| merger.agents(input));
    ordered.extend(manifests);
    merger.defaults(&ordered);
    merger.settings(&ordered);
    Merged { reserved: merger.internal, ..merger.merged }
}

struct Merger {
    internal: BTreeSet<ServerName>,
    merged: Merged,
    /// Every name that a server has, in whichever scope.
    names: HashSet<ServerName>,
    /// How many more unknown names get a suggestion; looking for one takes time.
    suggestions: usize,
}

const SUGGESTIONS: usize = 100;

impl Merger {
    fn servers(&mut self, input: &Input<'_>) {
        for server in &input.declared.servers {
            let name = &server.key.name;
            if self.internal.contains(name) {
                let message = format!("`{name}` is the name of an internal server");
                let remedy = "Give it another name; this entry is skipped.";
                let found = self.merged.origins.get(&ServerKey::global(name.clone()));
                let found = found.map(|origin| (origin.place.clone(), "this one counts".into()));
                self.warn(Code::ReservedName, &server.place, found, message, remedy.into());
                continue;
            }
            if let Some(first) = self.merged.origins.get(&server.key) {
                let first = first.place.clone();
                self.conflict(&format!("server `{}`", server.key), &server.place, first);
                continue;
            }
            let origin = Origin { place: server.place.clone(), dialect: input.dialect };
            self.merged.origins.insert(server.key.clone(), origin);
            self.names.insert(name.clone());
            self.merged.desired.servers.insert(server.key.clone(), server.spec.clone());
        }
    }

    /// Looks a name up among the servers, then in the catalog, whose entry it brings in.
    fn reference(
        &mut self,
        reference: &Reference,
        dialect: Dialect,
        broken: &BTreeSet<&ServerName>,
    ) {
        let name = &reference.name;
        if self.knows(name) || broken.contains(name) || self.internal.contains(name) {
            return;
        }
        let known = match (catalog::find(name), reference.from_catalog) {
            (Some(spec), FromCatalog::Take) => Some(spec),
            (Some(spec), FromCatalog::TakeOrSkip) => Some(catalog::or_skip(spec)),
            (Some(_), FromCatalog::Leave) => return,
            (None, _) => None,
        };
        match known {
            Some(spec) => self.add(spec, &reference.place, dialect),
            None => self.unknown(name, &reference.place),
        }
    }

    fn add(&mut self, spec: ServerSpec, place: &Place, dialect: Dialect) {
        let key = ServerKey::global(spec.name.clone());
        self.names.insert(spec.name.clone());
        self.merged.origins.insert(key.clone(), Origin { place: place.clone(), dialect });
        self.merged.desired.servers.insert(key, Arc::new(spec));
    }

    fn unknown(&mut self, name: &ServerName, place: &Place) {
        let declared = self.merged.desired.servers.keys().map(|key| key.name.as_str());
        let known = declared.chain(catalog::names().map(|name| -> &str { name }));
        let near = nearest(name.as_str(), known.take_while(|_| self.suggestions > 0));
        let remedy = match near {
            Some(near) => format!("Did you mean `{near}`?"),
            None => "Declare it under `servers`, or remove the name here.".to_owned(),
        };
        self.suggestions = self.suggestions.saturating_sub(1);
        let message = format!("no file and no catalog knows a server `{name}`");
        self.push(Code::UnknownServer, Severity::Error, place, None, message, remedy);
    }

    fn knows(&self, name: &ServerName) -> bool {
        self.names.contains(name)
    }

    fn agents(&mut self, input: &Input<'_>) {
        for (id, (spec, place)) in &input.declared.agents {
            if let Some(first) = self.merged.agents.get(id).cloned() {
                self.conflict(&format!("agent `{id}`"), place, first);
                continue;
            }
            let known = |names: &BTreeSet<ServerName>| -> BTreeSet<ServerName> {
                names.iter().filter(|name| self.knows(name)).cloned().collect()
            };
            let spec = AgentSpec { servers: spec.servers.as_ref().map(known), ..spec.clone() };
            self.merged.agents.insert(id.clone(), place.clone());
            self.merged.desired.agents.insert(id.clone(), spec);
        }
    }

    /// What agents that name none have: the native file's word if it has one, else what each file
    /// gives.
    fn defaults(&mut self, inputs: &[&Input<'_>]) {
        if inputs.iter().all(|input| input.declared.defaults == Defaults::All) {
            // Nobody said anything, so that what comes from elsewhere is everybody's too.
            self.merged.desired.defaults = DefaultServers::Everything;
            return;
        }
        let only = inputs.iter().find_map(|input| match &input.declared.defaults {
            Defaults::Only(names) => Some(names.clone()),
            Defaults::All | Defaults::These(_) => None,
        });
        let given =
            only.unwrap_or_else(|| inputs.iter().flat_map(|input| given(input.declared)).collect());
        let known = given.into_iter().filter(|name| self.knows(name)).collect();
        self.merged.desired.defaults = DefaultServers::These(known);
    }

    fn settings(&mut self, inputs: &[&Input<'_>]) {
        let default = HubSpec::default();
        let mut listen = None;
        let mut store = None;
        let mut master_key = None;
        let mut traces = None;
        let mut arguments = None;
        let (mut mcp_names, mut model_names) = (None, None);
        let mut internal = None;
        for declared in inputs.iter().map(|input| input.declared) {
            self.merged.desired.policy.extend(declared.policy.iter().cloned());
            self.first(&mut listen, declared.listen.as_ref(), "`hub.listen`");
            self.first(&mut store, declared.store.as_ref(), "`hub.store`");
            self.first(&mut master_key, declared.master_key.as_ref(), "`hub.master_key`");
            self.first(&mut traces, declared.traces.as_ref(), "`hub.traces`");
            let audited = declared.audit_arguments.as_ref();
            self.first(&mut arguments, audited, "`hub.audit_arguments`");
            self.first(&mut mcp_names, declared.mcp_names.as_ref(), "`hub.mcp_names`");
            self.first(&mut model_names, declared.model_names.as_ref(), "`hub.model_names`");
            self.first(&mut internal, declared.internal.as_ref(), "`internal`");
        }
        self.merged.desired.hub = HubSpec {
            listen: listen.map_or(default.listen, |(listen, _)| listen),
            store: store.map_or(default.store, |(store, _)| store),
            master_key: master_key.map_or(default.master_key, |(place, _)| place),
            traces: traces.map(|(url, _)| url),
            audit_arguments: arguments.map_or(default.audit_arguments, |(what, _)| what),
            mcp_names: mcp_names.map(|(names, _)| names),
            model_names: model_names.map(|(names, _)| names),
        };
    }

    fn first<T: Clone>(
        &mut self,
        slot: &mut Option<(T, Place)>,
        new: Option<&(T, Place)>,
        what: &str,
    ) {
        match (slot.as_ref(), new) {
            (None, Some(new)) => *slot = Some(new.clone()),
            (Some((_, first)), Some((_, second))) => {
                let first = first.clone();
                self.conflict(what, second, first);
            }
            (_, None) => {}
        }
    }

    fn conflict(&mut self, what: &str, second: &Place, first: Place) {
        let file = |place: &Place| place.source.path().display().to_string();
        let message = format!("{what} is declared in {} and in {}", file(&first), file(second));
        let remedy = format!("Remove one of them; that of {} counts.", file(&first));
        self.warn(Code::Conflict, second, Some((first, "this one counts".into())), message, remedy);
    }

    fn warn(
        &mut self,
        code: Code,
        place: &Place,
        related: Option<(Place, String)>,
        message: String,
        remedy: String,
    ) {
        self.push(code, Severity::Warning, place, related, message, remedy);
    }

    fn push(
        &mut self,
        code: Code,
        severity: Severity,
        place: &Place,
        related: Option<(Place, String)>,
        message: String,
        remedy: String,
    ) {
        if self.merged.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let place = Some(place.clone());
        let problem = Problem { code, severity, message, place, related, remedy, server: None };
        self.merged.problems.push(problem);
    }
}

fn given(declared: &Declared) -> Vec<ServerName> {
    match &declared.defaults {
        Defaults::All => declared
            .servers
            .iter()
            .filter(|server| is_global(&server.key))
            .map(|server| server.key.name.clone())
            .collect(),
        Defaults::These(names) | Defaults::Only(names) => names.iter().cloned().collect(),
    }
}

fn is_global(key: &ServerKey) -> bool {
    key.scope == switchboard_model::Scope::Global
}
