//! Which directories must be watched for a set of files: those that hold them, those that hold the
//! links on the way to them, and the nearest that exist where some are still missing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// More links than any real path has; a loop ends here.
const MAX_LINKS: usize = 40;

/// What is watched now.
#[derive(Default)]
pub(super) struct Watched {
    files: Vec<PathBuf>,
    directories: BTreeSet<PathBuf>,
    interesting: Interesting,
}

/// The paths whose events matter: the files, the links to them, every directory on the way, and
/// whatever is in the one in which manifests come and go.
#[derive(Clone, Default)]
pub(super) struct Interesting(Arc<Mutex<(BTreeSet<PathBuf>, Option<PathBuf>)>>);

impl Interesting {
    /// Whether one of these matters. An event without a path might.
    pub(super) fn any(&self, paths: &[PathBuf]) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (files, directory) = &*known;
        let within = |path: &PathBuf| directory.is_some() && path.parent() == directory.as_deref();
        paths.is_empty() || paths.iter().any(|path| files.contains(path) || within(path))
    }
}

/// What one sees of the files by looking: enough to know that something is different.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Signature(Vec<Option<(PathBuf, u64, Option<SystemTime>)>>);

impl Watched {
    pub(super) fn interesting(&self) -> Interesting {
        self.interesting.clone()
    }

    /// Works out anew what to watch; returns the directories that are no longer and newly watched.
    pub(super) fn aim(
        &mut self,
        files: &[PathBuf],
        directory: Option<PathBuf>,
    ) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let mut hops = BTreeSet::new();
        let absolute = |file: &PathBuf| std::path::absolute(file).unwrap_or_else(|_| file.clone());
        self.files = files.iter().map(absolute).collect();
        self.files.iter().for_each(|file| follow(file, &mut hops));
        let above = hops.iter().filter_map(|hop| existing_above(hop));
        let directories: BTreeSet<PathBuf> =
            above.chain(directory.clone().filter(|directory| directory.is_dir())).collect();
        let gone = self.directories.difference(&directories).cloned().collect();
        let new = directories.difference(&self.directories).cloned().collect();
        let with_parents =
            hops.iter().flat_map(|hop| hop.ancestors()).map(Path::to_owned).collect();
        *self.interesting.0.lock().unwrap_or_else(PoisonError::into_inner) =
            (with_parents, directory);
        self.directories = directories;
        (gone, new)
    }

    /// A directory that could not be watched is tried again the next time.
    pub(super) fn forget(&mut self, directory: &Path) {
        self.directories.remove(directory);
    }

    /// Looks at the files.
    pub(super) fn signature(&self) -> Signature {
        let look = |file: &PathBuf| {
            let metadata = std::fs::metadata(file).ok()?;
            let real = std::fs::canonicalize(file).ok()?;
            Some((real, metadata.len(), metadata.modified().ok()))
        };
        Signature(self.files.iter().map(look).collect())
    }
}

/// Every path on the way to the file: itself, each link, and what each link points at.
fn follow(file: &Path, hops: &mut BTreeSet<PathBuf>) {
    let mut left = vec![file.to_owned()];
    let mut links = 0;
    while let Some(path) = left.pop() {
        if !hops.insert(path.clone()) || links > MAX_LINKS {
            continue;
        }
        for part in path.ancestors() {
            let Ok(target) = std::fs::read_link(part) else { continue };
            links += 1;
            hops.insert(part.to_owned());
            let base = part.parent().unwrap_or(Path::new("/"));
            let rest = path.strip_prefix(part).unwrap_or(Path::new(""));
            let pointed = base.join(target);
            left.push(if rest.as_os_str().is_empty() { pointed } else { pointed.join(rest) });
        }
    }
}

/// The nearest directory above a path that exists.
fn existing_above(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|above| above.is_dir()).map(Path::to_owned)
}
