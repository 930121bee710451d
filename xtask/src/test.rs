//! `cargo xtask test`: every check in a fixed order, the cheap ones first.
//! Never checks anything itself; each step calls a tool or another chore.

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::process::{cargo, run as execute};
use crate::say::{self, Outcome, Row, Stopwatch};
use crate::{codegen, conformance, environment, keyring, postgres, public, testware, tidy, tools};

/// Which steps to run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only this step (may be repeated).
    #[arg(long, value_name = "STEP")]
    only: Vec<Step>,
    /// Leave this step out (may be repeated).
    #[arg(long, value_name = "STEP")]
    skip: Vec<Step>,
}

/// Runs the chosen steps and stops at the first that fails.
pub(crate) fn run(args: &Args) -> Result<()> {
    let steps = chosen(&args.only, &args.skip);
    ensure!(
        !steps.is_empty(),
        "no step is left to run: `--skip` takes away all that `--only` names"
    );
    let _turn = environment::take_turn()?;

    let mut rows: Vec<Row> =
        steps.iter().map(|step| Row { name: step.name(), outcome: Outcome::NotReached }).collect();
    let mut failure = None;
    for (step, row) in steps.iter().zip(&mut rows) {
        say::heading(&format!("{}: {}", step.name(), step.purpose()));
        let watch = Stopwatch::start();
        let result = step.run();
        let time = watch.read();
        say::note(format_args!("{} took {}", step.name(), say::elapsed(time)));
        if let Err(error) = result {
            row.outcome = Outcome::Failed(time);
            failure = Some(error.context(step.failure()));
            break;
        }
        row.outcome = Outcome::Passed(time);
    }
    say::table(&rows);
    let tested = |row: &&Row| row.name == Step::Nextest.name();
    if rows.iter().find(tested).is_some_and(|row| row.outcome.is_reached()) {
        untested().iter().for_each(say::note);
    }
    failure.map_or(Ok(()), Err)
}

/// The library, and the crates that it exports again.
const EMBEDDED: [&str; 9] = [
    "switchboard",
    "switchboard-config",
    "switchboard-core",
    "switchboard-mcp",
    "switchboard-model",
    "switchboard-rest",
    "switchboard-store",
    "switchboard-upstream",
    "switchboard-wire",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    Fmt,
    Clippy,
    Deny,
    Tidy,
    Codegen,
    Tools,
    Nextest,
    Conformance,
    Doctests,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Deny => "deny",
            Self::Tidy => "tidy",
            Self::Codegen => "codegen",
            Self::Tools => "tools",
            Self::Nextest => "nextest",
            Self::Conformance => "conformance",
            Self::Doctests => "doctests",
        }
    }

    fn purpose(self) -> &'static str {
        match self {
            Self::Fmt => "the formatting",
            Self::Clippy => "the lints, with warnings as errors, also of the fuzz targets",
            Self::Deny => "licences, banned crates and sources",
            Self::Tidy => "the invariants of the house",
            Self::Codegen => "generated files are up to date",
            Self::Tools => {
                "servers, clients, a browser, a database and a keyring that the tests run"
            }
            Self::Nextest => "the tests",
            Self::Conformance => "the official conformance suite",
            Self::Doctests => "the examples in the documentation, and the library's pages",
        }
    }

    fn failure(self) -> String {
        let remedy = match self {
            Self::Fmt => "`cargo fmt --all` repairs it; ",
            Self::Codegen => "`cargo xtask codegen` repairs it; ",
            Self::Nextest | Self::Conformance => {
                "if tools are missing, `cargo xtask test --only tools` installs them; "
            }
            Self::Clippy | Self::Deny | Self::Tidy | Self::Tools | Self::Doctests => "",
        };
        let name = self.name();
        format!(
            "the step `{name}` failed; {remedy}run it alone with `cargo xtask test --only {name}`"
        )
    }

    // Nextest and the doctests ask for the same packages, profile and features, so that what the
    // first compiled serves the second.
    fn run(self) -> Result<()> {
        match self {
            Self::Fmt => {
                tools::require_component("rustfmt", "fmt")?;
                execute(cargo(&["fmt", "--all", "--check"])?)
            }
            Self::Clippy => clippy(),
            Self::Deny => deny(),
            Self::Tidy => tidy::run(),
            Self::Codegen => codegen::check(),
            Self::Tools => {
                testware::install()?;
                postgres::install()?;
                keyring::install();
                Ok(())
            }
            Self::Nextest => {
                let mut command = tools::NEXTEST.command()?;
                command.args(["run", "--workspace", "--locked"]);
                testware::announce(&mut command)?;
                execute(command)
            }
            Self::Conformance => conformance::run(),
            Self::Doctests => {
                execute(cargo(&["test", "--doc", "--workspace", "--locked"])?)?;
                // What others embed is read by them, and so is what it hands on of the crates below: no link
                // may lead nowhere.
                let mut doc = cargo(&["doc", "--no-deps", "--locked", "--lib"])?;
                doc.args(EMBEDDED.map(|name| ["-p", name]).as_flattened());
                doc.env("RUSTDOCFLAGS", "-D warnings");
                execute(doc)
            }
        }
    }
}

