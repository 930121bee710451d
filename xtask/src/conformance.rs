//! The official conformance suite against our client and against our hub: every scenario that a
//! revision requires, and which of them may fail so far. Never judges a scenario itself; the suite
//! does.

mod checks;
mod client;
mod hub;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::{environment, process, say, testware};

/// What is run at once: as much as the smallest machine has cores. Some scenarios measure time, so they must not
/// wait for each other.
const WORKERS: usize = 2;
/// What the suite is run against: programs of ours, built as the tests build them.
const PROGRAMS: [&str; 4] = ["upstream-test-server", "switchboard", "mcp-fixture", "mcp-relay"];

/// Runs the suite; fails when a scenario fails, or a check is skipped, that is not listed, and when a
/// listed one passes, or is made.
pub(crate) fn run() -> Result<()> {
    let suite = Suite::find()?;
    let mut wrong = client::run(&suite)?;
    wrong.extend(hub::run(&suite)?);
    if wrong.is_empty() {
        return Ok(());
    }
    wrong.iter().for_each(say::note);
    bail!(
        "{} scenarios are not as {} and {} say; what they said is in {}",
        wrong.len(),
        client::EXPECTED,
        hub::EXPECTED,
        suite.results.display()
    )
}

/// How the suite judged one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    scenario: String,
    passed: bool,
    /// The checks that it did not make, by which it passes all the same.
    skipped: BTreeSet<String>,
}

/// What may be otherwise than good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Listed {
    /// Scenarios that fail.
    failing: BTreeSet<String>,
    /// Checks that are not made: the scenario and the check.
    skipped: BTreeSet<(String, String)>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    passed: usize,
    expected: usize,
    wrong: Vec<String>,
}

fn compare(verdicts: &[Verdict], listed: &Listed) -> Outcome {
    let mut outcome = Outcome::default();
    let mut unmade = BTreeSet::new();
    for Verdict { scenario, passed, skipped } in verdicts {
        let skips = skipped.iter().map(|check| (scenario.clone(), check.clone()));
        let (known, new): (BTreeSet<_>, BTreeSet<_>) =
            skips.partition(|skip| listed.skipped.contains(skip));
        unmade.extend(known);
        // What was not examined has not passed.
        if *passed && !new.is_empty() {
            let new = new.into_iter().map(|(_, check)| format!("{scenario}: skips {check}"));
            outcome.wrong.extend(new.map(|skips| format!("{skips}, and is not listed")));
            continue;
        }
        outcome.passed += usize::from(*passed);
        match (*passed, listed.failing.contains(scenario)) {
            (true, false) => {}
            (false, true) => outcome.expected += 1,
            (false, false) => outcome.wrong.push(format!("{scenario}: fails, and is not listed")),
            (true, true) => {
                outcome.wrong.push(format!("{scenario}: passes, so take it from the list"));
            }
        }
    }
    let known = |name: &&String| verdicts.iter().any(|verdict| verdict.scenario == **name);
    let strange = listed.failing.iter().filter(|name| !known(name));
    outcome.wrong.extend(strange.map(|name| format!("{name}: is listed, but not required")));
    let made = listed.skipped.difference(&unmade);
    outcome.wrong.extend(made.map(|(scenario, check)| {
        format!("{scenario}: does not skip {check}, so take it from the list")
    }));
    outcome
}

/// The entries of an expected-failures file, `  - name  # comment`, and below `skipped:` those of checks
/// that are not made, `  - scenario check  # reason`.
fn listed(text: &str) -> Result<Listed> {
    let (mut listed, mut section) = (Listed::default(), "");
    for line in text.lines() {
        let Some(entry) = line.trim().strip_prefix("- ") else {
            section = line.strip_suffix(':').unwrap_or(section);
            continue;
        };
        let (names, reason) = entry.split_once('#').unwrap_or((entry, ""));
        let names: Vec<&str> = names.split_whitespace().collect();
        match (section, &names[..], reason.trim().is_empty()) {
            ("skipped", [scenario, check], false) => {
                listed.skipped.insert(((*scenario).to_owned(), (*check).to_owned()));
            }
            ("skipped", ..) | (_, [], _) => bail!("`{entry}` lacks a name, or a reason"),
            (_, [scenario, ..], _) => drop(listed.failing.insert((*scenario).to_owned())),
        }
    }
    Ok(listed)
}

