//! `tools/list` with many tools, beside a bare handler that sends as many bytes.

use anyhow::Result;

use super::goals::{Goals, Limit, number};
use super::load::{Amount, Era, Figures, median, middle};
use super::stage::{Home, Hop};
use super::{Bench, say};

pub(super) fn run(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let programs = &bench.programs;
    for tools in [1_000, 10_000] {
        let server = Hop::server(programs, &["--tools", &tools.to_string()])?;
        let servers = format!("[servers.up]\nurl = {:?}\n", server.url());
        let home = Home::new(programs, "lists", &servers)?;
        let hub = home.start(programs)?;
        hub.ready(programs, tools, "up__echo")?;
        let floor = Hop::floor(&programs.mcp_floor, &server)?;
        let targets = [
            server.target("bare handler", "echo"),
            hub.target("hub", "up__echo"),
            floor.target("mcp-floor", "up__echo"),
        ];
        // Many short rounds: how long a list takes depends on which processor a round begins on.
        let amount = Amount { connections: 1, seconds: 0.5, era: Era::Session };
        let mut all: [Vec<Figures>; 3] = Default::default();
        for _ in 0..bench.pick(15, 3) {
            for (figures, target) in all.iter_mut().zip(&targets) {
                figures.push(target.list(programs, amount, tools)?);
            }
        }
        for (figures, target) in all.iter().zip(&targets) {
            let Figures { p50, cpu, .. } = middle(figures);
            let (p50, cpu, name) = (number(p50), number(cpu), target.name);
            say::note(format_args!(
                "  {tools:>6} tools  {name:<14}{p50:>9} µs in the middle, {cpu:>8} µs of CPU"
            ));
        }
        let ratios = all[1].iter().zip(&all[0]).map(|(hub, bare)| hub.p50 / bare.p50);
        let what = format!("tools/list with {tools} tools: p50");
        goals.add(what, median(ratios.collect()), Limit::AtMost(1.3), "× bare");
    }
    Ok(())
}
