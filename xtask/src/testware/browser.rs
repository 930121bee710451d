//! The browser that the tests drive: the system's chromium, which a package manager installs.
//! Never downloads one by itself.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::{debian, environment};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Where it is; Debian's is installed first where it is missing and may be installed.
pub(crate) fn find_or_install() -> Result<PathBuf> {
    if let Some(found) = find(&NAMES) {
        return Ok(found);
    }
    if !debian::may_install() {
        bail!(
            "there is no chromium, which the tests of browser servers need; install it \
             (Debian: `sudo apt-get install chromium`)"
        );
    }
    debian::install(&["chromium"])?;
    find(&NAMES).context("Debian's package chromium brought no program of that name")
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let directories = environment::search_path();
    let places =
        names.iter().flat_map(|name| directories.iter().map(move |place| place.join(name)));
    let mut places = places;
    places.find(|path| path.is_file())
}
