//! `cargo xtask bench`: the home of the benchmarks, one row each.
//! Never measures anything itself; the benchmark lives beside the code that it measures, and that of
//! the whole program below this file.

mod endpoint;

use anyhow::Result;
use clap::builder::PossibleValuesParser;

use crate::{process, say};

/// Which benchmark to run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only this benchmark; all of them otherwise.
    #[arg(value_parser = PossibleValuesParser::new(BENCHMARKS.iter().map(|benchmark| benchmark.name)))]
    name: Option<String>,
    /// Measure shorter, where a benchmark can: good for a look, not for a comparison.
    #[arg(long)]
    quick: bool,
    /// Of `endpoint`, measure only this part (may be repeated); `soak`, an hour, only when it is named.
    #[arg(long, value_name = "PART", value_parser = PossibleValuesParser::new(endpoint::names()))]
    part: Vec<String>,
}

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    /// For figures that are to be told.
    Full,
    /// For a look.
    Quick,
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "config",
        description: "1,000 servers: parse, merge, check and diff, as a ratio to starting `true` ten times",
        way: Way::Cargo { package: "switchboard-config", target: "thousand" },
    },
    Benchmark {
        name: "upstream",
        description: "calls over stdio and HTTP, as a ratio to a bare loop on the same wire; idle memory; 100 servers",
        way: Way::Cargo { package: "switchboard-upstream", target: "calls" },
    },
    Benchmark {
        name: "endpoint",
        description: "the whole program under load, as a ratio to the least that a hop can cost",
        way: Way::Here(endpoint::run),
    },
];

struct Benchmark {
    name: &'static str,
    description: &'static str,
    way: Way,
}

enum Way {
    /// A benchmark target of a crate.
    Cargo { package: &'static str, target: &'static str },
    /// A benchmark of the whole program.
    Here(fn(Length, &[String]) -> Result<()>),
}

/// Runs one benchmark, or all in the order of the table.
pub(crate) fn run(args: &Args) -> Result<()> {
    let length = if args.quick { Length::Quick } else { Length::Full };
    for Benchmark { name, description, way } in BENCHMARKS {
        if args.name.as_deref().is_some_and(|wanted| wanted != *name) {
            continue;
        }
        say::heading(&format!("{name}: {description}"));
        match way {
            Way::Cargo { package, target } => {
                let bench = ["bench", "--locked", "-p", package, "--bench", target];
                process::run(process::cargo(&bench)?)?;
            }
            Way::Here(run) => run(length, &args.part)?,
        }
    }
    Ok(())
}
