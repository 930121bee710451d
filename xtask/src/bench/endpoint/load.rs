//! One run of the load generator, and what it says. Every answer is checked there; a run with a wrong
//! one is no measurement.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::programs::Programs;
use super::stage::{Process, wait};
use crate::process;

/// Whom the load is put on.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) name: &'static str,
    pub(super) url: String,
    pub(super) tool: String,
    pub(super) token: Option<String>,
    pub(super) pid: u32,
    /// A child whose time is not the target's own.
    pub(super) child: Option<u32>,
}

/// What revision is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    Session,
    Stateless,
}

/// How much is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    pub(super) connections: usize,
    pub(super) seconds: f64,
    pub(super) era: Era,
}

/// What a run came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    /// Calls per second.
    pub(super) rate: f64,
    /// In microseconds.
    pub(super) p50: f64,
    /// In microseconds.
    pub(super) p99: f64,
    /// Processor time per call, in microseconds.
    pub(super) cpu: f64,
    /// How many calls were measured.
    pub(super) calls: f64,
}

/// What open sessions cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opened {
    /// Before, in KB: what is resident of the process itself.
    pub(super) resident: f64,
    /// Before, in KB, of the process and its children; what several share is counted once (PSS).
    pub(super) before: f64,
    /// What is resident of all these before anybody came, in KB.
    pub(super) rest: f64,
    /// The same where those that are measured begin: at rest, or with others open.
    pub(super) from: f64,
    /// The same with all of them open.
    pub(super) to: f64,
    /// What is resident for each session, in KB.
    pub(super) each: f64,
    /// New sessions per second.
    pub(super) rate: f64,
}

impl Opened {
    /// What a session takes; not a number where the process gave back more than they took, which tells nothing of them.
    pub(super) fn told(&self) -> f64 {
        told(self.each)
    }

    /// The same for one of those that were open before, if they were so many.
    pub(super) fn told_of_others(&self, count: usize) -> f64 {
        told((self.from - self.rest) / count as f64)
    }

    /// The same for one of all, if they are so many.
    pub(super) fn told_of_all(&self, count: usize) -> f64 {
        told((self.to - self.rest) / count as f64)
    }
}

fn told(each: f64) -> f64 {
    if each > 0.0 { each } else { f64::NAN }
}

impl Target {
    /// Calls for a while.
    pub(super) fn calls(&self, programs: &Programs, amount: Amount) -> Result<Figures> {
        let mut command = self.command(programs, "call", amount.era);
        command.args(["--tool", &self.tool, "--timeout", "10"]);
        self.measure(command, amount)
    }

    /// Asks for the whole list for a while.
    pub(super) fn list(
        &self,
        programs: &Programs,
        amount: Amount,
        at_least: usize,
    ) -> Result<Figures> {
        let mut command = self.command(programs, "list", amount.era);
        command.args(["--at-least", &at_least.to_string()]);
        self.measure(command, amount)
    }

    /// So many calls, and so many of them at once, unmeasured.
    pub(super) fn count(
        &self,
        programs: &Programs,
        (calls, at_once): (usize, usize),
        era: Era,
    ) -> Result<()> {
        let mut command = self.command(programs, "call", era);
        command.args(["--tool", &self.tool, "-c", &at_once.to_string()]);
        command.args(["--requests", &calls.to_string()]);
        answers(command).map(drop)
    }

    /// Opens sessions and keeps them for a moment.
    pub(super) fn open(&self, programs: &Programs, sessions: usize) -> Result<Opened> {
        let mut command = self.command(programs, "sessions", Era::Session);
        command.args(["-n", &sessions.to_string(), "--initialized", "--hold", "0.5"]);
        command.args(["--watch", &self.pid.to_string()]);
        let resident = resident(self.pid)?;
        let said = answers(command)?;
        let number = |key: &str| said["watch"][0][key].as_f64().context("no memory was told");
        let (from, to) = (number("rss_kib_before")?, number("rss_kib")?);
        let seconds = said["seconds"].as_f64().context("no time was told")?;
        let count = sessions as f64;
        Ok(Opened {
            resident,
            before: number("pss_kib_before")?,
            rest: from,
            from,
            to,
            each: (to - from) / count,
            rate: count / seconds,
        })
    }

    /// What sessions cost beyond others. The first ones are put where the start has left room, the more the more servers
    /// there are, and would seem to cost nothing.
    pub(super) fn open_beyond(
        &self,
        programs: &Programs,
        others: usize,
        sessions: usize,
    ) -> Result<Opened> {
        let first = self.open(programs, 1)?;
        let _others = self.hold(programs, others)?;
        let beyond = self.open(programs, sessions)?;
        let Opened { resident, before, rest, .. } = first;
        Ok(Opened { resident, before, rest, ..beyond })
    }

