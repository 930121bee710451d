//! `switchboard call`: one tool, once.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;

use super::link::{self, Needs};
use super::out::{DIM, Out};
use super::progress::Progress;
use super::target::Scoped;
use super::test;
use crate::control::{Ask, Said};

/// Call a tool and print its result.
///
/// The exit status is 1 if the tool says that it failed.
#[derive(Debug, Args)]
pub(super) struct Call {
    /// The server.
    server: String,
    /// The tool, by the server's own name for it.
    tool: String,
    /// The arguments: a JSON object, `@FILE`, or `-` for standard input.
    #[arg(value_name = "JSON", conflicts_with = "args")]
    given: Option<String>,
    /// The same, by name.
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    #[command(flatten)]
    scope: Scoped,
    /// The files to read, instead of asking the running hub.
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Call {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let arguments = self.arguments()?;
        let server = self.scope.target(&self.server);
        let needs = Needs::of(std::slice::from_ref(&server));
        let ask = Ask::Call { server, tool: self.tool.clone(), arguments };
        let (mut result, mut failure) = (None, None);
        let mut progress = Progress::start(out, &format!("{} {}", self.server, self.tool));
        link::ask(out, &self.files, &needs, ask, |said| match said {
            Said::Result { result: text } => result = Some(text),
            Said::Progress { progress: done, total, message } => {
                progress.now(&how_far(done, total, message.as_deref()));
            }
            Said::Waiting(waiting) => progress.above(&test::still(&waiting)),
            Said::Failed(failed) => failure = Some(failed),
            _ => {}
        })?;
        progress.end();
        if let Some(failure) = failure {
            return Err(link::failed(&failure));
        }
        let result = result.context("the call ended without a result")?;
        Ok(print(&result, out))
    }

    fn arguments(&self) -> Result<String> {
        let mut text = String::new();
        let given = self.given.as_deref().or(self.args.as_deref()).unwrap_or("{}");
        match (given, given.strip_prefix('@')) {
            ("-", _) => {
                std::io::stdin().read_to_string(&mut text).context("standard input is not text")?;
            }
            (_, Some(path)) => {
                text =
                    std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
            }
            (given, None) => text.push_str(given),
        }
        Ok(text)
    }
}

fn how_far(done: f64, total: Option<f64>, message: Option<&str>) -> String {
    let message = message.unwrap_or("working");
    match total {
        Some(total) => format!("{message} ({done} of {total})"),
        None => format!("{message} ({done})"),
    }
}

/// Text as text, everything else by a line about it; a script gets all of it as it came.
fn print(result: &str, out: &Out) -> ExitCode {
    if out.json {
        out.raw(result);
    }
    let value: Value = serde_json::from_str(result).unwrap_or_default();
    let blocks = value["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    for block in blocks {
        out.line(shown(block));
    }
    if blocks.is_empty() && !value["structuredContent"].is_null() {
        out.line(serde_json::to_string_pretty(&value["structuredContent"]).unwrap_or_default());
    }
    match value["isError"].as_bool() {
        Some(true) => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}

fn shown(block: &Value) -> String {
    let text = |key: &str| block[key].as_str().unwrap_or("").to_owned();
    match block["type"].as_str() {
        Some("text") => text("text"),
        Some(kind @ ("image" | "audio")) => {
            let bytes = text("data").len() / 4 * 3;
            format!("{DIM}[{kind}, {}, about {bytes} bytes]{DIM:#}", text("mimeType"))
        }
        Some("resource_link") => format!("{DIM}[link]{DIM:#} {}", text("uri")),
        Some("resource") => {
            let resource = &block["resource"];
            let uri = resource["uri"].as_str().unwrap_or("");
            format!("{DIM}[resource {uri}]{DIM:#}\n{}", resource["text"].as_str().unwrap_or(""))
        }
        _ => block.to_string(),
    }
}
