//! The suite against our client, scenario by scenario.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use super::checks::Checks;
use super::{Side, Suite, Verdict, compare, each, expected, report};

/// The revisions with the number of scenarios that each requires of a client.
pub(super) const REVISIONS: [(&str, usize); 2] = [("2025-11-25", 18), ("2026-07-28", 32)];
/// Where the expected failures are.
pub(super) const EXPECTED: &str = "crates/upstream/conformance";
/// For one scenario, in milliseconds; a client that hangs must not hold up everything.
const LIMIT: &str = "60000";
const DRIVER: &str = "upstream-test-server";

/// What is not as the lists say.
pub(super) fn run(suite: &Suite) -> Result<Vec<String>> {
    let driver = suite.program(DRIVER)?;
    let mut wrong = Vec::new();
    for (revision, count) in REVISIONS {
        let scenarios = suite.required(Side::Client, revision, count)?;
        let verdicts = each(&scenarios, |scenario| one(suite, &driver, revision, scenario))?;
        let outcome = compare(&verdicts, &expected(EXPECTED, revision)?);
        wrong.extend(report(&format!("our client at {revision}"), count, outcome));
    }
    Ok(wrong)
}

fn one(suite: &Suite, driver: &Path, revision: &str, scenario: &str) -> Result<Verdict> {
    let place = suite.results.join(revision).join(scenario.replace('/', "-"));
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    let mut command = suite.command();
    // The suite takes the client's command as one text and splits it at spaces.
    command.args(["client", "--command", &format!("{} conformance", driver.display())]);
    command.args(["--scenario", scenario, "--spec-version", revision, "--timeout", LIMIT]);
    command.arg("--output-dir").arg(&place).stdin(Stdio::null());
    let output = command.output().context("Node did not start")?;
    let said = [output.stdout, output.stderr].concat();
    fs::write(place.join("said.txt"), &said)
        .with_context(|| format!("cannot write into {}", place.display()))?;
    let passed = verdict(output.status.code(), &String::from_utf8_lossy(&said))
        .with_context(|| format!("{revision} {scenario}: see {}", place.display()))?;
    let mut skipped = BTreeSet::new();
    for file in files(&place)? {
        skipped.extend(Checks::read(&file)?.skipped);
    }
    Ok(Verdict { scenario: scenario.to_owned(), passed, skipped })
}

/// The files with checks, however deep a scenario's name puts them.
fn files(place: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries =
        fs::read_dir(place).with_context(|| format!("cannot read {}", place.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read {}", place.display()))?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.ends_with("checks.json") {
            found.push(path);
        }
    }
    Ok(found)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_without_a_verdict_is_an_error() {
        let cases = [
            (Some(0), "✅ OVERALL: PASSED", Some(true)),
            (Some(1), "❌ OVERALL: FAILED", Some(false)),
            (Some(1), "no such scenario", None),
            (Some(0), "", None),
            (Some(1), "✅ OVERALL: PASSED", None),
            (None, "❌ OVERALL: FAILED", None),
        ];
        for (code, said, expected) in cases {
            assert_eq!(verdict(code, said).ok(), expected, "{code:?} {said}");
        }
    }

    #[test]
    fn the_committed_lists_hold_only_authorization() {
        for (revision, _) in REVISIONS {
            let names = expected(EXPECTED, revision).expect("it is committed").failing;
            assert!(names.iter().all(|name| name.starts_with("auth/")), "{revision}: {names:?}");
        }
    }
}
