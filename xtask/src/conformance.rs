//! The official conformance suite against our client: every scenario that a revision requires, and
//! which of them may fail so far. Never judges a scenario itself; the suite does.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::{environment, process, say, testware};

/// The revisions with the number of scenarios that each requires of a client.
const REVISIONS: [(&str, usize); 2] = [("2025-11-25", 18), ("2026-07-28", 32)];
/// Scenarios at once. Some measure time, so they must not wait for each other.
const WORKERS: usize = 3;
/// For one scenario, in milliseconds; a client that hangs must not hold up everything.
const LIMIT: &str = "60000";
/// Where the expected failures are, one file for each revision in the suite's own format.
const EXPECTED: &str = "crates/upstream/conformance";
const DRIVER: &str = "upstream-test-server";

/// Runs the suite; fails when a scenario fails that is not listed, and when a listed one passes.
pub(crate) fn run() -> Result<()> {
    let suite = Suite::find()?;
    let mut wrong = Vec::new();
    for (revision, required) in REVISIONS {
        let scenarios = suite.required(revision)?;
        ensure!(
            scenarios.len() == required,
            "the suite requires {} scenarios for {revision}, not {required}: {}",
            scenarios.len(),
            scenarios.join(", ")
        );
        let file = environment::root().join(EXPECTED).join(format!("{revision}.yml"));
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let outcome = compare(&suite.judge(revision, &scenarios)?, &listed(&text));
        say::note(format_args!(
            "{revision}: {} of {required} passed, {} failed as expected, {} are wrong",
            outcome.passed,
            outcome.expected,
            outcome.wrong.len()
        ));
        wrong.extend(outcome.wrong.into_iter().map(|what| format!("{revision} {what}")));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    wrong.iter().for_each(say::note);
    bail!(
        "{} scenarios are not as {EXPECTED} says; what they said is in {}",
        wrong.len(),
        results()?.display()
    )
}

/// How the suite judged one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    scenario: String,
    passed: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    passed: usize,
    expected: usize,
    wrong: Vec<String>,
}

fn compare(verdicts: &[Verdict], listed: &BTreeSet<String>) -> Outcome {
    let mut outcome = Outcome::default();
    for Verdict { scenario, passed } in verdicts {
        outcome.passed += usize::from(*passed);
        match (*passed, listed.contains(scenario)) {
            (true, false) => {}
            (false, true) => outcome.expected += 1,
            (false, false) => outcome.wrong.push(format!("{scenario}: fails, and is not listed")),
            (true, true) => {
                outcome.wrong.push(format!("{scenario}: passes, so take it from the list"));
            }
        }
    }
    let known = |name: &&String| verdicts.iter().any(|verdict| verdict.scenario == **name);
    let strange = listed.iter().filter(|name| !known(name));
    outcome.wrong.extend(strange.map(|name| format!("{name}: is listed, but not required")));
    outcome
}

/// The entries of an expected-failures file: `  - name  # comment`.
fn listed(text: &str) -> BTreeSet<String> {
    let entries = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
    entries.filter_map(|entry| entry.split_whitespace().next()).map(str::to_owned).collect()
}

/// What the suite says it requires of a client.
fn required(listing: &str) -> Vec<String> {
    let client = listing.lines().skip_while(|line| !line.starts_with("Client scenarios")).skip(1);
    client.map_while(|line| line.trim().strip_prefix("- ")).map(str::to_owned).collect()
}

/// The suite and the client that it drives.
struct Suite {
    node: PathBuf,
    script: PathBuf,
    driver: PathBuf,
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
        let built = ["build", "--locked", "--workspace", "--bin", DRIVER, "--test", "it"];
        process::run(process::cargo(&built)?)?;
        let name = format!("{DRIVER}{}", std::env::consts::EXE_SUFFIX);
        let driver = target()?.join("debug").join(name);
        ensure!(driver.is_file(), "cargo built no {}", driver.display());
        let results = results()?;
        if results.exists() {
            fs::remove_dir_all(&results)
                .with_context(|| format!("cannot clear {}", results.display()))?;
        }
        Ok(Self { node, script, driver, results })
    }

    fn required(&self, revision: &str) -> Result<Vec<String>> {
        let mut command = self.command();
        command.args(["list", "--client", "--requirements", revision]);
        Ok(required(&process::output(command)?))
    }

    /// Runs the scenarios, a few at once.
    fn judge(&self, revision: &str, scenarios: &[String]) -> Result<Vec<Verdict>> {
        let queue = Mutex::new(scenarios.iter());
        let next = || queue.lock().ok()?.next();
        let work = || -> Result<Vec<Verdict>> {
            std::iter::from_fn(next).map(|scenario| self.one(revision, scenario)).collect()
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
            let mut verdicts = Vec::new();
            for worker in workers {
                verdicts.extend(worker.join().map_err(|_| anyhow!("a worker panicked"))??);
            }
            Ok(verdicts)
        })
    }

    fn one(&self, revision: &str, scenario: &str) -> Result<Verdict> {
        let place = self.results.join(revision).join(scenario.replace('/', "-"));
        fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
        let mut command = self.command();
        // The suite takes the client's command as one text and splits it at spaces.
        command.args(["client", "--command", &format!("{} conformance", self.driver.display())]);
        command.args(["--scenario", scenario, "--spec-version", revision, "--timeout", LIMIT]);
        command.arg("--output-dir").arg(&place).stdin(Stdio::null());
        let output = command.output().context("Node did not start")?;
        let said = [output.stdout, output.stderr].concat();
        fs::write(place.join("said.txt"), &said)
            .with_context(|| format!("cannot write into {}", place.display()))?;
        let passed = verdict(output.status.code(), &String::from_utf8_lossy(&said))
            .with_context(|| format!("{revision} {scenario}: see {}", place.display()))?;
        Ok(Verdict { scenario: scenario.to_owned(), passed })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.node);
        // Half of a scenario's time is the loading of the suite.
        command.env("NODE_COMPILE_CACHE", self.results.with_extension("cache"));
        command.arg(&self.script).current_dir(environment::root());
        command
    }
}

/// Both what the suite says and how it ends: a suite that is broken must not look like a client
/// that fails as expected.
fn verdict(code: Option<i32>, said: &str) -> Result<bool> {
    match (code, said.contains("OVERALL: PASSED"), said.contains("OVERALL: FAILED")) {
        (Some(0), true, false) => Ok(true),
        (Some(1), false, true) => Ok(false),
        _ => bail!("the suite did not come to a verdict (exit code {code:?})"),
    }
}

fn target() -> Result<PathBuf> {
    Ok(environment::target()?.unwrap_or_else(|| environment::root().join("target")))
}

fn results() -> Result<PathBuf> {
    Ok(target()?.join("conformance"))
}

#[cfg(test)]
mod tests;
