//! `switchboard reconnect`: a new connection to a server of the running hub.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;

use super::link;
use super::out::Out;
use super::target::Scoped;
use super::test;
use crate::control::{Ask, Said};

/// Make the running hub connect to a server anew.
#[derive(Debug, Args)]
pub(super) struct Reconnect {
    /// The server.
    server: String,
    #[command(flatten)]
    scope: Scoped,
}

impl Reconnect {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let (mut report, mut failure) = (None, None);
        let ask = Ask::Reconnect { server: self.scope.target(&self.server) };
        let answered = link::ask_hub(&ask, |said| match said {
            Said::Server(found) => report = Some(*found),
            Said::Waiting(waiting) => out.note(test::still(&waiting)),
            Said::Failed(failed) => failure = Some(failed),
            _ => {}
        })?;
        if answered.is_none() {
            bail!("no hub runs; start one with `switchboard up`");
        }
        if let Some(failure) = failure {
            return Err(link::failed(&failure));
        }
        let Some(report) = report else { bail!("the server is no longer declared") };
        out.json(&report);
        out.line(test::shown(&report));
        Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
