//! Whether a hub with very many servers and tools is as fast for one call, and as small for one
//! session, as a hub with one server.

use std::fmt::Write as _;

use anyhow::Result;

use super::goals::{Goals, Limit, number};
use super::load::{Amount, Era, Opened, median, middle};
use super::stage::{Home, Hop, Hub};
use super::{Bench, say};

/// Enough that what one costs is not lost in the pages that a process takes and gives back by itself.
const HELD: usize = 4_000;
/// How many are opened at once where only the time counts.
const OPENED: usize = 1_000;

pub(super) fn run(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let programs = &bench.programs;
    let (few, many) = (Hop::server(programs, &[])?, Hop::server(programs, &["--tools", "50"])?);
    let count = bench.pick(1_000, 100);
    let mut servers = String::new();
    for number in 0..count {
        // One program can stand for all of them: to the hub each is a server of its own.
        let _ = writeln!(servers, "[servers.up{number}]\nurl = \"{}?{number}\"", many.url());
    }
    let one = format!("[servers.up0]\nurl = {:?}\n", few.url());
    let small = Home::new(programs, "few", &one)?.start(programs)?;
    small.ready(programs, 10, "up0__echo")?;
    let large = Home::new(programs, "many", &servers)?.start(programs)?;
    large.ready(programs, count * 50, "up0__echo")?;
    let hubs = [small, large];
    let names = ["1 server".to_owned(), format!("{count} servers")];
    // First, on hubs that have seen none.
    let held = [marginal(bench, &hubs[0])?, marginal(bench, &hubs[1])?];
    let opened = in_turns(bench.pick(5, 1), &hubs, |hub| Ok(open(bench, hub, OPENED)?.rate))?;
    let amount = Amount { connections: 64, seconds: 1.0, era: Era::Session };
    let calls = in_turns(bench.pick(15, 2), &hubs, |hub| {
        hub.target("hub", "up0__echo").calls(programs, amount)
    })?;
    for (at, name) in names.iter().enumerate() {
        let figures = middle(&calls[at]);
        say::note(format_args!(
            "  {name:<14}{:>8} calls/s and {:>6} µs of CPU at 64, {:>6} new sessions/s, {:>6} KB a session, {:>6} MB resident at rest",
            number(figures.rate),
            number(figures.cpu),
            number(median(opened[at].clone())),
            number(held[at].each),
            number(held[at].resident / 1024.0),
        ));
    }
    let label = |what: &str| format!("{count} servers: {what}");
    let few = "× 1 server";
    goals.add(label("calls/s at 64"), ratio(&calls, |f| f.rate), Limit::AtLeast(0.9), few);
    goals.add(label("CPU per call at 64"), ratio(&calls, |f| f.cpu), Limit::AtMost(1.1), few);
    let sessions = ratio(&opened, |rate| *rate);
    goals.add(label("new sessions/s"), sessions, Limit::AtLeast(0.9), few);
    let memory = held[1].told() / held[0].told();
    goals.add(label("memory of a session"), memory, Limit::AtMost(1.1), few);
    Ok(())
}

fn marginal(bench: &Bench, hub: &Hub) -> Result<Opened> {
    hub.rest()?;
    hub.target("hub", "up0__echo").open_beyond(&bench.programs, HELD, HELD)
}

fn open(bench: &Bench, hub: &Hub, sessions: usize) -> Result<Opened> {
    hub.target("hub", "up0__echo").open(&bench.programs, sessions)
}

/// What is measured at one and the other, in so many rounds.
fn in_turns<T>(
    rounds: usize,
    hubs: &[Hub; 2],
    measure: impl Fn(&Hub) -> Result<T>,
) -> Result<[Vec<T>; 2]> {
    let mut all = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (measured, hub) in all.iter_mut().zip(hubs) {
            measured.push(measure(hub)?);
        }
    }
    Ok(all)
}

/// How the second stands to the first: the middle of the ratios within each round.
fn ratio<T>([few, many]: &[Vec<T>; 2], pick: fn(&T) -> f64) -> f64 {
    median(many.iter().zip(few).map(|(many, few)| pick(many) / pick(few)).collect())
}
