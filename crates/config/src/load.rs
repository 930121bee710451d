//! Loads every file into one desired state, and keeps the last good state of what is broken: of a
//! file that cannot be read, and of an entry that is not valid any more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_model::{
    AgentId, Clock, Code, Desired, HubSpec, Place, Problem, ServerKey, ServerName, Severity,
};

use crate::declared::Declared;
use crate::dialect::Dialect;
use crate::file::{self, NoText};
use crate::internal::{Internal, Internals, Siblings};
use crate::locate::{Candidate, Selection};
use crate::merge::{self, Input, Origin};
use crate::parse::{self, Context};

/// A file that vanishes is missed for so long before its servers go with it: editors, checkouts and
/// mounts take it away for a moment.
pub const VANISH_GRACE: Duration = Duration::from_secs(5);

/// The names that no file may give to a server.
pub const RESERVED: [&str; 1] = ["switchboard"];

/// The whole configuration, as it is now.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// What ought to run.
    pub desired: Arc<Desired>,
    /// Where each server was declared.
    pub origins: BTreeMap<ServerKey, Origin>,
    /// Where each agent was declared.
    pub agents: BTreeMap<AgentId, Place>,
    /// The files that were found.
    pub files: Vec<LoadedFile>,
    /// The manifests of internal servers that were found.
    pub manifests: Vec<LoadedFile>,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
    /// The names that only internal servers have, the hub's own among them.
    pub reserved: BTreeSet<ServerName>,
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedFile {
    /// Where.
    pub path: PathBuf,
    /// Whose.
    pub dialect: Option<Dialect>,
    /// How many servers it declares.
    pub servers: usize,
    /// Whether its state is an earlier one, since it cannot be read now.
    pub kept: bool,
}

/// What a file declared when it was last good.
struct Good {
    dialect: Dialect,
    declared: Declared,
    missed_since: Option<Instant>,
}

/// Loads a selection of files, again and again.
pub struct Loader {
    selection: Selection,
    reserved: BTreeSet<ServerName>,
    internals: Internals,
    good: BTreeMap<PathBuf, Good>,
    clock: Arc<dyn Clock>,
}

impl Loader {
    /// A loader that has seen nothing yet.
    pub fn new(selection: Selection, clock: Arc<dyn Clock>) -> Self {
        let reserved = RESERVED.iter().filter_map(|name| ServerName::parse(name).ok()).collect();
        let internals = Internals::default();
        Self { selection, reserved, internals, good: BTreeMap::new(), clock }
    }

    /// What it loads.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The clock it goes by.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    /// Every path that a file or a manifest may be at.
    pub fn paths(&self) -> Vec<PathBuf> {
        let candidates = self.selection.candidates().into_iter();
        candidates.map(|candidate| candidate.path).chain(self.internals.paths()).collect()
    }

    /// The directory in which manifests come and go, if any are looked for.
    pub fn directory(&self) -> Option<PathBuf> {
        self.internals.directory().map(Path::to_owned)
    }

    /// Reads every file and merges what they declare. Never fails: what is wrong is told, and what
    /// was good stays.
    pub fn load(&mut self) -> Loaded {
        let mut loaded = Loaded::default();
        let mut inputs: Vec<PathBuf> = Vec::new();
        let mut found_first = false;
        for candidate in self.selection.candidates() {
            if candidate.first_found && found_first {
                continue;
            }
            if let Some(file) = self.file(&candidate, &mut loaded.problems) {
                found_first |= candidate.first_found;
                inputs.push(candidate.path);
                loaded.files.push(file);
            }
        }
        self.good.retain(|path, _| inputs.contains(path));
        let inputs: Vec<Input<'_>> = inputs
            .iter()
            .filter_map(|path| self.good.get(path))
            .map(|good| Input { dialect: good.dialect, declared: &good.declared })
            .collect();
        let asked = first_asked(&inputs);
        self.internals.load(asked, self.clock.monotonic(), &mut loaded);
        let manifests: Vec<Input<'_>> = self
            .internals
            .declared()
            .map(|declared| Input { dialect: Dialect::Annabelle, declared })
            .collect();
        let merged = merge::merge_with(&manifests, &inputs, &self.reserved);
        loaded.problems.extend(merged.problems);
        loaded.desired = Arc::new(merged.desired);
        loaded.origins = merged.origins;
        loaded.agents = merged.agents;
        loaded.reserved = merged.reserved;
        loaded
    }

    /// When a file's absence will be taken seriously, if one is absent.
    pub fn next_deadline(&self) -> Option<Instant> {
        let missed = self.good.values().filter_map(|good| good.missed_since).min();
        missed.map(|at| at + VANISH_GRACE).into_iter().chain(self.internals.next_deadline()).min()
    }