    /// Opens sessions, and keeps them as long as what is returned.
    fn hold(&self, programs: &Programs, sessions: usize) -> Result<Process> {
        let (fewest, mut command) =
            (open_files(self.pid) + sessions, self.command(programs, "sessions", Era::Session));
        command.args(["-n", &sessions.to_string(), "--initialized", "--hold", "600"]);
        let mut process = Process::start(command)?;
        let mut ended = false;
        wait("all sessions are open", || {
            ended = process.has_ended();
            ended || open_files(self.pid) >= fewest
        })?;
        ensure!(!ended, "not all of {sessions} sessions could be opened");
        Ok(process)
    }

    /// Whether one call is answered.
    pub(super) fn once(&self, programs: &Programs) -> bool {
        self.count(programs, (1, 1), Era::Session).is_ok()
    }

    /// Whether so many tools are listed.
    pub(super) fn lists(&self, programs: &Programs, at_least: usize) -> bool {
        let mut command = self.command(programs, "list", Era::Session);
        command.args(["-c", "1", "--requests", "1", "--at-least", &at_least.to_string()]);
        answers(command).is_ok()
    }

    fn measure(&self, mut command: Command, amount: Amount) -> Result<Figures> {
        command.args(["-c", &amount.connections.to_string(), "-s", &amount.seconds.to_string()]);
        command.args(["--warmup", "0.3", "--watch", &self.pid.to_string()]);
        if let Some(child) = self.child {
            command.args(["--watch", &child.to_string()]);
        }
        let said = answers(command).with_context(|| format!("{} was not measured", self.name))?;
        let number =
            |value: &Value| value.as_f64().context("the load generator left something out");
        let mut cpu = number(&said["watch"][0]["cpu_us_per_request"])?;
        if self.child.is_some() {
            cpu -= number(&said["watch"][1]["cpu_us_per_request"])?;
        }
        Ok(Figures {
            rate: number(&said["rps"])?,
            p50: number(&said["p50_us"])?,
            p99: number(&said["p99_us"])?,
            cpu,
            calls: number(&said["requests"])?,
        })
    }

    fn command(&self, programs: &Programs, what: &str, era: Era) -> Command {
        let mut command = Command::new(&programs.load);
        command.args([what, "--json", "--url", &self.url]);
        if let Some(token) = &self.token {
            command.args(["-H", &format!("Authorization: Bearer {token}")]);
        }
        if era == Era::Stateless {
            command.arg("--modern");
        }
        command
    }
}

/// How many files a process has open, connections among them.
fn open_files(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().count()
}

/// What is resident of a process, in KB.
pub(super) fn resident(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("it has ended")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    number.context("the system does not tell what is resident")
}

/// The middle of some figures, each for itself.
pub(super) fn middle(all: &[Figures]) -> Figures {
    let of = |pick: fn(&Figures) -> f64| median(all.iter().map(pick).collect());
    Figures {
        rate: of(|f| f.rate),
        p50: of(|f| f.p50),
        p99: of(|f| f.p99),
        cpu: of(|f| f.cpu),
        calls: of(|f| f.calls),
    }
}

/// The middle one; of an even number, the mean of the two.
pub(super) fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    match all.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => all[count / 2],
        count => f64::midpoint(all[count / 2 - 1], all[count / 2]),
    }
}

/// Runs it; what it prints, if nothing went wrong.
pub(super) fn answers(command: Command) -> Result<Value> {
    let said: Value = serde_json::from_str(&process::output(command)?)?;
    if said["errors"].as_u64().is_some_and(|errors| errors > 0) {
        bail!("{} of the answers were wrong: {}", said["errors"], said["error_texts"]);
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sessions_take_is_told_from_rest_on() {
        // Of it, 5,000 are of other processes.
        let opened = Opened {
            resident: 20_000.0,
            before: 24_000.0,
            rest: 25_000.0,
            from: 36_000.0,
            to: 117_000.0,
            each: 9.0,
            rate: 1.0,
        };
        let told = [opened.told_of_others(1_000), opened.told(), opened.told_of_all(10_000)];
        assert_eq!(told, [11.0, 9.0, 9.2]);
        let shrunk = Opened { from: 24_000.0, to: 25_000.0, ..opened };
        assert!(shrunk.told_of_others(1_000).is_nan() && shrunk.told_of_all(10_000).is_nan());
    }
}
