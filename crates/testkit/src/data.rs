//! What tests take from outside: how often to repeat, and public data that is not part of the
//! repository.

use std::path::{Path, PathBuf};

/// How often a test that proves something repeats it: a tenth of `full`, or all of it when
/// `SWITCHBOARD_PROVE=1` is set, as `cargo xtask prove` does.
pub fn repetitions(full: u32) -> u32 {
    let count = if variable("SWITCHBOARD_PROVE").is_some() { full } else { full.div_ceil(10) };
    eprintln!("{count} of {full} repetitions");
    count
}

/// What a test's random choices begin with: `SWITCHBOARD_SEED`, so that a run can be repeated, or else `random`.
/// Says which, for whoever reads why the test failed.
pub fn seed(random: u64) -> u64 {
    let given = variable("SWITCHBOARD_SEED");
    let seed =
        given.map_or(random, |text| text.trim().parse().expect("SWITCHBOARD_SEED is a number"));
    eprintln!("repeat it with SWITCHBOARD_SEED={seed}");
    seed
}

/// A file or folder of the public test data, which lies where `SWITCHBOARD_TEST_DATA` says, else
/// beside the repository. `None`, with a note, where there is none; in continuous integration one
/// that is shown whatever becomes of the test. What must always run has a set of our own
/// ([`crate::hostile`]).
pub fn shared(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = variable("SWITCHBOARD_TEST_DATA").map_or(beside, PathBuf::from);
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    let note = format!("no {name} in {} (SWITCHBOARD_TEST_DATA)", folder.display());
    eprintln!("skipped: {note}");
    if variable("CI").is_some() {
        // As continuous integration shows it among the results.
        eprintln!("::warning title=public test data was not tested::{note}");
    }
    None
}

#[expect(clippy::disallowed_methods, reason = "tests are told by the environment")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty() && value != "0")
}
