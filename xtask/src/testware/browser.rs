//! The browser that the tests drive: the system's chromium, which a package manager installs.
//! Never downloads one by itself.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{environment, process, say};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Where it is; Debian's is installed first where it is missing and may be installed.
pub(crate) fn find_or_install() -> Result<PathBuf> {
    if let Some(found) = find(&NAMES) {
        return Ok(found);
    }
    if find(&["apt-get"]).is_none() || !is_root() {
        bail!(
            "there is no chromium, which the tests of browser servers need; install it \
             (Debian: `sudo apt-get install chromium`)"
        );
    }
    say::note("chromium: installing Debian's package");
    let install = || apt(&["install", "--yes", "--no-install-recommends", "chromium"]);
    // A fresh machine has no lists of packages yet, or old ones.
    install().or_else(|_| apt(&["update"]).and_then(|()| install())).context(
        "chromium could not be installed; try `apt-get update && apt-get install chromium` by hand",
    )?;
    find(&NAMES).context("Debian's package chromium brought no program of that name")
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let directories = environment::search_path();
    let places =
        names.iter().flat_map(|name| directories.iter().map(move |place| place.join(name)));
    let mut places = places;
    places.find(|path| path.is_file())
}

fn is_root() -> bool {
    let mut command = Command::new("id");
    command.arg("-u");
    process::output(command).is_ok_and(|id| id.trim() == "0")
}

fn apt(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    process::output(command).map(drop)
}
