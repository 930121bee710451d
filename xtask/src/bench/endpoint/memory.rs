//! Memory: at rest, and with sessions open. Each number of sessions meets a hub that has seen none, as
//! what was freed before would be used again and not be seen.

use anyhow::Result;

use super::goals::{Goals, Limit, number};
use super::stage::{Home, Hop};
use super::{Bench, say};

pub(super) fn run(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let programs = &bench.programs;
    let server = Hop::server(programs, &[])?;
    let servers = format!("[servers.up]\nurl = {:?}\n", server.url());
    let home = Home::new(programs, "memory", &servers)?;
    let counts: &[usize] = bench.pick(&[1_000, 9_000], &[1_000]);
    for sessions in counts {
        let hub = home.start(programs)?;
        hub.ready(programs, 10, "up__echo")?;
        let hub = hub.target("hub", "up__echo").open(programs, *sessions)?;
        let floor = Hop::floor(&programs.mcp_floor, &server)?;
        let floor = floor.target("mcp-floor", "up__echo").open(programs, *sessions)?;
        for (name, opened) in [("mcp-floor", floor), ("hub", hub)] {
            say::note(format_args!(
                "  {sessions:>6} sessions  {name:<10}{:>7} MB at rest, with all its processes; {:>6} KB a session; {:>6} new sessions/s",
                number(opened.before / 1024.0),
                number(opened.each),
                number(opened.rate),
            ));
        }
        if *sessions == counts[0] {
            goals.add("memory at rest", hub.before / 1024.0, Limit::AtMost(30.0), "MB");
        }
        let what = format!("memory of a session, {sessions} open");
        goals.add(what, hub.each, Limit::AtMost(20.0), "KB");
    }
    Ok(())
}
