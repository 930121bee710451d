//! Calls in a closed loop: direct, through the floors, and through the hub to a server behind HTTP and
//! to one behind a pipe, beside a pipe without a hub; in turns, so that a noisy moment hits all alike.

use std::cell::Cell;

use anyhow::{Result, ensure};

use super::goals::{Figure, Goals, Limit, number};
use super::load::{Amount, Era, Figures, Target, median, middle};
use super::pipe::Pipe;
use super::stage::{Home, Hop, Hub};
use super::{Bench, eras, records, say};

/// What the best other gateway does with one shared process, times two and a half, as a part of what
/// the floor did on the machine where that was measured.
const PIPE: f64 = 2.5 * 15_500.0 / 46_000.0;

/// How many calls a second there have to be, as a part of the floor's: three quarters, and three times as many as the best
/// other gateway made, as a part of the least that the floor did on the machine where that was measured.
fn least(era: Era, connections: usize) -> Limit {
    let peer: f64 = match (era, connections) {
        (Era::Session, 64) => 3.0 * 12_000.0 / 46_000.0,
        (Era::Session, 256) => 3.0 * 10_000.0 / 35_500.0,
        (Era::Stateless, 16) => 3.0 * 10_400.0 / 37_500.0,
        _ => 0.0,
    };
    Limit::AtLeast(peer.max(0.75))
}
const DIRECT: usize = 0;
const FLOOR: usize = 2;
const HUB: usize = 3;
const HUB_PIPE: usize = 4;
/// In the place of the pipe where a server takes its time.
const HUB_USUAL: usize = 4;

/// The session era, at each number of connections.
pub(super) fn sessions(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let stage = Stage::new(bench, &[])?;
    for connections in [1, 16, 64, 256] {
        let all = stage.measure(bench, connections, Era::Session)?;
        let ratio = |pick: fn(&Figures) -> f64, of: usize| Figure::of(&ratios(&all, pick, of));
        let at = format!("at {connections}");
        match connections {
            1 => goals.add("p50 at 1", ratio(|f| f.p50, HUB), Limit::AtMost(1.3), "× floor"),
            _ => {
                let what = format!("calls/s {at}");
                let least = least(Era::Session, connections);
                goals.add(what, ratio(|f| f.rate, HUB), least, "× floor");
            }
        }
        if connections == 64 {
            let cpu = ratio(|f| f.cpu, HUB);
            goals.add(format!("CPU per call {at}"), cpu, Limit::AtMost(1.5), "× floor");
            goals.add(format!("p99 {at}"), ratio(|f| f.p99, HUB), Limit::AtMost(1.3), "× floor");
            let pipe = ratio(|f| f.rate, HUB_PIPE);
            let what = format!("calls/s {at}, one process behind a pipe");
            goals.add(what, pipe, Limit::AtLeast(PIPE), "× floor");
        }
        stage.still_one(bench)?;
    }
    stage.recorded(bench, goals, "session era")
}

/// The stateless era: beside the floor, and beside the session era of the same hub.
pub(super) fn stateless(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let stage = Stage::new(bench, &[])?;
    for &connections in bench.pick(&[16, 64][..], &[16]) {
        let all = stage.measure(bench, connections, Era::Stateless)?;
        let what = format!("stateless: calls/s at {connections}");
        let least = least(Era::Stateless, connections);
        goals.add(what, Figure::of(&ratios(&all, |f| f.rate, HUB)), least, "× floor");
    }
    let targets = [&stage.targets[DIRECT], &stage.targets[HUB]];
    stage.made.set(stage.made.get() + eras::compare(bench, goals, targets)?);
    stage.recorded(bench, goals, "stateless era")
}

/// A server that takes its time: the hub must not add to it.
pub(super) fn slow(bench: &Bench, goals: &mut Goals) -> Result<()> {
    let stage = Stage::new(bench, &["--delay-ms", "20"])?;
    // Within a twentieth: a moment's noise in one round of few would decide it.
    let all = stage.rounds(bench, (bench.pick(21, 1), 1.5), 256, Era::Session)?;
    for (what, pick) in [("p50", (|f| f.p50) as fn(&Figures) -> f64), ("p99", |f| f.p99)] {
        let label = |limit: &str| format!("20 ms server, 256 connections, {limit}: {what}");
        let figure = ratio(&all, pick, HUB);
        goals.add(label("`max_in_flight = 1024`"), figure, Limit::AtMost(1.05), "× floor");
        // A quarter of them at once: each waits for three others.
        let usual = ratio(&all, pick, HUB_USUAL);
        goals.tell(label("64 in flight, as it is by default"), usual, "× floor");
    }
    stage.recorded(bench, goals, "20 ms server")
}

/// Everything that is measured side by side.
struct Stage {
    targets: Vec<Target>,
    /// A server behind a pipe without a hub. None where servers take their time: behind a pipe they do not.
    pipe: Option<Pipe>,
    hub: Hub,
    /// The process of the server behind the hub's pipe.
    child: u32,
    /// How many calls were measured through the hub.
    made: Cell<f64>,
    _hops: [Hop; 3],
}

