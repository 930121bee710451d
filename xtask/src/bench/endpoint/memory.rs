//! Memory: at rest, and with sessions open. Each number of sessions meets a hub that has seen none, as
//! what was freed before would be used again and not be seen.

use anyhow::{Context, Result};

use super::goals::{Goals, Limit, number};
use super::stage::{Home, Hop};
use super::{Bench, say};

pub(super) fn run(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let programs = &bench.programs;
    let server = Hop::server(programs, &[])?;
    let servers = format!("[servers.up]\nurl = {:?}\n", server.url());
    let home = Home::new(programs, "memory", &servers)?;
    let counts: &[usize] = bench.pick(&[1_000, 10_000], &[1_000]);
    for sessions in counts {
        let hub = home.start(programs)?;
        hub.ready(programs, 10, "up__echo")?;
        let opened = hub.target("hub", "up__echo").open(programs, *sessions);
        let hub = opened.context("as many files as sessions have to be open at once: see `ulimit -n`, of which the hub takes half for connections")?;
        let floor = Hop::floor(&programs.mcp_floor, &server)?;
        let floor = floor.target("mcp-floor", "up__echo").open(programs, *sessions)?;
        for (name, opened) in [("mcp-floor", floor), ("hub", hub)] {
            say::note(format_args!(
                "  {sessions:>6} sessions  {name:<10}{:>7} MB resident at rest, {:>7} MB (PSS) with all its processes; {:>6} KB a session; {:>6} new sessions/s",
                number(opened.resident / 1024.0),
                number(opened.before / 1024.0),
                number(opened.each),
                number(opened.rate),
            ));
        }
        if *sessions == counts[0] {
            let (own, all) = (hub.resident / 1024.0, hub.before / 1024.0);
            goals.add("memory at rest, resident", own, Limit::AtMost(30.0), "MB");
            goals.add("memory at rest, all processes (PSS)", all, Limit::AtMost(30.0), "MB");
        }
        let what = format!("memory of a session, {sessions} open");
        goals.add(what, hub.told(), Limit::AtMost(20.0), "KB");
    }
    Ok(())
}
