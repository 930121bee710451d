//! The chores of this repository: reads the command line and hands over to the file of that chore.
//! Never part of the program that users run.

mod bench;
mod codegen;
mod conformance;
mod debian;
mod environment;
mod fuzz;
mod keyring;
mod postgres;
mod process;
mod prove;
mod public;
mod say;
mod test;
mod testware;
mod tidy;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The chores of the Switchboard repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run every check, as continuous integration does.
    Test(test::Args),
    /// Check the invariants of the house over all files.
    Tidy,
    /// Write the generated files, or with `--check` only compare them.
    Codegen(codegen::Args),
    /// Run the benchmarks.
    Bench(bench::Args),
    /// Run the fuzz targets for a while.
    Fuzz(fuzz::Args),
    /// Run the heavy repetitions in full, of which `test` runs about a tenth.
    Prove(prove::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().chore {
        Chore::Test(args) => test::run(&args),
        Chore::Tidy => tidy::run(),
        Chore::Codegen(args) => codegen::run(&args),
        Chore::Bench(args) => bench::run(&args),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::Prove(args) => prove::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::error(&error);
            ExitCode::FAILURE
        }
    }
}
