//! Memory: at rest, and with sessions open. Each number of sessions meets a hub that has seen none, as
//! what was freed before would be used again and not be seen.

use anyhow::{Context, Result};

use super::goals::{Goals, Limit, number};
use super::stage::{Home, Hop};
use super::{Bench, say};

/// Open before those that are measured.
const OTHERS: usize = 1_000;

pub(super) fn run(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let programs = &bench.programs;
    let server = Hop::server(programs, &[])?;
    let servers = format!("[servers.up]\nurl = {:?}\n", server.url());
    let home = Home::new(programs, "memory", &servers)?;
    // From 1,000 to 2,000 and to 10,000: as many as a hub takes that may have 20,000 files open.
    let counts: &[usize] = bench.pick(&[1_000, 9_000], &[1_000]);
    for &sessions in counts {
        let hub = home.start(programs)?;
        hub.ready(programs, 10, "up__echo")?;
        hub.rest()?;
        let opened = hub.target("hub", "up__echo").open_beyond(programs, OTHERS, sessions);
        let hub = opened.context("as many files as sessions have to be open at once: see `ulimit -Hn`, of which the hub takes half for connections")?;
        let floor = Hop::floor(&programs.mcp_floor, &server)?;
        let floor =
            floor.target("mcp-floor", "up__echo").open_beyond(programs, OTHERS, sessions)?;
        let open = OTHERS + sessions;
        for (name, opened) in [("mcp-floor", floor), ("hub", hub)] {
            say::note(format_args!(
                "  {name:<10}{:>7} MB resident at rest, {:>7} MB (PSS) with all its processes; {:>7} MB with {OTHERS} sessions, {:>7} MB with {open}: {:>6} KB for each more; {:>6} new sessions/s",
                number(opened.resident / 1024.0),
                number(opened.before / 1024.0),
                number(opened.from / 1024.0),
                number(opened.to / 1024.0),
                number(opened.each),
                number(opened.rate),
            ));
        }
        if sessions == counts[0] {
            let (own, all) = (hub.resident / 1024.0, hub.before / 1024.0);
            goals.add("memory at rest, resident", own, Limit::AtMost(30.0), "MB");
            goals.add("memory at rest, all processes (PSS)", all, Limit::AtMost(30.0), "MB");
        }
        let mut judge = |which: &str, each: f64| {
            let what = format!("memory of a session, {which}");
            goals.add(what, each, Limit::AtMost(20.0), "KB");
        };
        if sessions == counts[0] {
            judge(&format!("of the first {OTHERS}"), hub.told_of_others(OTHERS));
        }
        judge(&format!("from {OTHERS} to {open} open"), hub.told());
        if sessions == counts[counts.len() - 1] {
            judge(&format!("of all {open} together"), hub.told_of_all(open));
        }
    }
    Ok(())
}
