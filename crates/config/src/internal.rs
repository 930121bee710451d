//! Internal servers: the parts of one system, in directories beside each other, each with a manifest
//! in its package.json. Looks for them only where the operator's own file asks, and keeps what was
//! good. Never starts one.

mod find;
mod manifest;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use switchboard_model::{Code, Place, Problem, ServerName, Severity};

use self::find::Owner;
use self::manifest::Manifest;
use crate::declared::Declared;
use crate::dialect::Dialect;
use crate::file::{self, NoText};
use crate::load::{Loaded, LoadedFile, VANISH_GRACE};

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

/// Who asks for internal servers, and for which.
pub(crate) struct Asked<'a> {
    pub(crate) siblings: &'a Siblings,
    /// Where it is written; its file's owner is whom manifests must belong to.
    pub(crate) place: &'a Place,
    /// The directory the hub works in, which is no sibling of its own.
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) now: Instant,
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
    /// Looks again. What is wrong with a manifest is a warning: it stops nothing else.
    pub(crate) fn load(&mut self, asked: Option<&Asked<'_>>, loaded: &mut Loaded) {
        let Some(asked) = asked else {
            *self = Self::default();
            return;
        };
        let file = asked.place.source.path();
        self.owner = Owner::of(file).or(self.owner);
        let root = std::path::absolute(&asked.siblings.root)
            .unwrap_or_else(|_| asked.siblings.root.clone());
        let found = match find::directories(&root, &[file.parent(), asked.cwd]) {
            Ok(found) => found,
            Err(error) => {
                loaded.problems.push(no_root(&root, &error, asked.place));
                // Perhaps a volume that is not mounted now: nothing is removed.
                self.root = Some((root.clone(), root));
                loaded.files.extend(self.good.keys().filter_map(|path| self.kept(path)));
                return;
            }
        };
        loaded.problems.extend(found.too_many(asked.place));
        self.root = Some((root, found.root));
        self.looked_at = found.directories.iter().map(|dir| dir.join("package.json")).collect();
        for path in self.looked_at.clone() {
            self.look(&path, asked, loaded);
        }
        self.missed(asked.now, loaded);
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
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        self.root.as_ref().map(|(_, real)| real.clone())
    }

    /// When a manifest's absence will be taken seriously.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.good.values().filter_map(|good| good.missed_since).min().map(|at| at + VANISH_GRACE)
    }

    /// Reads one directory's package.json.
    fn look(&mut self, path: &Path, asked: &Asked<'_>, loaded: &mut Loaded) {
        let known = self.good.contains_key(path);
        let text = match file::read(path) {
            Ok(text) => text,
            Err(NoText::Absent) => return,
            Err(NoText::Bad(problem)) => {
                // Somebody else's package.json is no fault of ours, until it was one of ours.
                if known {
                    loaded.problems.push(warning(*problem));
                    self.still_there(path, loaded);
                }
                return;
            }
        };
        let (declared, problems) = match manifest::read(path, &text, &asked.siblings.manifests) {
            // A text that cannot be read, of a package that is one of ours.
            Manifest::Broken(problems) if known || mentions(&text, asked) => (None, problems),
            Manifest::Broken(_) | Manifest::None => {
                self.good.remove(path);
                return;
            }
            Manifest::Of(declared, problems) => (Some(declared), problems),
        };
        if self.owner.is_some_and(|owner| owner.is_foreign(path)) {
            self.good.remove(path);
            loaded.problems.push(foreign(path, asked.place));
            return;
        }
        loaded.problems.extend(problems.into_iter().map(warning));
        loaded.problems.extend(file::writable_by_others(path));
        match declared {
            // What is not valid any more stays as it was.
            Some(declared) if declared.servers.is_empty() && known => {}
            Some(declared) => {
                self.good.insert(path.to_owned(), Good { declared, missed_since: None });
                loaded.files.extend(self.kept(path).map(|file| LoadedFile { kept: false, ..file }));
                return;
            }
            None => {}
        }
        self.still_there(path, loaded);
    }

    fn still_there(&mut self, path: &Path, loaded: &mut Loaded) {
        if let Some(good) = self.good.get_mut(path) {
            good.missed_since = None;
        }
        loaded.files.extend(self.kept(path));
    }

    /// Manifests that are gone are missed for a moment, as files are, but not those whose server is
    /// somewhere else now.
    fn missed(&mut self, now: Instant, loaded: &mut Loaded) {
        let there: BTreeSet<PathBuf> =
            self.looked_at.iter().filter(|path| path.exists()).cloned().collect();
        let names = |good: &Good| -> Vec<ServerName> {
            good.declared.servers.iter().map(|server| server.key.name.clone()).collect()
        };
        let present: BTreeSet<ServerName> = self
            .good
            .iter()
            .filter(|(path, _)| there.contains(*path))
            .flat_map(|(_, good)| names(good))
            .collect();
        self.good.retain(|path, good| {
            if there.contains(path) {
                return true;
            }
            let since = *good.missed_since.get_or_insert(now);
            let moved = names(good).iter().all(|name| present.contains(name));
            !moved && now.duration_since(since) < VANISH_GRACE
        });
        for path in self.good.keys().filter(|path| !there.contains(*path)) {
            loaded.problems.push(file::vanished(path));
            loaded.files.extend(self.kept(path));
        }
    }

    fn kept(&self, path: &Path) -> Option<LoadedFile> {
        let servers = self.good.get(path)?.declared.servers.len();
        let dialect = Some(Dialect::Annabelle);
        Some(LoadedFile { path: path.to_owned(), dialect, servers, kept: true })
    }
}

/// Whether a text that is no JSON was meant to have a manifest.
fn mentions(text: &str, asked: &Asked<'_>) -> bool {
    asked.siblings.manifests.iter().any(|key| text.contains(&format!("\"{key}\"")))
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