fn clippy() -> Result<()> {
    tools::require_component("clippy", "clippy")?;
    let strict = ["--locked", "--", "-D", "warnings"];
    let mut workspace = cargo(&["clippy", "--workspace", "--all-targets"])?;
    workspace.args(strict);
    execute(workspace)?;
    // The fuzz targets are no part of the workspace, and nothing else compiles them. libFuzzer is left out, as it
    // would need a C++ compiler; much of what they depend on was checked a moment ago.
    let mut fuzz =
        cargo(&["clippy", "--manifest-path", "fuzz/Cargo.toml", "--no-default-features"])?;
    if environment::target()?.is_none() {
        fuzz.arg("--target-dir").arg(environment::root().join("target"));
    }
    fuzz.args(strict);
    execute(fuzz)
}

/// What the tests passed without having tested it. Said last, where whoever reads the summary sees it.
fn untested() -> Vec<String> {
    keyring::untested().into_iter().chain(public::untested()).collect()
}

fn deny() -> Result<()> {
    say::note(
        "advisories are left out, as their database cannot always be had; where it can: `cargo deny check advisories`",
    );
    let mut command =
        tools::DENY.command().context("this step can be left out with `--skip deny`")?;
    command.args(["--locked", "check", "licenses", "bans", "sources"]);
    execute(command)
}

fn chosen(only: &[Step], skip: &[Step]) -> Vec<Step> {
    let wanted = |step: &Step| (only.is_empty() || only.contains(step)) && !skip.contains(step);
    Step::value_variants().iter().copied().filter(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::Step::{Clippy, Codegen, Conformance, Deny, Doctests, Fmt, Nextest, Tidy, Tools};
    use super::*;

    #[test]
    fn steps_run_in_their_order_whatever_the_order_of_the_arguments() {
        let cases: [(&[Step], &[Step], &[Step]); 5] = [
            (&[], &[], &[Fmt, Clippy, Deny, Tidy, Codegen, Tools, Nextest, Conformance, Doctests]),
            (&[Tidy, Fmt], &[], &[Fmt, Tidy]),
            (&[], &[Deny, Tools, Nextest, Conformance], &[Fmt, Clippy, Tidy, Codegen, Doctests]),
            (&[Tidy, Fmt], &[Fmt], &[Tidy]),
            (&[Tidy], &[Tidy], &[]),
        ];
        for (only, skip, expected) in cases {
            assert_eq!(chosen(only, skip), expected);
        }
    }

    /// A crate that the library hands on is read with it.
    #[test]
    fn the_pages_of_all_that_is_exported_again_are_checked() {
        let library = environment::root().join("crates/switchboard/src/lib.rs");
        let text = std::fs::read_to_string(library).expect("the library");
        let exported = text.lines().filter_map(|line| line.strip_prefix("pub use switchboard_"));
        let mut exported: Vec<String> = exported
            .map(|rest| format!("switchboard-{}", rest.split(' ').next().unwrap_or_default()))
            .collect();
        assert!(exported.len() > 5, "{exported:?}");
        exported.push("switchboard".to_owned());
        exported.sort();
        assert_eq!(exported, EMBEDDED);
    }

    #[test]
    fn a_step_is_called_the_same_on_the_command_line_and_in_messages() {
        for step in Step::value_variants() {
            let value = step.to_possible_value().expect("no step is hidden");
            assert_eq!(value.get_name(), step.name());
        }
    }
}
