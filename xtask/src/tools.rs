//! Finds the cargo tools that the chores need, or installs them once into the cache.
//! Never touches what the user has installed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{environment, process, say};

/// Checks licences, banned crates and sources.
pub(crate) const DENY: Tool = Tool { verb: "deny", version: Version([0, 20, 2]) };
/// Runs the tests, each in a process of its own.
pub(crate) const NEXTEST: Tool = Tool { verb: "nextest", version: Version([0, 9, 143]) };
/// Builds and runs libFuzzer targets.
pub(crate) const FUZZ: Tool = Tool { verb: "fuzz", version: Version([0, 13, 2]) };

/// A cargo subcommand with the version that is installed when none is found that is as new.
pub(crate) struct Tool {
    verb: &'static str,
    version: Version,
}

impl Tool {
    /// A command that runs this tool in the repository root; installs it first where needed.
    pub(crate) fn command(&self) -> Result<Command> {
        self.command_at(&self.find_or_install()?)
    }

    fn command_at(&self, path: &Path) -> Result<Command> {
        let mut command = process::program(path)?;
        // Cargo passes the verb as the first argument, and the tools expect it.
        command.arg(self.verb);
        Ok(command)
    }

    fn find_or_install(&self) -> Result<PathBuf> {
        let file = format!("{}{}", self.name(), std::env::consts::EXE_SUFFIX);
        let home =
            environment::cache()?.join("tools").join(format!("{}-{}", self.name(), self.version));
        let cached = home.join("bin").join(&file);
        let on_path = environment::search_path().into_iter().map(|directory| directory.join(&file));
        let candidates = on_path.chain([cached.clone()]).filter(|path| path.is_file());
        match newest_enough(candidates, self.version, |path| self.version_of(path)) {
            Some(found) => Ok(found),
            None => self.install(&home).map(|()| cached),
        }
    }

    fn install(&self, home: &Path) -> Result<()> {
        let (name, version) = (self.name(), self.version);
        say::note(format_args!(
            "{name} {version} or newer was not found; installing it once, into the cache"
        ));
        let mut command = process::cargo(&[
            "install",
            "--locked",
            &name,
            "--version",
            &version.to_string(),
            "--root",
        ])?;
        // The tool is built in a directory of its own, which cargo removes afterwards.
        command.arg(home).env_remove("CARGO_TARGET_DIR");
        process::run(command).with_context(|| {
            format!("{name} could not be installed; try `cargo install --locked {name} --version {version}` by hand")
        })
    }

    fn version_of(&self, path: &Path) -> Option<Version> {
        let mut command = self.command_at(path).ok()?;
        command.arg("--version");
        Version::find(&process::output(command).ok()?)
    }

    fn name(&self) -> String {
        format!("cargo-{}", self.verb)
    }
}

/// Fails with the remedy when a rustup component behind a cargo command is missing.
pub(crate) fn require_component(component: &str, verb: &str) -> Result<()> {
    process::output(process::cargo(&[verb, "--version"])?).map(drop).with_context(|| {
        format!("`cargo {verb}` is missing; add it with `rustup component add {component}`")
    })
}

/// The three numbers of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version([u64; 3]);

impl Version {
    /// The first word of the text that is a version, such as in `cargo-deny 0.20.2`.
    fn find(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(Self::parse)
    }

    fn parse(word: &str) -> Option<Self> {
        let release = word.split(['-', '+']).next()?;
        let mut numbers = release.split('.').map(str::parse);
        let mut next = || numbers.next()?.ok();
        let version = Self([next()?, next()?, next()?]);
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

fn newest_enough(
    candidates: impl Iterator<Item = PathBuf>,
    minimum: Version,
    version_of: impl Fn(&Path) -> Option<Version>,
) -> Option<PathBuf> {
    let mut candidates = candidates;
    candidates.find(|path| version_of(path).is_some_and(|version| version >= minimum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_tools_print() {
        let cases = [
            ("cargo-deny 0.20.2", Some([0, 20, 2])),
            ("cargo-nextest 0.9.143 (60fa45f63 2026-08-04)\nrelease: 0.9.143", Some([0, 9, 143])),
            ("tool 1.2.3-beta.1", Some([1, 2, 3])),
            ("tool 1.2.3+build", Some([1, 2, 3])),
            ("tool 1.2", None),
            ("tool 1.2.3.4", None),
            ("2026-08-04", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Version::find(text), expected.map(Version), "{text:?}");
        }
    }

    #[test]
    fn the_first_candidate_that_is_new_enough_is_taken() {
        let cases: [(&[&str], Option<&str>); 5] = [
            (&["old", "same", "new"], Some("same")),
            (&["new", "same"], Some("new")),
            (&["broken", "new"], Some("new")),
            (&["old", "broken"], None),
            (&[], None),
        ];
        let version_of = |path: &Path| match path.to_str() {
            Some("old") => Some(Version([0, 9, 99])),
            Some("same") => Some(Version([0, 9, 143])),
            Some("new") => Some(Version([0, 10, 0])),
            _ => None,
        };
        for (candidates, expected) in cases {
            let candidates = candidates.iter().map(PathBuf::from);
            let found = newest_enough(candidates, Version([0, 9, 143]), version_of);
            assert_eq!(found, expected.map(PathBuf::from));
        }
    }
}
