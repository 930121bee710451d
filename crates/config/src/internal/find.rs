//! The directories that may hold an internal server, and whom things belong to. Reads no manifest.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use switchboard_model::{Code, Place, Problem, Severity};

use crate::file;

/// Each is looked at every few seconds; a system of more parts has a root of its own.
pub(super) const MAX_DIRECTORIES: usize = 1_000;

/// What is in a root.
#[derive(Debug)]
pub(super) struct Found {
    /// The root as it really is.
    pub(super) root: PathBuf,
    /// Its subdirectories, in the order of their names, each once.
    pub(super) directories: Vec<PathBuf>,
    /// How many more there are.
    left_out: usize,
}

impl Found {
    /// Says so, if there are more directories than are looked at.
    pub(super) fn too_many(&self, place: &Place) -> Option<Problem> {
        let message =
            format!("{} has more than {MAX_DIRECTORIES} directories", self.root.display());
        let remedy = format!(
            "Keep internal servers in a directory of their own and name it under `root`; {} are \
             not looked at.",
            self.left_out
        );
        let problem = file::problem(Code::BadValue, message, remedy);
        let place = Some(place.clone());
        (self.left_out > 0).then_some(Problem { severity: Severity::Warning, place, ..problem })
    }
}

/// The direct subdirectories of a root, but for the asking file's own. Hidden ones are nobody's
/// parts.
pub(super) fn directories(root: &Path, own: Option<&Path>) -> io::Result<Found> {
    let root = std::fs::canonicalize(root)?;
    let own = own.map(|own| if own.as_os_str().is_empty() { Path::new(".") } else { own });
    let mut seen: HashSet<PathBuf> =
        own.into_iter().filter_map(|own| std::fs::canonicalize(own).ok()).collect();
    let mut names: Vec<_> = std::fs::read_dir(&root)?
        .filter_map(|entry| entry.ok().map(|entry| entry.file_name()))
        .filter(|name| !name.as_encoded_bytes().starts_with(b".") && name != "node_modules")
        .collect();
    names.sort();
    let mut found = Found { root, directories: Vec::new(), left_out: 0 };
    for path in names.into_iter().map(|name| found.root.join(name)).collect::<Vec<_>>() {
        if !path.is_dir() {
            continue;
        }
        if found.directories.len() >= MAX_DIRECTORIES {
            found.left_out += 1;
            continue;
        }
        let Ok(real) = std::fs::canonicalize(&path) else { continue };
        if seen.insert(real) {
            found.directories.push(path);
        }
    }
    Ok(found)
}

/// Whom a file belongs to, where the system knows such a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner(u32);

impl Owner {
    /// Of the file itself, not of a link to it.
    pub(super) fn of(path: &Path) -> Option<Self> {
        owner(std::fs::metadata(path))
    }

    /// Whether a manifest, its directory or a link to either belongs to neither this owner nor root.
    pub(super) fn is_foreign(self, manifest: &Path) -> bool {
        let paths = [Some(manifest), manifest.parent()];
        paths.into_iter().flatten().any(|path| {
            let owners = [owner(std::fs::metadata(path)), owner(std::fs::symlink_metadata(path))];
            owners.into_iter().flatten().any(|other| !self.trusts(other))
        })
    }

    fn trusts(self, other: Self) -> bool {
        other == self || other == Self(0)
    }
}

#[cfg(unix)]
fn owner(metadata: io::Result<std::fs::Metadata>) -> Option<Owner> {
    use std::os::unix::fs::MetadataExt;
    metadata.ok().map(|metadata| Owner(metadata.uid()))
}

#[cfg(not(unix))]
fn owner(_: io::Result<std::fs::Metadata>) -> Option<Owner> {
    None
}
