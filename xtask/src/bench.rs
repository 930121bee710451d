//! `cargo xtask bench`: the home of the benchmarks, one row each.
//! Never measures anything itself; the benchmark lives beside the code that it measures.

use anyhow::Result;
use clap::builder::PossibleValuesParser;

use crate::{process, say};

/// Which benchmark to run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only this benchmark; all of them otherwise.
    #[arg(value_parser = PossibleValuesParser::new(BENCHMARKS.iter().map(|benchmark| benchmark.name)))]
    name: Option<String>,
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "config",
        description: "1,000 servers: parse, merge, check and diff, as a ratio to starting `true` ten times",
        package: "switchboard-config",
        target: "thousand",
    },
    Benchmark {
        name: "upstream",
        description: "calls over stdio and HTTP, as a ratio to a bare loop on the same wire; idle memory; 100 servers",
        package: "switchboard-upstream",
        target: "calls",
    },
];

struct Benchmark {
    name: &'static str,
    description: &'static str,
    package: &'static str,
    target: &'static str,
}

/// Runs one benchmark, or all in the order of the table.
pub(crate) fn run(args: &Args) -> Result<()> {
    for Benchmark { name, description, package, target } in BENCHMARKS {
        if args.name.as_deref().is_some_and(|wanted| wanted != *name) {
            continue;
        }
        say::heading(&format!("{name}: {description}"));
        process::run(process::cargo(&["bench", "--locked", "-p", package, "--bench", target])?)?;
    }
    Ok(())
}
