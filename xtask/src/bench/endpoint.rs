//! The release hub under load, beside a direct connection and beside the least that a hop can cost,
//! in turns on one machine. Everything is on loopback; nothing but ratios of one run is comparable.

mod calls;
mod eras;
mod files;
mod goals;
mod growth;
mod instructions;
mod lists;
mod load;
mod memory;
mod pipe;
mod programs;
mod recording;
mod records;
mod soak;
mod stage;
mod start;

use anyhow::{Result, ensure};

use self::goals::Goals;
use self::programs::Programs;
use super::Length;
use crate::say::{self, Stopwatch};

/// What every part measures with.
struct Bench {
    programs: Programs,
    length: Length,
}

/// A part of the benchmark.
struct Part {
    name: &'static str,
    title: &'static str,
    run: fn(&Bench, &mut Goals) -> Result<()>,
    /// Whether it is part of the whole, or only done when it is asked for.
    usual: bool,
}

impl Part {
    const fn new(
        name: &'static str,
        title: &'static str,
        run: fn(&Bench, &mut Goals) -> Result<()>,
    ) -> Self {
        Self { name, title, run, usual: true }
    }
}

const PARTS: [Part; 10] = [
    Part::new(
        "instructions",
        "instructions per call, user space, one connection",
        instructions::run,
    ),
    Part::new("sessions", "calls, session era", calls::sessions),
    Part::new("stateless", "calls, stateless era", calls::stateless),
    Part::new("slow", "a server that takes 20 ms, 256 connections", calls::slow),
    Part::new("recording", "a hub with a store, and one without", recording::run),
    Part::new("memory", "memory", memory::run),
    Part::new("lists", "tools/list at one connection", lists::run),
    Part::new("start", "from the start to the first answered tools/list, catalog kept", start::run),
    Part::new(
        "growth",
        "growth: 1 server with 10 tools, and 1,000 servers with 50 tools each",
        growth::run,
    ),
    Part { name: "soak", title: "memory over an hour of load", run: soak::run, usual: false },
];

/// The names of the parts.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PARTS.iter().map(|part| part.name)
}

/// Measures everything, or only those parts, and says which goals are met.
pub(super) fn run(length: Length, only: &[String]) -> Result<()> {
    files::take_all();
    let bench = Bench { programs: Programs::build()?, length };
    let clock = Stopwatch::start();
    let mut goals = Goals::default();
    let wanted = |part: &&Part| match only {
        [] => part.usual,
        only => only.iter().any(|name| name == part.name),
    };
    let mut failed = Vec::new();
    for part in PARTS.iter().filter(wanted) {
        say::heading(part.title);
        // What the other parts tell is not lost with it.
        if let Err(error) = (part.run)(&bench, &mut goals) {
            say::note(format_args!("  this could not be measured: {error:#}"));
            failed.push(part.name);
        }
    }
    if only.is_empty() {
        soak::left_out(&mut goals);
    }
    goals.print();
    say::note(format_args!("measured in {}", say::elapsed(clock.read())));
    ensure!(failed.is_empty(), "not measured to the end: {}", failed.join(", "));
    Ok(())
}

impl Bench {
    /// One of two, by how long is measured.
    fn pick<T>(&self, full: T, quick: T) -> T {
        match self.length {
            Length::Full => full,
            Length::Quick => quick,
        }
    }
}
