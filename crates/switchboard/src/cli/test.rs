//! `switchboard test`: whether servers really work.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::link::{self, Needs};
use super::out::{BAD, DIM, GOOD, Out, count};
use super::progress::Progress;
use super::target;
use crate::control::protocol::{ServerReport, Waiting};
use crate::control::{Ask, Said};

/// Connect to servers and say whether they work.
///
/// Really connects: through the running hub where there is one, else from here. A server that takes
/// long is waited for, and every ten seconds it is said what for.
#[derive(Debug, Args)]
pub(super) struct Test {
    /// The servers to test.
    #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "SERVER")]
    servers: Vec<String>,
    /// Test every declared server.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    scope: target::Scoped,
    /// The files to read, instead of asking the running hub.
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Test {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let servers = self.scope.targets(&self.servers);
        let mut reports: Vec<ServerReport> = Vec::new();
        let mut failure = None;
        let mut progress = Progress::start(out, &waiting_for(&self.servers));
        let needs = Needs::of(&servers);
        link::ask(out, &self.files, &needs, Ask::Test { servers }, |said| match said {
            Said::Server(report) => {
                progress.above(&shown(&report));
                reports.push(*report);
            }
            Said::Waiting(waiting) => progress.above(&still(&waiting)),
            Said::Failed(failed) => failure = Some(failed),
            _ => {}
        })?;
        progress.end();
        if let Some(failure) = failure {
            return Err(link::failed(&failure));
        }
        reports.sort_by(|a, b| (&a.server, &a.scope).cmp(&(&b.server, &b.scope)));
        out.json(&reports);
        let good = reports.iter().filter(|report| report.ok || report.state == "disabled").count();
        if reports.is_empty() {
            out.line("No servers are declared. Add one with `switchboard add NAME COMMAND…`.");
        } else if reports.len() > 1 {
            out.line(format!("{good} of {} work.", count(reports.len(), "server")));
        }
        Ok(if good == reports.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn waiting_for(servers: &[String]) -> String {
    match servers {
        [] => "connecting to every server".to_owned(),
        servers => format!("connecting to {}", servers.join(", ")),
    }
}

/// What is still waited for.
pub(super) fn still(waiting: &Waiting) -> String {
    let log = waiting.log.as_ref().map(|log| format!("\n    {log}")).unwrap_or_default();
    let seconds = waiting.seconds;
    format!("{DIM}… {}: {} ({seconds:.0} s){log}{DIM:#}", waiting.server, waiting.sentence)
}

/// How a server stands: one line if it works, and why and what to do if not.
pub(super) fn shown(report: &ServerReport) -> String {
    let name = named(report);
    if report.ok {
        let title = report.title.as_deref().unwrap_or("");
        let revision = report.revision.as_deref().unwrap_or("");
        let era = report.era.as_deref().unwrap_or("");
        let took = report.seconds.map(|s| format!(", {s:.1} s")).unwrap_or_default();
        return format!(
            "{GOOD}✓{GOOD:#} {name}  {title}, {revision} ({era}), {}{took}",
            count(report.tools, "tool")
        );
    }
    if report.state == "disabled" {
        return format!("{DIM}- {name}  {}{DIM:#}", report.sentence);
    }
    let mut text = format!("{BAD}✗{BAD:#} {name}  {}", report.sentence);
    if let Some(remedy) = &report.remedy {
        text.push_str(&format!("\n    {remedy}"));
    }
    for line in report.log.iter().rev().take(8).rev() {
        text.push_str(&format!("\n    {DIM}│ {line}{DIM:#}"));
    }
    text
}

pub(super) fn named(report: &ServerReport) -> String {
    match report.scope.as_str() {
        "global" => report.server.clone(),
        scope => format!("{} ({scope})", report.server),
    }
}
