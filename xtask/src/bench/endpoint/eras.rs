//! How the stateless era stands to the session era: the same hub, in turns. Both do nearly the same work, so the figure
//! is near one, and what noise hides of it is told beside it.

use anyhow::Result;

use super::goals::{Goals, Limit};
use super::load::{Amount, Era, Figures, Target, median};
use super::{Bench, say};

/// At so many connections, and in how many rounds. Most where other gateways were measured.
const ROWS: [(usize, usize); 4] = [(1, 11), (16, 41), (64, 21), (256, 11)];
/// However noisy a machine is, this much slower is slower.
const MOST: f64 = 0.05;

/// Ratios of the stateless era to the session era, one for each round.
#[derive(Default)]
struct Ratios {
    rate: Vec<f64>,
    p50: Vec<f64>,
    p99: Vec<f64>,
    cpu: Vec<f64>,
}

/// Measures a direct connection and the hub, and judges the hub.
pub(super) fn compare(bench: &Bench, goals: &mut Goals, targets: [&Target; 2]) -> Result<()> {
    say::note(format_args!(
        "{:<17}{:>9}{:>8}{:>8}{:>8}   {:>10}{:>8}{:>8}{:>8}",
        "× session era", "calls/s", "p50", "p99", "CPU", "direct", "p50", "p99", "CPU",
    ));
    for (connections, rounds) in ROWS {
        let mut all: [Ratios; 2] = Default::default();
        for round in 0..bench.pick(rounds, 2) {
            for (ratios, target) in all.iter_mut().zip(targets) {
                ratios.push(bench, target, connections, round)?;
            }
        }
        // What the load generator and the server themselves take more for it is in the hub's figure too.
        let [direct, hub] = all.each_ref().map(Ratios::middle);
        say::note(format_args!(
            "  {:<15}{:>9.3}{:>8.3}{:>8.3}{:>8.3}   {:>10.3}{:>8.3}{:>8.3}{:>8.3}",
            connections,
            hub.rate,
            hub.p50,
            hub.p99,
            hub.cpu,
            direct.rate,
            direct.p50,
            direct.p99,
            direct.cpu,
        ));
        let (rate, cpu) = (doubt(&all[1].rate), doubt(&all[1].cpu));
        let what = |what: &str| format!("stateless: {what} at {connections}");
        goals.add(what("calls/s"), hub.rate, Limit::AtLeast(1.0 - rate), "× session");
        goals.add(what("CPU per call"), hub.cpu, Limit::AtMost(1.0 + cpu), "× session");
    }
    Ok(())
}

impl Ratios {
    /// One round of both eras.
    fn push(
        &mut self,
        bench: &Bench,
        target: &Target,
        connections: usize,
        round: usize,
    ) -> Result<()> {
        let calls = |era| target.calls(&bench.programs, Amount { connections, seconds: 0.5, era });
        // Whoever comes second may find a warmer machine.
        let (old, new) = if round.is_multiple_of(2) {
            let old = calls(Era::Session)?;
            (old, calls(Era::Stateless)?)
        } else {
            let new = calls(Era::Stateless)?;
            (calls(Era::Session)?, new)
        };
        self.rate.push(new.rate / old.rate);
        self.p50.push(new.p50 / old.p50);
        self.p99.push(new.p99 / old.p99);
        self.cpu.push(new.cpu / old.cpu);
        Ok(())
    }

    fn middle(&self) -> Figures {
        let of = |all: &Vec<f64>| median(all.clone());
        Figures { rate: of(&self.rate), p50: of(&self.p50), p99: of(&self.p99), cpu: of(&self.cpu) }
    }
}

/// How far the middle of some rounds may be from what very many would tell: two standard errors of a median, by how far
/// the rounds are from their middle.
fn doubt(rounds: &[f64]) -> f64 {
    let middle = median(rounds.to_vec());
    let apart = median(rounds.iter().map(|one| (one - middle).abs()).collect());
    // The factors of a normal distribution: from that distance to a deviation, and from a mean to a median.
    let error = 1.4826 * 1.2533 * apart / (rounds.len() as f64).sqrt();
    (2.0 * error).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rounds_leave_less_doubt_and_none_leaves_too_much() {
        let few = doubt(&[0.98, 1.0, 1.02]);
        let many = doubt(&[0.98, 1.0, 1.02].repeat(100));
        assert!(many < few / 5.0 && many > 0.0, "{few} {many}");
        assert!((doubt(&[0.1, 1.0, 5.0]) - MOST).abs() < f64::EPSILON);
    }
}
