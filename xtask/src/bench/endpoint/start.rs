//! From the start of the program to its first answered `tools/list`, with a catalog that was kept, as
//! against the shortest that the program can do.

use std::process::Command;

use anyhow::{Context, Result};

use super::goals::{Goals, Limit, number};
use super::load::{answers, median};
use super::stage::{Home, Hop};
use super::{Bench, say};
use crate::process;
use crate::say::Stopwatch;

pub(super) fn run(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let programs = &bench.programs;
    let server = Hop::server(programs, &[])?;
    let servers = format!("[servers.up]\nurl = {:?}\n", server.url());
    let home = Home::new(programs, "start", &servers)?;
    // Once before, for the catalog.
    let hub = home.start(programs)?;
    hub.ready(programs, 10, "up__echo")?;
    drop(hub);
    let (mut whole, mut shortest) = (Vec::new(), Vec::new());
    for _ in 0..bench.pick(15, 5) {
        whole.push(until_answered(bench, &home)?);
        let mut command = home.put(Command::new(&programs.hub));
        command.arg("--version");
        let clock = Stopwatch::start();
        process::output(command)?;
        shortest.push(clock.read().as_secs_f64() * 1000.0);
    }
    let (whole, shortest) = (median(whole), median(shortest));
    say::note(format_args!(
        "  hub {} ms, `switchboard --version` {} ms",
        number(whole),
        number(shortest)
    ));
    let what = "start to first tools/list, beyond `--version`";
    goals.add(what, whole - shortest, Limit::AtMost(40.0), "ms");
    Ok(())
}

fn until_answered(bench: &Bench, home: &Home) -> Result<f64> {
    let mut command = home.put(Command::new(&bench.programs.load));
    command.args(["startup", "--json", "--at-least", "10", "--patience", "20"]);
    command.args(["--url", &home.url(), "-H", &format!("Authorization: Bearer {}", home.token)]);
    command.arg("--").args(home.up());
    let said = answers(command)?;
    Ok(said["ready_s"].as_f64().context("no time was told")? * 1000.0)
}
