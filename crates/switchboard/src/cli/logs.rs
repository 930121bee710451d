//! `switchboard logs`: what servers said.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::link::{self, Needs};
use super::out::{BOLD, DIM, Out};
use super::target::Scoped;
use super::test;
use crate::control::protocol::Follow;
use crate::control::{Ask, Said};

/// Show what servers wrote to standard error, what they logged, and what the hub remarked.
#[derive(Debug, Args)]
pub(super) struct Logs {
    /// Only these servers'.
    servers: Vec<String>,
    /// Go on with what comes, until stopped.
    #[arg(long, short = 'F')]
    follow: bool,
    /// So many lines of each server.
    #[arg(long, short = 'n', value_name = "LINES", default_value_t = 100)]
    lines: usize,
    #[command(flatten)]
    scope: Scoped,
    /// The files to read, instead of asking the running hub.
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Logs {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let servers = self.scope.targets(&self.servers);
        let needs = Needs::of(&servers);
        let follow = if self.follow { Follow::Yes } else { Follow::No };
        let (mut said_any, mut failure) = (false, None);
        let ask = Ask::Logs { servers, lines: self.lines, follow };
        link::ask(out, &self.files, &needs, ask, |said| match said {
            Said::Log { server, source, text } => {
                said_any = true;
                out.json_line(&json!({ "server": server, "source": source, "text": text }));
                out.line(format!("{BOLD}{server}{BOLD:#} {DIM}{source:>7}{DIM:#} {text}"));
            }
            Said::Waiting(waiting) => out.note(test::still(&waiting)),
            Said::Failed(failed) => failure = Some(failed),
            _ => {}
        })?;
        if let Some(failure) = failure {
            return Err(link::failed(&failure));
        }
        if !said_any {
            out.note("Nothing was said.");
        }
        Ok(ExitCode::SUCCESS)
    }
}
