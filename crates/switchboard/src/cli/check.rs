//! `switchboard check`: everything that is wrong with the configuration, in one go.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use switchboard_config::{Loaded, Loader, check, environment};
use switchboard_model::{Code, Problem, Severity, SystemClock};
use switchboard_rest::port::Hub as _;

use super::declared;
use super::out::{DIM, GOOD, Out, count};
use super::report::{self, ProblemJson};

/// Check configuration files and show every problem.
///
/// Without files, those that `up` would load are checked. The exit code is 1 if there is an error.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The files to check.
    files: Vec<PathBuf>,
    /// Take a variable that is not set for an error.
    #[arg(long)]
    strict: bool,
}

impl Check {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let mut loaded = Loader::new(super::selection(&self.files), Arc::new(SystemClock)).load();
        let missing = check::variables(&loaded.desired, &loaded.origins, &environment::variable);
        loaded.problems.extend(missing);
        if self.files.is_empty() {
            match beside_the_store(&loaded) {
                Ok(hidden) => loaded.problems.extend(hidden),
                Err(error) => out.note(format!("The store was not looked at: {error:#}.")),
            }
        }
        if self.strict {
            for problem in &mut loaded.problems {
                if problem.code == Code::MissingVariable {
                    problem.severity = Severity::Error;
                }
            }
        }
        let good = !loaded.problems.iter().any(|problem| problem.is_error());
        report::print(&loaded.problems, out);
        out.line(closing(&loaded, good));
        out.json(&json!({
            "ok": good,
            "files": loaded.files.iter().map(|file| json!({
                "path": file.path,
                "dialect": file.dialect.map(|dialect| dialect.as_str()),
                "servers": file.servers,
            })).collect::<Vec<_>>(),
            "servers": loaded.desired.servers.len(),
            "problems": ProblemJson::all(&loaded.problems),
        }));
        Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// What the files and the store say against each other, if there is a store.
fn beside_the_store(loaded: &Loaded) -> Result<Vec<Problem>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    runtime.block_on(async {
        let paper = declared::paper(&[]).await?;
        let mut problems = paper.declared().problems.clone();
        problems.retain(|problem| !loaded.problems.contains(problem));
        if let Some(store) = paper.store() {
            store.close().await?;
        }
        Ok(problems)
    })
}

fn closing(loaded: &Loaded, good: bool) -> String {
    if loaded.files.is_empty() && loaded.problems.is_empty() {
        return "No configuration was found here. \
                Begin with `switchboard add NAME COMMAND…`, or `switchboard import CLIENT`."
            .to_owned();
    }
    let files: Vec<String> = loaded
        .files
        .iter()
        .map(|file| {
            format!("  {} {DIM}({}){DIM:#}", file.path.display(), count(file.servers, "server"))
        })
        .collect();
    let servers = count(loaded.desired.servers.len(), "server");
    let summary = report::summary(&loaded.problems);
    let verdict = match good {
        true => format!("{GOOD}Good{GOOD:#}: {servers}, {summary}."),
        false => {
            format!("Not good: {summary}. What is wrong is left out, the rest ({servers}) is used.")
        }
    };
    files.into_iter().chain([verdict]).collect::<Vec<_>>().join("\n")
}
