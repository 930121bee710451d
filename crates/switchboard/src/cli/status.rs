//! `switchboard status`: whether a hub runs, and how its servers stand; without one, what is declared.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use switchboard_model::{Problem, mask};

use super::declared::{self, WithoutHub};
use super::out::{BAD, BOLD, DIM, Out, count, table};
use super::test::named;
use super::{link, list, report};
use crate::control::protocol::ServerReport;
use crate::control::{Ask, DeclaredReport, Said};

/// Show whether a hub runs, and how its servers stand.
///
/// Where no hub runs, it shows what `up` would run, from the files and the store, and the exit status is 1.
#[derive(Debug, Args)]
pub(super) struct Status {}

impl Status {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let (mut reports, mut problems, mut failure) = (Vec::new(), Vec::new(), None);
        let answered = link::ask_hub(&Ask::Status, |said| match said {
            Said::Server(report) => reports.push(*report),
            Said::Problem { severity, text } => problems.push((severity, text)),
            Said::Failed(failed) => failure = Some(failed),
            _ => {}
        })?;
        if let Some(failure) = failure {
            return Err(link::failed(&failure));
        }
        if answered.is_none() {
            return without_hub(out);
        }
        let told =
            |(severity, text): &(String, String)| json!({"severity": severity, "text": text});
        let told: Vec<Value> = problems.iter().map(told).collect();
        out.json(&json!({"running": true, "servers": reports, "problems": told}));
        for (severity, text) in &problems {
            let style = if severity == "error" { BAD } else { DIM };
            out.note(format!("{style}{severity}{style:#}: {}", mask::visible(text)));
        }
        if reports.is_empty() {
            out.line("The hub runs; no servers are declared.");
            return Ok(ExitCode::SUCCESS);
        }
        out.line(table(
            &["SERVER", "STATE", "TOOLS", "SPEAKS", "PID", "CHECKS", "WHAT"],
            reports.iter().map(cells),
        ));
        let good = reports.iter().filter(|report| report.ok).count();
        out.line(format!(
            "\n{DIM}{} of {} connected.{DIM:#}",
            good,
            count(reports.len(), "server")
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// What would run if one did.
fn without_hub(out: &Out) -> Result<ExitCode> {
    let WithoutHub { servers, problems, unread } = declared::without_hub()?;
    let told = |problem: &Problem| json!({"severity": problem.severity.as_str(), "text": problem.to_string()});
    let told: Vec<Value> = problems.iter().map(told).collect();
    let rows: Vec<Value> = servers.iter().map(idle).collect();
    let unread = unread.map(|error| format!("{error:#}"));
    out.json(&json!({"running": false, "servers": rows, "problems": told, "store_unread": unread}));
    report::print(&problems, out);
    if let Some(why) = &unread {
        out.note(format!(
            "{BAD}error{BAD:#}: the store cannot be read, so only the files are shown: {}",
            mask::visible(why)
        ));
    }
    match servers.as_slice() {
        [] => out.line("No servers are declared."),
        servers => out.line(list::shown(servers)),
    }
    out.line(format!("\n{BOLD}No hub runs.{BOLD:#} Start one with `switchboard up`."));
    Ok(ExitCode::FAILURE)
}

/// A server in the words of the running hub, as far as there is anything to say.
fn idle(row: &DeclaredReport) -> Value {
    let state = if row.enabled { "not_running" } else { "disabled" };
    json!({"server": row.name, "scope": row.scope, "ok": false, "state": state, "transport": row.transport,
        "target": row.target, "source": row.source, "file": row.file, "approved": row.approved})
}

fn cells(report: &ServerReport) -> Vec<String> {
    let what = match (&report.remedy, report.ok) {
        (_, true) => report.title.clone().unwrap_or_default(),
        (Some(remedy), false) => format!("{} To mend it, {remedy}.", report.sentence),
        (None, false) => report.sentence.clone(),
    };
    vec![
        named(report),
        report.state.clone(),
        format!("{}{}", report.tools, if report.stale { " (stale)" } else { "" }),
        report.revision.clone().unwrap_or_default(),
        report.pid.map(|pid| pid.to_string()).unwrap_or_default(),
        checks(&report.health),
        what,
    ]
}

/// The last checks as a picture: the higher, the slower.
fn checks(health: &[Result<f64, String>]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |check: &Result<f64, String>| match check {
        Ok(milliseconds) => {
            // A step for each tripling, from one millisecond on.
            let step = (milliseconds.max(1.0).ln() / 3.0_f64.ln()) as usize;
            BARS[step.min(BARS.len() - 1)]
        }
        Err(_) => '✗',
    };
    health.iter().rev().take(10).rev().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_as_a_picture() {
        let history = [Ok(0.2), Ok(4.0), Err("gone".to_owned()), Ok(100_000.0)];
        assert_eq!(checks(&history), "▁▂✗█");
        assert_eq!(checks(&[]), "");
    }
}
