//! The programs that take part: the hub as it is released, and the load generator with its floors,
//! built once into the cache. Never starts any of them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::{environment, process, say};

/// Where the load generator's source is, beside the repository.
const SOURCE: &str = "../shared/bench/loadgen";

/// Where the programs are.
pub(super) struct Programs {
    pub(super) hub: PathBuf,
    pub(super) load: PathBuf,
    pub(super) upstream: PathBuf,
    pub(super) http_floor: PathBuf,
    pub(super) mcp_floor: PathBuf,
    /// Hubs inside a program, with a store and without.
    pub(super) recording: PathBuf,
    /// For homes of hubs and what is written while measuring.
    pub(super) scratch: PathBuf,
}

impl Programs {
    /// Builds what is not built yet.
    pub(super) fn build() -> Result<Self> {
        let source = environment::root().join(SOURCE);
        ensure!(
            source.join("Cargo.toml").is_file(),
            "the load generator is not there: this benchmark needs its source in {SOURCE}"
        );
        let home = environment::cache()?.join("loadgen");
        // Cargo writes a lock file beside the manifest, and the source may be read-only.
        copy(&source, &home.join("source"))?;
        say::note("building the load generator and the hub");
        let built = home.join("target");
        let mut command = process::cargo(&["build", "--release", "--quiet"])?;
        command.current_dir(home.join("source")).env("CARGO_TARGET_DIR", &built);
        process::run(command)?;
        // One after the other: an example brings the tests' features with it, a user's build does not.
        for what in [&["--bins"][..], &["--example", "recording"]] {
            let build = ["build", "--release", "--locked", "-p", "switchboard"];
            process::run(process::cargo(&[&build[..], what].concat())?)?;
        }
        let own = environment::target()?.unwrap_or_else(|| environment::root().join("target"));
        let program = |place: &Path, name: &str| place.join("release").join(name);
        Ok(Self {
            hub: program(&own, "switchboard"),
            recording: program(&own, "examples/recording"),
            load: program(&built, "mcp-loadgen"),
            upstream: program(&built, "mcp-upstream"),
            http_floor: program(&built, "http-floor"),
            mcp_floor: program(&built, "mcp-floor"),
            scratch: home.join("scratch"),
        })
    }
}

/// Copies a directory; files that are the same stay untouched, so that nothing is built anew.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let wrong = || format!("cannot copy {} to {}", from.display(), to.display());
    fs::create_dir_all(to).with_context(wrong)?;
    for entry in fs::read_dir(from).with_context(wrong)? {
        let entry = entry.with_context(wrong)?;
        let target = to.join(entry.file_name());
        if entry.file_type().with_context(wrong)?.is_dir() {
            copy(&entry.path(), &target)?;
            continue;
        }
        let bytes = fs::read(entry.path()).with_context(wrong)?;
        if fs::read(&target).ok().as_ref() != Some(&bytes) {
            fs::write(&target, bytes).with_context(wrong)?;
        }
    }
    Ok(())
}
