//! Memory over an hour of load: calls in both eras, lists and sessions that come and go, without a
//! pause. What is resident is read after each round; it has to stay where it was once all was warm.

use anyhow::Result;

use super::goals::{Goals, Limit, number};
use super::load::{Amount, Era, median};
use super::stage::{Home, Hop};
use super::{Bench, say};

const WHAT: &str = "memory over an hour of load: last sixth";
/// How many sessions come and go in each round.
const SESSIONS: usize = 500;

/// Says that it was not looked at: a run of which all else is met would pass for whole.
pub(super) fn left_out(goals: &mut Goals) {
    goals.miss(WHAT, Limit::AtMost(1.05), "× second");
}

pub(super) fn run(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let programs = &bench.programs;
    let server = Hop::server(programs, &[])?;
    let servers = format!("[servers.up]\nurl = {:?}\n", server.url());
    let home = Home::new(programs, "soak", &servers)?;
    let hub = home.start(programs)?;
    hub.ready(programs, 10, "up__echo")?;
    let target = hub.target("hub", "up__echo");
    let (rounds, seconds) = bench.pick((60, 28.0), (6, 4.0));
    let mut resident = Vec::with_capacity(rounds);
    let mut calls = 0.0;
    for round in 1..=rounds {
        for era in [Era::Session, Era::Stateless] {
            let amount = Amount { connections: 64, seconds, era };
            calls += target.calls(programs, amount)?.rate * seconds;
        }
        let few = Amount { connections: 4, seconds: 1.0, era: Era::Session };
        target.list(programs, few, 10)?;
        resident.push(target.open(programs, SESSIONS)?.before / 1024.0);
        if round % (rounds / 6) == 0 {
            let now = number(resident[round - 1]);
            say::note(format_args!("  round {round:>3}  {now:>7} MB, {calls:.0} calls so far"));
        }
    }
    // The first sixth is for caches to fill, and for the allocator to find its size. The middle of each: what waits to be
    // written down differs from moment to moment, a leak only grows.
    let sixth = rounds / 6;
    let (early, late) = (&resident[sixth..2 * sixth], &resident[rounds - sixth..]);
    let ratio = median(late.to_vec()) / median(early.to_vec());
    goals.add(WHAT, ratio, Limit::AtMost(1.05), "× second");
    Ok(())
}
