//! The release hub under load, beside a direct connection and beside the least that a hop can cost,
//! in turns on one machine. Everything is on loopback; nothing but ratios of one run is comparable.

mod calls;
mod goals;
mod growth;
mod instructions;
mod lists;
mod load;
mod memory;
mod programs;
mod recording;
mod stage;
mod start;

use anyhow::Result;

use self::goals::Goals;
use self::programs::Programs;
use super::Length;
use crate::say::{self, Stopwatch};

/// What every part measures with.
struct Bench {
    programs: Programs,
    length: Length,
}

/// A part of the benchmark: what it is about, and what does it.
type Part = (&'static str, fn(&Bench, &mut Goals) -> Result<()>);

const PARTS: [Part; 9] = [
    ("instructions per call, user space, one connection", instructions::run),
    ("calls, session era", calls::sessions),
    ("calls, stateless era", calls::stateless),
    ("a server that takes 20 ms, 256 connections", calls::slow),
    ("a hub with a store, and one without", recording::run),
    ("memory", memory::run),
    ("tools/list at one connection", lists::run),
    ("from the start to the first answered tools/list, catalog kept", start::run),
    ("growth: 1 server with 10 tools, and 1,000 servers with 50 tools each", growth::run),
];

/// Measures everything and says which goals are met.
pub(super) fn run(length: Length) -> Result<()> {
    let bench = Bench { programs: Programs::build()?, length };
    let clock = Stopwatch::start();
    let mut goals = Goals::default();
    for (title, part) in PARTS {
        say::heading(title);
        part(&bench, &mut goals)?;
    }
    goals.print();
    say::note(format_args!("measured in {}", say::elapsed(clock.read())));
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