    /// Reads one file; `None` if it is not there or not ours.
    fn file(&mut self, candidate: &Candidate, problems: &mut Vec<Problem>) -> Option<LoadedFile> {
        let path = &candidate.path;
        let text = match file::read(path) {
            Ok(text) => text,
            Err(NoText::Absent) => return self.absent(candidate, problems),
            Err(NoText::Bad(problem)) => {
                // A file with a common name that is not ours to read is no fault.
                let ours = candidate.named || !candidate.by_shape || self.good.contains_key(path);
                let unheard = !candidate.named && !self.good.contains_key(path) && !path.exists();
                if ours && !unheard {
                    problems.push(*problem);
                }
                return (ours && !unheard).then(|| self.kept(path, candidate.dialect));
            }
        };
        self.text(candidate, &text, problems)
    }

    fn text(
        &mut self,
        candidate: &Candidate,
        text: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<LoadedFile> {
        let path = &candidate.path;
        let own = [HubSpec::default().listen];
        let dialect = candidate.dialect.filter(|_| !candidate.by_shape);
        let context = Context { dialect, own: &own, ..Context::default() };
        let parsed = parse::text(path, text, &context);
        if candidate.by_shape && !self.good.contains_key(path) {
            let shaped = parsed.dialect == candidate.dialect;
            let broken = parsed.declared.is_none() && text.contains("mcp]]");
            if !shaped && !broken {
                return None;
            }
        }
        problems.extend(parsed.problems);
        problems.extend(file::writable_by_others(path));
        let (Some(dialect), Some(mut declared)) = (parsed.dialect, parsed.declared) else {
            return Some(self.kept(path, parsed.dialect.or(candidate.dialect)));
        };
        if let Some(good) = self.good.get(path) {
            keep_entries(&mut declared, &good.declared);
        }
        let servers = declared.servers.len();
        self.good.insert(path.clone(), Good { dialect, declared, missed_since: None });
        Some(LoadedFile { path: path.clone(), dialect: Some(dialect), servers, kept: false })
    }

    fn absent(&mut self, candidate: &Candidate, problems: &mut Vec<Problem>) -> Option<LoadedFile> {
        let path = &candidate.path;
        let now = self.clock.monotonic();
        if let Some(good) = self.good.get_mut(path) {
            let since = *good.missed_since.get_or_insert(now);
            if now.duration_since(since) < VANISH_GRACE {
                problems.push(vanished(path));
                return Some(self.kept(path, candidate.dialect));
            }
            self.good.remove(path);
        }
        if candidate.named {
            let error = std::io::Error::from(std::io::ErrorKind::NotFound);
            problems.push(file::unreadable(path, &error));
        }
        None
    }

    fn kept(&self, path: &Path, dialect: Option<Dialect>) -> LoadedFile {
        let good = self.good.get(path);
        LoadedFile {
            path: path.to_owned(),
            dialect: good.map(|good| good.dialect).or(dialect),
            servers: good.map_or(0, |good| good.declared.servers.len()),
            kept: true,
        }
    }
}

/// Who is first in asking for internal servers, unless somebody before wants none.
fn first_asked<'a>(inputs: &[Input<'a>]) -> Option<(&'a Siblings, &'a Place)> {
    let mut said = inputs.iter().filter_map(|input| input.declared.internal.as_ref());
    match said.next() {
        Some((Internal::Beside(siblings), place)) => Some((siblings, place)),
        Some((Internal::Off, _)) | None => None,
    }
}

/// What is not valid any more stays as it was.
fn keep_entries(new: &mut Declared, old: &Declared) {
    for server in &old.servers {
        let replaced = || new.servers.iter().any(|known| known.key == server.key);
        if new.broken.contains(&server.key) && !replaced() {
            new.servers.push(server.clone());
        }
    }
    for id in &new.broken_agents {
        if let Some(agent) = old.agents.get(id) {
            new.agents.insert(id.clone(), agent.clone());
        }
    }
    if new.broken_policy && !old.broken_policy {
        new.policy = old.policy.clone();
    }
    if new.broken_internal {
        new.internal = old.internal.clone();
    }
}

pub(crate) fn vanished(path: &Path) -> Problem {
    let message = format!("{} is gone", path.display());
    let remedy =
        format!("Put it back within {} s, or its servers are removed.", VANISH_GRACE.as_secs());
    let mut problem = file::problem(Code::VanishedFile, message, remedy);
    problem.severity = Severity::Warning;
    problem
}

#[cfg(test)]
mod tests;
