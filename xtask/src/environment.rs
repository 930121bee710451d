//! Where the chores work: the repository, the cache, the target directory, the lock on it.
//! The only file of xtask that reads environment variables. Never starts a process.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result};

use crate::say;

/// The root of the repository: where cargo was started, which need not be where this was compiled,
/// as clones share a target directory.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let compiled = || OsString::from(env!("CARGO_MANIFEST_DIR"));
        let xtask = PathBuf::from(variable("CARGO_MANIFEST_DIR").unwrap_or_else(compiled));
        xtask.parent().map(Path::to_owned).unwrap_or(xtask)
    });
    &ROOT
}

/// The directory that survives clean clones; it may be deleted at any time.
pub(crate) fn cache() -> Result<PathBuf> {
    cache_in(variable("XDG_CACHE_HOME"), variable("HOME").or_else(|| variable("USERPROFILE")))
        .context("no place for a cache: set XDG_CACHE_HOME or HOME")
}

/// The target directory to hand to cargo, when it is not cargo's own choice.
///
/// On continuous integration it is outside the clone, so that dependencies are built once.
pub(crate) fn target() -> Result<Option<PathBuf>> {
    if let Some(chosen) = variable("CARGO_TARGET_DIR") {
        return Ok(Some(root().join(chosen)));
    }
    if on_ci() { Ok(Some(cache()?.join("target"))) } else { Ok(None) }
}

/// Where the public test data is looked for.
pub(crate) fn test_data() -> PathBuf {
    let beside = || root().join("../shared/data");
    variable("SWITCHBOARD_TEST_DATA").map_or_else(beside, PathBuf::from)
}

/// The directories in which programs are searched.
pub(crate) fn search_path() -> Vec<PathBuf> {
    variable("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// Waits until no other clone uses the shared target directory; the turn ends when the value drops.
///
/// Programs in a target directory carry no hash in their names: a second clone that builds there
/// would replace the program under the first one's tests.
pub(crate) fn take_turn() -> Result<Option<File>> {
    let Some(target) = target()?.filter(|_| on_ci()) else { return Ok(None) };
    let place = target.join(".switchboard-turn");
    let open = || -> std::io::Result<File> {
        fs::create_dir_all(&target)?;
        let file = File::create(&place)?;
        if file.try_lock().is_err() {
            say::note(format_args!("waiting for another run that uses {}", target.display()));
            file.lock()?;
        }
        Ok(file)
    };
    Ok(Some(open().with_context(|| format!("cannot lock {}", place.display()))?))
}

/// The URL of a database for the tests of the store, where somebody gives one.
pub(crate) const TEST_POSTGRES: &str = "SWITCHBOARD_TEST_POSTGRES";

/// Whether somebody gives one.
pub(crate) fn has_test_postgres() -> bool {
    variable(TEST_POSTGRES).is_some()
}

fn on_ci() -> bool {
    variable("CI").is_some_and(|value| value != "false" && value != "0")
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore is configured by the environment it is started from"
)]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// What cargo says about the package that it runs, this one: names that nothing we start should see.
#[expect(clippy::disallowed_methods, reason = "these are only named, to be taken away")]
pub(crate) fn own_package() -> impl Iterator<Item = OsString> {
    let own = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    };
    std::env::vars_os().map(|(name, _)| name).filter(own)
}

fn cache_in(xdg: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // A relative XDG_CACHE_HOME is invalid by the XDG specification and must be ignored.
    let xdg = xdg.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = xdg.or_else(|| home.map(|home| Path::new(&home).join(".cache")))?;
    Some(base.join("switchboard-xtask"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_follows_xdg_then_home() {
        let cases = [
            (Some("/x"), Some("/home/a"), Some("/x/switchboard-xtask")),
            (None, Some("/home/a"), Some("/home/a/.cache/switchboard-xtask")),
            (Some("relative"), Some("/home/a"), Some("/home/a/.cache/switchboard-xtask")),
            (None, None, None),
        ];
        for (xdg, home, expected) in cases {
            assert_eq!(
                cache_in(xdg.map(Into::into), home.map(Into::into)),
                expected.map(PathBuf::from)
            );
        }
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("Cargo.toml").is_file());
        assert!(root().join("xtask").is_dir());
    }
}
