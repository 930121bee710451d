//! `cargo xtask prove`: the heavy repetitions in full, of which the test run does about a tenth.
//! Never repeats anything itself; tests whose names begin with `prove_` read the variable set here.

use anyhow::{Context, Result};

use crate::say::{self, Stopwatch};
use crate::{environment, process, testware, tools};

/// Tests that find this set run their full counts.
const VARIABLE: &str = "SWITCHBOARD_PROVE";

/// Which repetitions to run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only tests whose name contains this; all repetitions otherwise.
    name: Option<String>,
}

/// Runs the repetitions with full counts and shows what they printed.
pub(crate) fn run(args: &Args) -> Result<()> {
    let filter = filter(args.name.as_deref());
    say::heading(&format!("prove: {VARIABLE}=1, {filter}"));
    let _turn = environment::take_turn()?;
    let watch = Stopwatch::start();
    let mut command = tools::NEXTEST.command()?;
    command.args(["run", "--workspace", "--locked", "--profile", "prove", "-E", &filter]);
    command.env(VARIABLE, "1");
    testware::announce(&mut command)?;
    let result = process::run(command);
    let (verdict, time) =
        (if result.is_ok() { "all held" } else { "NOT PROVED" }, say::elapsed(watch.read()));
    say::heading("summary");
    say::note(format_args!(
        "{verdict} after {time}; the counts are in what each test printed above"
    ));
    result.context(
        "a repetition failed, or none has that name; narrow it down with `cargo xtask prove NAME`",
    )
}

fn filter(name: Option<&str>) -> String {
    const REPETITIONS: &str = "test(/(^|::)prove_/)";
    match name {
        None => REPETITIONS.to_owned(),
        Some(name) => format!("{REPETITIONS} & test({name})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_narrows_the_filter() {
        assert_eq!(filter(None), "test(/(^|::)prove_/)");
        assert_eq!(filter(Some("watch")), "test(/(^|::)prove_/) & test(watch)");
    }
}
