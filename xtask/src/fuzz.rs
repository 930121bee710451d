//! `cargo xtask fuzz`: runs the libFuzzer targets of `fuzz/` for a while.
//! Never writes into the kept corpora; new inputs go to a scratch corpus that git ignores.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{environment, process, say, tools};

/// What to fuzz and for how long.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only this target; each one that `cargo fuzz list` names otherwise.
    target: Option<String>,
    /// How long to run each target.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
}

/// Runs the targets one after another and stops at the first finding.
pub(crate) fn run(args: &Args) -> Result<()> {
    let home = environment::root().join("fuzz");
    ensure!(
        home.join("Cargo.toml").is_file(),
        "there are no fuzz targets: fuzz/Cargo.toml does not exist"
    );
    let targets = targets(args.target.as_deref())?;
    let means = Means::of_this_toolchain()?;
    for target in &targets {
        say::heading(&format!("fuzz: {target} for {} s", args.seconds));
        one(&home, target, args.seconds, &means)?;
    }
    say::note(format_args!("found nothing in {} s each of {}", args.seconds, targets.join(", ")));
    Ok(())
}

fn targets(wanted: Option<&str>) -> Result<Vec<String>> {
    let mut command = fuzz(&Means::default())?;
    command.args(["list", "--fuzz-dir", "fuzz"]);
    let known: Vec<String> = process::output(command)?.lines().map(str::to_owned).collect();
    ensure!(!known.is_empty(), "there are no fuzz targets in fuzz/Cargo.toml");
    let Some(wanted) = wanted else { return Ok(known) };
    ensure!(
        known.iter().any(|name| name == wanted),
        "no fuzz target `{wanted}`; there are: {}",
        known.join(", ")
    );
    Ok(vec![wanted.to_owned()])
}

fn one(home: &Path, target: &str, seconds: u64, means: &Means) -> Result<()> {
    let mut command = fuzz(means)?;
    command.args(["run", "--fuzz-dir", "fuzz", "--sanitizer", means.sanitizer, target]);
    command.args(corpora(home, target)?);
    // An input that takes ten seconds is a hang; libFuzzer alone would wait for twenty minutes.
    command.args(["--", &format!("-max_total_time={seconds}"), "-timeout=10"]);
    process::run(command).with_context(|| {
        format!(
            "fuzzing `{target}` failed; if it found an input, keep it: copy it from fuzz/artifacts/{target}/ \
             to fuzz/corpus/{target}/, where the tests replay it. If it did not build, a C++ compiler may be missing"
        )
    })
}

/// The corpora to read; libFuzzer writes what it finds into the first of them.
fn corpora(home: &Path, target: &str) -> Result<Vec<PathBuf>> {
    let scratch = home.join("target/corpus").join(target);
    fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
    let kept = home.join("corpus").join(target);
    Ok([Some(scratch), kept.is_dir().then_some(kept)].into_iter().flatten().collect())
}

fn fuzz(means: &Means) -> Result<Command> {
    let mut command = tools::FUZZ.command()?;
    // Sanitized builds share nothing with the others, and `fuzz/target` is theirs by custom.
    command.env("CARGO_TARGET_DIR", environment::root().join("fuzz/target"));
    if means.bootstrap {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    Ok(command)
}

/// What the compiler at hand can do.
#[derive(Debug, PartialEq, Eq)]
struct Means {
    /// A stable compiler must be told to accept the unstable flags of the instrumentation.
    bootstrap: bool,
    sanitizer: &'static str,
}

impl Default for Means {
    fn default() -> Self {
        Self { bootstrap: false, sanitizer: "none" }
    }
}

impl Means {
    fn of_this_toolchain() -> Result<Self> {
        let ask = |argument: &[&str]| -> Result<String> {
            let mut command = process::program(Path::new("rustc"))?;
            command.args(argument);
            process::output(command)
        };
        let libraries = ask(&["--print", "target-libdir"])?;
        let names = fs::read_dir(libraries.trim())
            .with_context(|| format!("cannot list {}", libraries.trim()))?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(Self::derive(&ask(&["--version"])?, names))
    }

    fn derive(version: &str, libraries: impl IntoIterator<Item = String>) -> Self {
        let unstable = version.contains("-nightly") || version.contains("-dev");
        let address = libraries.into_iter().any(|name| name.contains("_rt.asan"));
        Self { bootstrap: !unstable, sanitizer: if address { "address" } else { "none" } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_decides_how_to_fuzz() {
        let cases = [
            ("rustc 1.95.0 (59807616e 2026-04-14)", "librustc-stable_rt.asan.a", true, "address"),
            (
                "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)",
                "librustc-nightly_rt.asan.a",
                false,
                "address",
            ),
            ("rustc 1.97.0-dev", "libstd.rlib", false, "none"),
            ("rustc 1.96.0-beta.3 (abc 2026-05-19)", "libstd.rlib", true, "none"),
        ];
        for (version, library, bootstrap, sanitizer) in cases {
            assert_eq!(
                Means::derive(version, [library.to_owned()]),
                Means { bootstrap, sanitizer },
                "{version}"
            );
        }
    }

    #[test]
    fn the_scratch_corpus_comes_first_and_the_kept_one_only_when_there() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let home = scratch.path();
        let (first, kept) = (home.join("target/corpus/toml"), home.join("corpus/toml"));
        assert_eq!(corpora(home, "toml").expect("writable"), *std::slice::from_ref(&first));

        fs::create_dir_all(&kept).expect("writable");
        assert_eq!(corpora(home, "toml").expect("writable"), [first, kept]);
    }
}
