//! Whether a hub with very many servers and tools is as fast for one call, and as small for one
//! session, as a hub with one server.

use std::fmt::Write as _;

use anyhow::Result;

use super::goals::{Goals, Limit, number};
use super::load::{Amount, Era, Figures, Opened, median, middle};
use super::stage::{Home, Hop, Hub};
use super::{Bench, say};

const SESSIONS: usize = 1_000;

pub(super) fn run(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let programs = &bench.programs;
    let (few, many) = (Hop::server(programs, &[])?, Hop::server(programs, &["--tools", "50"])?);
    let count = bench.pick(1_000, 100);
    let mut servers = String::new();
    for number in 0..count {
        // One program can stand for all of them: to the hub each is a server of its own.
        let _ = writeln!(servers, "[servers.up{number}]\nurl = \"{}?{number}\"", many.url());
        servers.push_str("max_in_flight = 1024\n");
    }
    let one = format!("[servers.up0]\nurl = {:?}\nmax_in_flight = 1024\n", few.url());
    let small = Home::new(programs, "few", &one)?.start(programs)?;
    small.ready(programs, 10, "up0__echo")?;
    let large = Home::new(programs, "many", &servers)?.start(programs)?;
    large.ready(programs, count * 50, "up0__echo")?;
    let hubs = [small, large];
    let names = ["1 server".to_owned(), format!("{count} servers")];
    let calls = calls(bench, &hubs)?;
    let open = |hub: &Hub| hub.target("hub", "up0__echo").open(programs, SESSIONS);
    let opened: [Opened; 2] = [open(&hubs[0])?, open(&hubs[1])?];
    for ((name, calls), opened) in names.iter().zip(&calls).zip(&opened) {
        let figures = middle(calls);
        say::note(format_args!(
            "  {name:<14}{:>8} calls/s and {:>6} µs of CPU at 64, {:>6} new sessions/s, {:>6} KB a session, {:>6} MB at rest",
            number(figures.rate),
            number(figures.cpu),
            number(opened.rate),
            number(opened.each),
            number(opened.before / 1024.0),
        ));
    }
    let ratio = |pick: fn(&Figures) -> f64| {
        median(calls[1].iter().zip(&calls[0]).map(|(many, few)| pick(many) / pick(few)).collect())
    };
    let label = |what: &str| format!("{count} servers: {what}");
    let few = "× 1 server";
    goals.add(label("calls/s at 64"), ratio(|f| f.rate), Limit::AtLeast(0.9), few);
    goals.add(label("CPU per call at 64"), ratio(|f| f.cpu), Limit::AtMost(1.1), few);
    let sessions = opened[1].rate / opened[0].rate;
    goals.add(label("new sessions/s"), sessions, Limit::AtLeast(0.9), few);
    let memory = opened[1].each / opened[0].each;
    goals.add(label("memory of a session"), memory, Limit::AtMost(1.1), few);
    Ok(())
}

fn calls(bench: &Bench, hubs: &[Hub; 2]) -> Result<[Vec<Figures>; 2]> {
    let amount = Amount { connections: 64, seconds: bench.pick(1.5, 0.5), era: Era::Session };
    let mut all: [Vec<Figures>; 2] = Default::default();
    for _ in 0..bench.pick(5, 2) {
        for (figures, hub) in all.iter_mut().zip(hubs) {
            figures.push(hub.target("hub", "up0__echo").calls(&bench.programs, amount)?);
        }
    }
    Ok(all)
}
