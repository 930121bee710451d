//! `switchboard tools`: what servers offer.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::link::{self, Needs};
use super::out::{BOLD, DIM, Out, count, table};
use super::progress::Progress;
use super::target::Scoped;
use super::test;
use crate::control::protocol::{ServerReport, ToolReport};
use crate::control::{Ask, Said};

/// List the tools of servers, or show one with its arguments.
#[derive(Debug, Args)]
pub(super) struct Tools {
    /// Only this server's.
    server: Option<String>,
    /// Show this tool of it, whole.
    #[arg(requires = "server")]
    tool: Option<String>,
    #[command(flatten)]
    scope: Scoped,
    /// The files to read, instead of asking the running hub.
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Tools {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let servers = self.scope.targets(self.server.as_slice());
        let needs = Needs::of(&servers);
        let (mut reports, mut tools, mut failure) = (Vec::new(), Vec::new(), None);
        let mut progress = Progress::start(out, "asking for tools");
        link::ask(out, &self.files, &needs, Ask::Tools { servers }, |said| match said {
            Said::Server(report) => reports.push(*report),
            Said::Tool(tool) => tools.push(tool),
            Said::Waiting(waiting) => progress.above(&test::still(&waiting)),
            Said::Failed(failed) => failure = Some(failed),
            _ => {}
        })?;
        progress.end();
        if let Some(failure) = failure {
            return Err(link::failed(&failure));
        }
        match &self.tool {
            Some(name) => whole(&tools, name, out),
            None => list(&reports, &tools, out),
        }
    }
}

fn list(reports: &[ServerReport], tools: &[ToolReport], out: &Out) -> Result<ExitCode> {
    let rows: Vec<Value> = tools.iter().map(as_json).collect();
    out.json(&rows);
    if !tools.is_empty() {
        out.line(table(&["SERVER", "TOOL", "HINTS", "DESCRIPTION"], tools.iter().map(cells)));
    }
    let silent = reports.iter().filter(|report| !report.ok && report.state != "disabled");
    let silent: Vec<String> = silent.map(test::shown).collect();
    let servers = reports.iter().filter(|report| report.ok).count();
    out.line(format!(
        "{DIM}{} of {}.{DIM:#}",
        count(tools.len(), "tool"),
        count(servers, "connected server")
    ));
    for text in &silent {
        out.note(text);
    }
    Ok(if silent.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cells(tool: &ToolReport) -> Vec<String> {
    let first = tool.description.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
    let short: String = first.chars().take(90).collect();
    let cut = if short.len() < first.len() { "…" } else { "" };
    let stale = tool.stale.then(|| "stale".to_owned());
    let hints: Vec<String> = tool.hints.iter().cloned().chain(stale).collect();
    vec![tool.server.clone(), tool.tool.clone(), hints.join(", "), format!("{short}{cut}")]
}

fn as_json(tool: &ToolReport) -> Value {
    let definition: Value = serde_json::from_str(&tool.definition).unwrap_or_default();
    json!({
        "server": tool.server,
        "tool": tool.tool,
        "stale": tool.stale,
        "definition": definition,
    })
}

fn whole(tools: &[ToolReport], name: &str, out: &Out) -> Result<ExitCode> {
    let Some(tool) = tools.iter().find(|tool| tool.tool == name) else {
        let names: Vec<&str> = tools.iter().map(|tool| tool.tool.as_str()).collect();
        bail!("there is no tool `{name}`; there are {}", names.join(", "));
    };
    let value = as_json(tool);
    out.json(&value);
    out.line(format!("{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}", tool.tool, tool.hints.join(", ")));
    out.line(format!("{}\n", tool.description.trim()));
    let schema = &value["definition"]["inputSchema"];
    let arguments = arguments(schema);
    if arguments.is_empty() {
        out.line("It takes no arguments.");
    } else {
        out.line(table(&["ARGUMENT", "TYPE", "", "DESCRIPTION"], arguments));
    }
    Ok(ExitCode::SUCCESS)
}

fn arguments(schema: &Value) -> Vec<Vec<String>> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let row = |(name, property): (&String, &Value)| {
        let kind = match &property["type"] {
            Value::String(kind) => kind.clone(),
            Value::Array(kinds) => {
                kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
            }
            _ => String::new(),
        };
        let needed = if required.contains(&name.as_str()) { "required" } else { "" };
        let about = property["description"].as_str().unwrap_or("").to_owned();
        vec![name.clone(), kind, needed.to_owned(), about]
    };
    properties.map(row).collect()
}
