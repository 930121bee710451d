//! The files of the repository, as git sees them: tracked, or new and not ignored.
//! Never judges them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;

/// Paths relative to the root, with `/` between their parts, each with its text where a rule reads it.
pub(super) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads the repository at `root`.
    pub(super) fn load(root: &Path) -> Result<Self> {
        let mut command = Command::new("git");
        command.current_dir(root).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let listed = process::output(command)
            .context("tidy asks git which files belong to the repository")?;
        let mut files = BTreeMap::new();
        for path in listed.split_terminator('\0') {
            let place = root.join(path);
            // Git also lists what was deleted but not yet staged.
            if !place.is_file() {
                continue;
            }
            let text = if is_read(path) {
                Some(fs::read_to_string(&place).with_context(|| format!("cannot read {path}"))?)
            } else {
                None
            };
            files.insert(path.to_owned(), text);
        }
        Ok(Self { files })
    }

    /// A tree of these paths and texts.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())));
        Self { files: files.collect() }
    }

    /// How many files there are.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Every path, in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Every file that was read, in order of its path.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The text of one file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether the path is a file, or a directory with a file somewhere in it.
    pub(super) fn holds(&self, path: &str) -> bool {
        let directory = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self
                .files
                .range(directory.clone()..)
                .next()
                .is_some_and(|(next, _)| next.starts_with(&directory))
    }
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What follows the last dot of the file's name.
pub(super) fn extension(path: &str) -> Option<&str> {
    file_name(path).rsplit_once('.').map(|(_, extension)| extension)
}

fn is_read(path: &str) -> bool {
    matches!(extension(path), Some("rs" | "md" | "ts" | "tsx" | "sh"))
        || matches!(file_name(path), "Cargo.toml" | "tidy-exceptions.txt")
        || path.starts_with(".ci/")
}
