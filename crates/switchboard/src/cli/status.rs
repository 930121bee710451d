//! `switchboard status`: whether a hub runs, and how its servers stand.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use switchboard_model::mask;

use super::link;
use super::out::{BAD, DIM, Out, count, table};
use super::test::named;
use crate::control::protocol::ServerReport;
use crate::control::{Ask, Said};

/// Show whether a hub runs, and how its servers stand.
///
/// The exit status is 1 if no hub runs.
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
        let told =
            |(severity, text): &(String, String)| json!({"severity": severity, "text": text});
        let told: Vec<Value> = problems.iter().map(told).collect();
        out.json(&json!({"running": answered.is_some(), "servers": reports, "problems": told}));
        if answered.is_none() {
            out.line("No hub runs. Start one with `switchboard up`; `switchboard list` shows what is declared.");
            return Ok(ExitCode::FAILURE);
        }
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
