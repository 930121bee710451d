//! Internal servers: the parts of one system, in directories beside each other, each with a manifest
//! in its package.json. Looks for them only where the operator's own file asks, and keeps what was
//! good. Never starts one.

mod find;
mod manifest;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use switchboard_model::{Code, Place, Problem, Severity};

use self::find::Owner;
use self::manifest::Manifest;
use crate::declared::Declared;
use crate::dialect::Dialect;
use crate::file::{self, NoText};
use crate::load::{Loaded, LoadedFile, VANISH_GRACE, vanished};

/// The keys of package.json that a manifest is under, unless the file says otherwise: Annabelle's
/// name, and the one that the project has now.
pub const MANIFESTS: [&str; 2] = ["annabelle", "hexa-puffs"];
/// Whose subdirectories are looked at, seen from the file that asks.
pub const ROOT: &str = "..";

/// What a file says of internal servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Internal {
    /// There are none, whatever is beside it.
    Off,
    /// They are in the subdirectories of a directory.
    Beside(Siblings),
}

/// Where internal servers are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Siblings {
    /// The directory whose direct subdirectories may each hold one.
    pub root: PathBuf,
    /// The keys of package.json that a manifest can be under, the first before the others.
    pub manifests: Vec<String>,
}

/// What a manifest declared when it was last good.
struct Good {
    declared: Declared,
    missed_since: Option<Instant>,
}

/// The internal servers that were found, again and again.
#[derive(Default)]
pub(crate) struct Internals {
    good: BTreeMap<PathBuf, Good>,
    /// As it is written, and as it really is.
    root: Option<(PathBuf, PathBuf)>,
    /// Where manifests are, or may come to be.
    looked_at: Vec<PathBuf>,
    /// Of the file that asks; remembered, since that file may be away for a moment.
    owner: Option<Owner>,
}

impl Internals {
    /// Looks again, as a file asks at a place. What is wrong with a manifest is a warning: it stops
    /// nothing else.
    pub(crate) fn load(
        &mut self,
        asked: Option<(&Siblings, &Place)>,
        now: Instant,
        loaded: &mut Loaded,
    ) {
        let Some((siblings, place)) = asked else {
            *self = Self::default();
            return;
        };
        let file = place.source.path();
        self.owner = Owner::of(file).or(self.owner);
        let root = std::path::absolute(&siblings.root).unwrap_or_else(|_| siblings.root.clone());
        let found = match find::directories(&root, file.parent()) {
            Ok(found) => found,
            Err(error) => {
                // Perhaps a volume that is not mounted now: nothing is removed.
                loaded.problems.push(no_root(&root, &error, place));
                loaded.manifests.extend(self.good.keys().filter_map(|path| self.kept(path)));
                self.root = Some((root.clone(), root));
                return;
            }
        };
        loaded.problems.extend(found.too_many(place));
        self.root = Some((root, found.root));
        self.looked_at = found.directories.iter().map(|dir| dir.join("package.json")).collect();
        for path in self.looked_at.clone() {
            let file = self.look(&path, siblings, place, &mut loaded.problems);
            loaded.manifests.extend(file);
        }
        self.missed(now, loaded);
    }

    /// What every manifest declares.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &Declared> {
        self.good.values().map(|good| &good.declared)
    }

    /// Every path that has to do with them.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.root.iter().map(|(written, _)| written).chain(&self.looked_at).cloned()
    }

    /// The directory in which others come and go.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.root.as_ref().map(|(_, real)| real.as_path())
    }

    /// When a manifest's absence will be taken seriously.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.good.values().filter_map(|good| good.missed_since).min().map(|at| at + VANISH_GRACE)
    }

    /// Reads one directory's package.json; nothing if it has no manifest.
    fn look(
        &mut self,
        path: &Path,
        siblings: &Siblings,
        asked: &Place,
        problems: &mut Vec<Problem>,
    ) -> Option<LoadedFile> {
        let known = self.good.contains_key(path);
        let text = match file::read(path) {
            Ok(text) => text,
            Err(NoText::Absent) => return None,
            Err(NoText::Bad(problem)) => {
                // Somebody else's package.json is no fault of ours, until it was one of ours.
                problems.extend(known.then(|| warning(*problem)));
                return self.kept(path);
            }
        };
        let manifest = manifest::read(path, &text, &siblings.manifests);
        // A text that cannot be read may be of a package that is, or was to be, one of ours.
        let ours = |it: &Manifest| it.declared.is_some() || known || mentions(&text, siblings);
        let Some(manifest) = manifest.filter(ours) else {
            self.good.remove(path);
            return None;
        };
        if self.owner.is_some_and(|owner| owner.is_foreign(path)) {
            self.good.remove(path);
            problems.push(foreign(path, asked));
            return None;
        }
        problems.extend(manifest.problems.into_iter().map(warning));
        problems.extend(file::writable_by_others(path));
        match manifest.declared {
            Some(declared) if !declared.servers.is_empty() || !known => {
                self.good.insert(path.to_owned(), Good { declared, missed_since: None });
                self.kept(path).map(|file| LoadedFile { kept: false, ..file })
            }
            // What is not valid any more stays as it was.
            Some(_) | None => self.kept(path),
        }
    }

    /// Manifests that are gone are missed for a moment, as files are.
    fn missed(&mut self, now: Instant, loaded: &mut Loaded) {
        let there = |path: &PathBuf| self.looked_at.contains(path) && path.exists();
        self.good.retain(|path, good| {
            if there(path) {
                good.missed_since = None;
                return true;
            }
            let since = *good.missed_since.get_or_insert(now);
            now.duration_since(since) < VANISH_GRACE
        });
        for (path, _) in self.good.iter().filter(|(_, good)| good.missed_since.is_some()) {
            loaded.problems.push(vanished(path));
            loaded.manifests.extend(self.kept(path));
        }
    }

    fn kept(&self, path: &Path) -> Option<LoadedFile> {
        let servers = self.good.get(path)?.declared.servers.len();
        let dialect = Some(Dialect::Annabelle);
        Some(LoadedFile { path: path.to_owned(), dialect, servers, kept: true })
    }
}

/// Whether a text that is no JSON was meant to have a manifest.
fn mentions(text: &str, siblings: &Siblings) -> bool {
    siblings.manifests.iter().any(|key| text.contains(&format!("\"{key}\"")))
}

fn warning(problem: Problem) -> Problem {
    Problem { severity: Severity::Warning, ..problem }
}

fn no_root(root: &Path, error: &std::io::Error, place: &Place) -> Problem {
    let message = format!("internal servers cannot be looked for in {}: {error}", root.display());
    let remedy = "Name a directory under `internal.root`, or set `internal.enabled = false`.";
    let problem = file::problem(Code::UnreadableFile, message, remedy);
    Problem { place: Some(place.clone()), ..problem }
}

/// In a directory that everybody may write, such as /tmp, anybody could have a command started.
fn foreign(path: &Path, place: &Place) -> Problem {
    let message = format!("{} belongs to somebody else and is left out", path.display());
    let remedy = "Who owns it could have commands started: give it, its directory and every link \
                  to them to the owner of this file.";
    let problem = file::problem(Code::WritableByOthers, message, remedy);
    warning(Problem { place: Some(place.clone()), ..problem })
}

#[cfg(test)]
mod tests;