impl Stage {
    fn new(bench: &Bench, arguments: &[&str]) -> Result<Self> {
        let programs = &bench.programs;
        let server = Hop::server(programs, arguments)?;
        let http_floor = Hop::floor(&programs.http_floor, &server)?;
        let mcp_floor = Hop::floor(&programs.mcp_floor, &server)?;
        // As people have it. Only where a server takes its time, as many at once as there are connections, as the
        // floors have no limit either; there it is also shown what those have who leave it at 64.
        let limit = if arguments.is_empty() { "" } else { "max_in_flight = 1024\n" };
        let servers = format!(
            "[servers.up]\nurl = {url:?}\n{limit}\n\
             [servers.usual]\nurl = \"{url}?\"\n\n\
             [servers.pipe]\ncommand = {:?}\nargs = [\"--stdio\"]\n",
            programs.upstream,
            url = server.url(),
        );
        let hub = Home::new(programs, "calls", &servers)?.start(programs)?;
        for tool in ["up__echo", "usual__echo", "pipe__echo"] {
            hub.ready(programs, 30, tool)?;
        }
        let one = hub.child(&programs.upstream)?;
        let child = Some(one);
        let mut targets = vec![
            server.target("direct", "echo"),
            http_floor.target("http-floor", "echo"),
            mcp_floor.target("mcp-floor", "up__echo"),
            Target { child, ..hub.target("hub, HTTP", "up__echo") },
        ];
        targets.push(match arguments {
            [] => Target { child, ..hub.target("hub, stdio", "pipe__echo") },
            _ => Target { child, ..hub.target("hub, 64 at once", "usual__echo") },
        });
        Ok(Self {
            targets,
            pipe: arguments.is_empty().then(|| Pipe(programs.upstream.clone())),
            hub,
            child: one,
            made: Cell::default(),
            _hops: [server, http_floor, mcp_floor],
        })
    }

    /// However many sessions have called, one process has answered them all. Sessions outlive their connections, and so
    /// would a process of their own.
    fn still_one(&self, bench: &Bench) -> Result<()> {
        let (then, now) = (self.child, self.hub.child(&bench.programs.upstream)?);
        ensure!(
            then == now,
            "the process behind the pipe was {then} and is {now}: it was replaced"
        );
        Ok(())
    }

    fn recorded(&self, bench: &Bench, goals: &mut Goals, when: &str) -> Result<()> {
        let made = (&self.hub, &self.targets[HUB], self.made.get());
        records::judge(&bench.programs, goals, made, when)
    }

    /// Figures by target and round: many short rounds, as a machine that others use too is faster now and slower then.
    fn measure(&self, bench: &Bench, connections: usize, era: Era) -> Result<Vec<Vec<Figures>>> {
        self.rounds(bench, (bench.pick(15, 1), 0.6), connections, era)
    }

    fn rounds(
        &self,
        bench: &Bench,
        (rounds, seconds): (usize, f64),
        connections: usize,
        era: Era,
    ) -> Result<Vec<Vec<Figures>>> {
        let amount = Amount { connections, seconds: bench.pick(seconds, 0.5), era };
        let mut all = vec![Vec::new(); self.targets.len()];
        let mut piped = Vec::new();
        for _ in 0..rounds {
            for (figures, target) in all.iter_mut().zip(&self.targets) {
                figures.push(target.calls(&bench.programs, amount)?);
            }
            if let Some(pipe) = &self.pipe {
                piped.push(pipe.calls(amount)?);
            }
        }
        let through_hub: f64 = all[HUB..].iter().flatten().map(|figures| figures.calls).sum();
        self.made.set(self.made.get() + through_hub);
        all.extend(self.pipe.is_some().then_some(piped));
        self.print(connections, &all);
        Ok(all)
    }

    fn print(&self, connections: usize, all: &[Vec<Figures>]) {
        say::note(format_args!(
            "{:<17}{:>9}{:>11}{:>11}{:>11}   {:>8}{:>7}{:>7}{:>7}",
            format!("{connections} connections"),
            "calls/s",
            "p50 µs",
            "p99 µs",
            "CPU µs",
            "× floor",
            "p50",
            "p99",
            "CPU",
        ));
        let names = self.targets.iter().map(|target| target.name);
        for (at, (name, figures)) in names.chain([Pipe::NAME]).zip(all).enumerate() {
            let Figures { rate, p50, p99, cpu, .. } = middle(figures);
            say::note(format_args!(
                "  {:<15}{:>9}{:>11}{:>11}{:>11}   {:>8.2}{:>7.2}{:>7.2}{:>7.2}",
                name,
                number(rate),
                number(p50),
                number(p99),
                number(cpu),
                ratio(all, |f| f.rate, at),
                ratio(all, |f| f.p50, at),
                ratio(all, |f| f.p99, at),
                ratio(all, |f| f.cpu, at),
            ));
        }
    }
}

/// How a target stands to the floor: the middle of the ratios within each round.
fn ratio(all: &[Vec<Figures>], pick: fn(&Figures) -> f64, of: usize) -> f64 {
    median(ratios(all, pick, of))
}

/// The same in each round.
fn ratios(all: &[Vec<Figures>], pick: fn(&Figures) -> f64, of: usize) -> Vec<f64> {
    let pairs = all[of].iter().zip(&all[FLOOR]);
    pairs.map(|(one, floor)| pick(one) / pick(floor)).collect()
}
