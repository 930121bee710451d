//! Which files are loaded, and in which order they count.

use std::path::{Path, PathBuf};

use crate::dialect::Dialect;

/// The directories that files are looked for in.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The working directory.
    pub cwd: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's configuration directory for Switchboard.
    pub config: Option<PathBuf>,
    /// The user's configuration directory for all programs.
    pub platform: Option<PathBuf>,
    /// Where a hub of this user keeps its socket and what it learnt.
    pub state: Option<PathBuf>,
    /// Where the embedded database is.
    pub data: Option<PathBuf>,
}

/// What to load.
#[derive(Clone, Debug)]
pub enum Selection {
    /// These files, all of which must be there.
    Named(Vec<PathBuf>),
    /// Whatever is found.
    Search(Places),
}

/// A file that may be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    /// Somebody asked for it, so it must be there.
    pub(crate) named: bool,
    /// The dialect that its name promises.
    pub(crate) dialect: Option<Dialect>,
    /// Only if it has this dialect's shape: the name is a common one.
    pub(crate) by_shape: bool,
    /// Of those that share a group, only the first that is there.
    pub(crate) first_found: bool,
}

/// The names that our own file can have, the first before the others.
pub const NATIVE_NAMES: [&str; 4] =
    ["switchboard.toml", "switchboard.yaml", "switchboard.yml", "switchboard.json"];

impl Selection {
    /// Every file that may be loaded, in the order in which they count.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        let mut candidates = match self {
            Self::Named(paths) => paths.iter().map(|path| named(path)).collect(),
            Self::Search(places) => searched(places),
        };
        dedupe(&mut candidates);
        candidates
    }

    /// The native file that a change is written to: the first that is there, else the one that a
    /// new user would expect.
    pub fn file_to_edit(&self) -> PathBuf {
        match self {
            Self::Named(paths) => paths.first().cloned().unwrap_or_else(|| NATIVE_NAMES[0].into()),
            Self::Search(places) => {
                let directories = std::iter::once(&places.cwd).chain(&places.config);
                let mut files = directories.flat_map(|dir| NATIVE_NAMES.map(|name| dir.join(name)));
                files
                    .find(|file| file.is_file())
                    .unwrap_or_else(|| places.cwd.join(NATIVE_NAMES[0]))
            }
        }
    }
}

fn named(path: &Path) -> Candidate {
    Candidate {
        path: path.to_owned(),
        named: true,
        dialect: None,
        by_shape: false,
        first_found: false,
    }
}

fn searched(places: &Places) -> Vec<Candidate> {
    let directories: Vec<&PathBuf> = std::iter::once(&places.cwd).chain(&places.config).collect();
    let mut found = Vec::new();
    let mut add = |path: PathBuf, dialect| {
        found.push(Candidate {
            path,
            named: false,
            dialect: Some(dialect),
            by_shape: dialect == Dialect::Spacebot,
            first_found: dialect == Dialect::McpServers,
        });
    };
    for directory in &directories {
        NATIVE_NAMES.iter().for_each(|name| add(directory.join(name), Dialect::Native));
    }
    for directory in &directories {
        add(directory.join("external-mcps.json"), Dialect::Annabelle);
        add(directory.join("config.toml"), Dialect::Spacebot);
        add(directory.join("mcp-servers.json"), Dialect::McpServers);
        add(directory.join("aicib.config.yaml"), Dialect::Aicib);
        add(directory.join("aicib.config.yml"), Dialect::Aicib);
    }
    if let Some(home) = &places.home {
        add(home.join(".openassistant").join("mcp-servers.json"), Dialect::McpServers);
    }
    found
}

/// The same file by two ways is one file.
fn dedupe(candidates: &mut Vec<Candidate>) {
    let mut seen: Vec<PathBuf> = Vec::new();
    candidates.retain(|candidate| {
        let real =
            std::fs::canonicalize(&candidate.path).unwrap_or_else(|_| candidate.path.clone());
        let new = !seen.contains(&real);
        seen.push(real);
        new
    });
}
