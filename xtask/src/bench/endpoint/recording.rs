//! What writing calls down costs them: a hub with a store beside one without, inside one program.

use std::process::Command;

use anyhow::{Context, Result};

use super::goals::{Goals, Limit};
use super::load::median;
use super::stage::Hop;
use super::{Bench, say};
use crate::process;

pub(super) fn run(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let server = Hop::server(&bench.programs, &[])?;
    let mut command = Command::new(&bench.programs.recording);
    command.args([server.url().as_str(), bench.pick("15", "3"), bench.pick("1.0", "0.5")]);
    let (mut rates, mut times) = (Vec::new(), Vec::new());
    for line in process::output(command)?.lines() {
        let Some(ratios) = line.strip_prefix("ratio ") else {
            say::note(format_args!("  {line}"));
            continue;
        };
        let (rate, time) = ratios.split_once(' ').context("the ratios are not two")?;
        rates.push(rate.parse()?);
        times.push(time.parse()?);
    }
    // How far the rounds are from one another is what cannot be told from a difference; on a machine where that is
    // more than a tenth, nothing can be told.
    let apart = |all: &[f64]| {
        all.iter().fold(0.0, |most: f64, one| most.max((one - median(all.to_vec())).abs()))
    };
    let (noise, slower) = (apart(&times).clamp(0.05, 0.1), median(times.clone()));
    say::note(format_args!("  the rounds differ by up to {:.0} %", 100.0 * apart(&times)));
    goals.add("with a store: p50 at 16", slower, Limit::AtMost(1.0 + noise), "× without");
    let noise = apart(&rates).clamp(0.05, 0.1);
    goals.add(
        "with a store: calls/s at 16",
        median(rates),
        Limit::AtLeast(1.0 - noise),
        "× without",
    );
    Ok(())
}
