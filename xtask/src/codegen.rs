//! `cargo xtask codegen`: writes the generated files of the repository, or finds those that drifted.
//! Never knows how a file is made; the crate that owns the content does.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::{cargo, output, program, run as execute};
use crate::{environment, say};

/// Whether to write or only to compare.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail when a file is not what it would be if generated now.
    #[arg(long)]
    check: bool,
}

/// Every generated file of the repository.
const ARTEFACTS: &[Artefact] = &[
    Artefact {
        path: "docs/schema/switchboard.schema.json",
        generate: || Ok(switchboard_config::schema::native()),
    },
    Artefact { path: "docs/openapi.json", generate: openapi },
];

struct Artefact {
    path: &'static str,
    generate: fn() -> Result<String>,
}

/// The description of the REST API, which its own crate prints: this one stays small. Built as one of
/// the workspace, so that its dependencies are those of the tests and not built a second time.
fn openapi() -> Result<String> {
    execute(cargo(&["build", "-q", "--workspace", "--example", "openapi"])?)?;
    let target = environment::target()?.unwrap_or_else(|| environment::root().join("target"));
    output(program(&target.join("debug/examples/openapi"))?)
}

/// Writes what drifted, or with `--check` names it and fails.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.check { check() } else { write(environment::root(), ARTEFACTS) }
}

/// Fails when a generated file is not what it would be if generated now.
pub(crate) fn check() -> Result<()> {
    let drifted = drifted(environment::root(), ARTEFACTS)?;
    if drifted.is_empty() {
        say::note(format_args!("all generated files are up to date ({})", ARTEFACTS.len()));
        return Ok(());
    }
    let names: Vec<_> = drifted.iter().map(|(artefact, _)| artefact.path).collect();
    bail!("out of date: {}; run `cargo xtask codegen` and commit the result", names.join(", "))
}

fn write(root: &Path, artefacts: &[Artefact]) -> Result<()> {
    let drifted = drifted(root, artefacts)?;
    for (Artefact { path, .. }, text) in &drifted {
        let file = root.join(path);
        let directory = file.parent().unwrap_or(root);
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
        fs::write(&file, text).with_context(|| format!("cannot write {path}"))?;
        say::note(format_args!("wrote {path}"));
    }
    say::note(format_args!(
        "changed {} of the generated files ({})",
        drifted.len(),
        artefacts.len()
    ));
    Ok(())
}

/// The artefacts whose file is missing or different, with the text that should be there.
fn drifted<'a>(root: &Path, artefacts: &'a [Artefact]) -> Result<Vec<(&'a Artefact, String)>> {
    let mut drifted = Vec::new();
    for artefact in artefacts {
        let wanted = (artefact.generate)()?;
        let present = match fs::read(root.join(artefact.path)) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", artefact.path));
            }
        };
        if present.as_deref() != Some(wanted.as_bytes()) {
            drifted.push((artefact, wanted));
        }
    }
    Ok(drifted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[Artefact] = &[
        Artefact { path: "a.json", generate: || Ok("{}\n".to_owned()) },
        Artefact { path: "deep/er/b.json", generate: || Ok("[]\n".to_owned()) },
    ];

    fn names(root: &Path) -> Vec<&'static str> {
        drifted(root, TWO).expect("readable").iter().map(|(artefact, _)| artefact.path).collect()
    }

    #[test]
    fn missing_and_changed_files_drift_and_writing_heals_them() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let root = scratch.path();
        assert_eq!(names(root), ["a.json", "deep/er/b.json"]);

        write(root, TWO).expect("writable");
        assert_eq!(names(root), [""; 0]);

        fs::write(root.join("a.json"), "{ }\n").expect("writable");
        assert_eq!(names(root), ["a.json"]);
    }
}
