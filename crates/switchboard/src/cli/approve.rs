//! `switchboard approve`: an administrator's word that a command line may run, after seeing all of it.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use hyper::Method;
use serde_json::{Value, json};

use super::api;
use super::out::{BOLD, GOOD, Out};

/// Let a server's command line run, once you have seen it.
///
/// Servers that were added over the API, from the catalog or by other people start no command before
/// somebody has approved that very command line.
#[derive(Debug, Args)]
pub(super) struct Approve {
    /// The server, by its name or its id.
    server: String,
    /// Do not ask; for scripts that have shown the command line themselves.
    #[arg(long)]
    yes: bool,
}

impl Approve {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let path = format!("/api/v1/servers/{}", api::part(&self.server));
        let server = api::get(&path)?;
        let text = |at: &str| server.pointer(at).and_then(Value::as_str).unwrap_or_default();
        let hash = text("/approval/hash");
        if hash.is_empty() {
            bail!("`{}` has no command line to approve", self.server);
        }
        let env = server.get("env").and_then(Value::as_array).cloned().unwrap_or_default();
        let env: Vec<&str> = env.iter().filter_map(Value::as_str).collect();
        out.note(format!("{BOLD}{}{BOLD:#} would run", text("/name")));
        out.note(format!("  {}", text("/target")));
        if !env.is_empty() {
            out.note(format!("  with {} in its environment", env.join(", ")));
        }
        if !self.yes && !sure()? {
            bail!("nothing was approved");
        }
        let body = json!({"hash": hash});
        let server = api::request(&Method::POST, &format!("{path}/approve"), Some(&body))?;
        out.json(&server);
        let message = server.pointer("/state/message").and_then(Value::as_str).unwrap_or_default();
        out.line(format!("{GOOD}Approved.{GOOD:#} {message}"));
        Ok(ExitCode::SUCCESS)
    }
}

fn sure() -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!("there is nobody to ask; say `--yes` if the command line was looked at");
    }
    let _ = std::io::Write::write_all(&mut anstream::stderr(), b"May it run? [y/N] ");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
