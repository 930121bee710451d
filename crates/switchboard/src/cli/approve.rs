//! `switchboard approve`: an administrator's word that a command line may run, after seeing all of it.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use hyper::Method;
use serde_json::{Value, json};
use switchboard_model::mask;

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
        match server.pointer("/approval/command").filter(|command| !command.is_null()) {
            Some(command) => {
                out.note(format!("{BOLD}{}{BOLD:#} would run, word by word", text("/name")));
                shown(command).iter().for_each(|line| out.note(format!("  {line}")));
            }
            None => {
                out.json(&server);
                out.line(format!("{BOLD}{}{BOLD:#} is approved already.", text("/name")));
                return Ok(ExitCode::SUCCESS);
            }
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

/// All that would run, a line for each word, so that none can be taken for two or for another. Whoever
/// wrote it cannot write over it either.
fn shown(command: &Value) -> Vec<String> {
    let list =
        |name: &str| command.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value| mask::visible(value.as_str().unwrap_or_default());
    let words = list("words");
    let mut lines: Vec<String> = words
        .iter()
        .enumerate()
        .map(|(at, word)| {
            format!("{} {}", if at == 0 { "command  " } else { "argument " }, text(word))
        })
        .collect();
    if let Some(cwd) = command.get("cwd").filter(|cwd| cwd.is_string()) {
        lines.push(format!("directory {}", text(cwd)));
    }
    for variable in list("env") {
        let (name, value) = (text(&variable["name"]), &variable["value"]);
        lines.push(match value.is_string() {
            true => format!("variable  {name} = {}", text(value)),
            false => format!("variable  {name}, whose value is sealed and not shown"),
        });
    }
    lines
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_seen_and_none_hides_another() {
        let command = json!({
            "words": ["npx", "-y", "a1b2c3d4e5f6a7b8c9d0e1f2", "\u{1b}[2K\u{1b}[1Gls", "a b\n"],
            "cwd": "/tmp/evil",
            "env": [
                {"name": "KEY", "value": null, "sealed": true},
                {"name": "T", "value": "${T}", "sealed": false},
            ],
        });
        let lines = [
            "command   npx",
            "argument  -y",
            "argument  a1b2c3d4e5f6a7b8c9d0e1f2",
            "argument  \\u{1b}[2K\\u{1b}[1Gls",
            "argument  a b\\n",
            "directory /tmp/evil",
            "variable  KEY, whose value is sealed and not shown",
            "variable  T = ${T}",
        ];
        assert_eq!(shown(&command), lines);
    }
}
