//! How the stateless era stands to the session era: the same hub, in turns, and a direct connection in the same rounds.
//! Both do nearly the same work, so the figures are near one; what noise hides of them is told beside them.

use anyhow::Result;

use super::goals::{Figure, Goals, Limit};
use super::load::{Amount, Era, Target};
use super::{Bench, say};

/// At so many connections, and in how many rounds. Most where other gateways were measured.
const ROWS: [(usize, usize); 4] = [(1, 41), (16, 81), (64, 21), (256, 11)];

/// One figure of the stateless era as a part of the same of the session era, for each round.
#[derive(Default)]
struct Ratios {
    rate: Vec<f64>,
    p50: Vec<f64>,
    p99: Vec<f64>,
    cpu: Vec<f64>,
    /// Calls that were measured, in both eras.
    made: f64,
}

/// Measures a direct connection and the hub in the same rounds, and judges the hub. How many calls it was measured with.
pub(super) fn compare(bench: &Bench, goals: &mut Goals, targets: [&Target; 2]) -> Result<f64> {
    let mut made = 0.0;
    say::note(format_args!(
        "{:<29}{:>9}{:>9}{:>8}{:>8}{:>8}{:>9}",
        "stateless, × session era", "calls/s", "doubt", "p50", "p99", "CPU", "doubt",
    ));
    for (connections, rounds) in ROWS {
        let mut all: [Ratios; 2] = Default::default();
        for round in 0..bench.pick(rounds, 2) {
            for (ratios, target) in all.iter_mut().zip(targets) {
                ratios.push(bench, target, connections, round)?;
            }
        }
        let [direct, hub] = all;
        made += hub.made;
        direct.print(connections, "direct, without a hub");
        hub.print(connections, "hub");
        let beside = hub.beside(&direct);
        beside.print(connections, "hub, beside direct");
        let at = |what: &str| format!("stateless: {what} at {connections}");
        goals.add(at("CPU per call"), Figure::of(&hub.cpu), Limit::AtMost(1.0), "× session");
        // The load generator and the server themselves take more for this era, which is in the first figure and
        // nothing that a hub can change; the second is without that.
        goals.add(at("calls/s"), Figure::of(&hub.rate), Limit::AtLeast(1.0), "× session");
        let what = at("calls/s") + ", × session, beside direct";
        goals.add(what, Figure::of(&beside.rate), Limit::AtLeast(1.0), "× direct");
    }
    Ok(made)
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
        self.made += new.calls + old.calls;
        Ok(())
    }

    /// How these stand to the others, round by round. The processor time is each one's own anyway.
    fn beside(&self, others: &Self) -> Self {
        let of = |ours: &[f64], theirs: &[f64]| -> Vec<f64> {
            ours.iter().zip(theirs).map(|(our, their)| our / their).collect()
        };
        Self {
            rate: of(&self.rate, &others.rate),
            p50: of(&self.p50, &others.p50),
            p99: of(&self.p99, &others.p99),
            ..Self::default()
        }
    }

    fn print(&self, connections: usize, name: &str) {
        let (rate, p50, p99) =
            (Figure::of(&self.rate), Figure::of(&self.p50), Figure::of(&self.p99));
        let cpu = match &self.cpu[..] {
            [] => String::new(),
            rounds => {
                let cpu = Figure::of(rounds);
                format!("{:>8.3}{:>9}", cpu.size, format!("± {:.3}", cpu.doubt))
            }
        };
        say::note(format_args!(
            "  {:<27}{:>9.3}{:>9}{:>8.3}{:>8.3}{cpu}",
            format!("{connections:>3}  {name}"),
            rate.size,
            format!("± {:.3}", rate.doubt),
            p50.size,
            p99.size,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_direct_connection_loses_too_is_not_the_hubs() {
        let of = |rate: &[f64]| Ratios { rate: rate.to_vec(), ..Ratios::default() };
        let beside = of(&[0.9, 0.8, 0.95]).beside(&of(&[0.9, 1.0, 0.95]));
        assert_eq!(beside.rate, [1.0, 0.8, 1.0]);
        assert!(beside.cpu.is_empty());
    }
}