/// The list that is committed in `directory`, one file for each revision in the suite's own format.
fn expected(directory: &str, revision: &str) -> Result<Listed> {
    let file = environment::root().join(directory).join(format!("{revision}.yml"));
    let text =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    listed(&text).with_context(|| format!("in {}", file.display()))
}

/// Says how it went, and returns what is wrong.
fn report(what: &str, required: usize, outcome: Outcome) -> Vec<String> {
    say::note(format_args!(
        "{what}: {} of {required} passed, {} failed as expected, {} are wrong",
        outcome.passed,
        outcome.expected,
        outcome.wrong.len()
    ));
    outcome.wrong.into_iter().map(|wrong| format!("{what} {wrong}")).collect()
}

/// Does something with each, a few at once; the answers are in no order.
fn each<T: Sync, R: Send>(all: &[T], act: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let queue = Mutex::new(all.iter());
    let next = || queue.lock().ok()?.next();
    let work = || -> Result<Vec<R>> { std::iter::from_fn(next).map(&act).collect() };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let mut answers = Vec::new();
        for worker in workers {
            answers.extend(worker.join().map_err(|_| anyhow!("a worker panicked"))??);
        }
        Ok(answers)
    })
}

/// Which side of MCP the suite examines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

impl Side {
    fn flag(self) -> &'static str {
        match self {
            Self::Client => "--client",
            Self::Server => "--server",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Client => "Client scenarios",
            Self::Server => "Server scenarios",
        }
    }
}

/// What the suite says it requires of that side.
fn required(listing: &str, side: Side) -> Vec<String> {
    let rows = listing.lines().skip_while(|line| !line.starts_with(side.heading())).skip(1);
    rows.map_while(|line| line.trim().strip_prefix("- ")).map(str::to_owned).collect()
}

/// The suite, and the programs that it meets.
struct Suite {
    node: PathBuf,
    script: PathBuf,
    built: PathBuf,
    results: PathBuf,
}

impl Suite {
    fn find() -> Result<Self> {
        let tools = testware::set()?;
        let node = tools.join("node/node_modules/.bin/node");
        let script = tools.join("npm/node_modules/.bin/conformance");
        ensure!(
            node.exists() && script.exists(),
            "the suite is not installed; run `cargo xtask test --only tools`"
        );
        // The same units as the tests, so that after them there is nothing left to build.
        let mut build = process::cargo(&["build", "--locked", "--workspace", "--test", "it"])?;
        build.args(PROGRAMS.iter().flat_map(|program| ["--bin", program]));
        process::run(build)?;
        let target = environment::target()?.unwrap_or_else(|| environment::root().join("target"));
        let results = target.join("conformance");
        if results.exists() {
            fs::remove_dir_all(&results)
                .with_context(|| format!("cannot clear {}", results.display()))?;
        }
        Ok(Self { node, script, built: target.join("debug"), results })
    }

    /// A program that was built.
    fn program(&self, name: &str) -> Result<PathBuf> {
        let place = self.built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        ensure!(place.is_file(), "cargo built no {}", place.display());
        Ok(place)
    }

    /// A file for what a program says besides.
    fn log(&self, name: &str) -> Result<File> {
        let place = self.results.join(format!("{name}.log"));
        fs::create_dir_all(&self.results)
            .and_then(|()| File::create(&place))
            .with_context(|| format!("cannot create {}", place.display()))
    }

    /// The scenarios that a revision requires, of which there must be as many as we know of.
    fn required(&self, side: Side, revision: &str, count: usize) -> Result<Vec<String>> {
        let mut command = self.command();
        command.args(["list", side.flag(), "--requirements", revision]);
        let scenarios = required(&process::output(command)?, side);
        ensure!(
            scenarios.len() == count,
            "the suite requires {} scenarios for {revision}, not {count}: {}",
            scenarios.len(),
            scenarios.join(", ")
        );
        Ok(scenarios)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.node);
        // Half of a scenario's time is the loading of the suite.
        command.env("NODE_COMPILE_CACHE", self.results.with_extension("cache"));
        command.arg(&self.script).current_dir(environment::root());
        command
    }
}

#[cfg(test)]
mod tests;
