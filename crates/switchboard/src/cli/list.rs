//! `switchboard list`: what is declared, where, and who may use it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use switchboard_model::{ServerSpec, Standing};

use super::out::{DIM, Out, count, table};
use super::{declared, report};
use crate::control::DeclaredReport;

/// List the declared servers, where each is declared, and who may use it.
///
/// As the running hub has them; where none runs, as `up` would read them from the files and the store.
#[derive(Debug, Args)]
pub(super) struct List {
    /// The files to read, and nothing else, instead of what `up` would run.
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// List the servers that are known by name alone, which `add NAME` takes.
    #[arg(long)]
    catalog: bool,
}

impl List {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        if self.catalog {
            return Ok(catalog(out));
        }
        let declared = declared::read(&self.files)?;
        let rows = &declared.servers;
        out.json(rows);
        if rows.is_empty() {
            out.line("No servers are declared. Add one with `switchboard add NAME COMMAND…`.");
        } else {
            out.line(shown(rows));
        }
        if declared.errors + declared.warnings > 0 {
            let summary = report::counted(declared.errors, declared.warnings);
            out.note(format!("\n{summary}; `switchboard check` shows what and where."));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What is declared, a line each.
pub(super) fn shown(rows: &[DeclaredReport]) -> String {
    table(&["NAME", "TRANSPORT", "TARGET", "USED BY", "DECLARED IN"], rows.iter().map(cells))
}

fn cells(row: &DeclaredReport) -> Vec<String> {
    let mut name = row.name.clone();
    if row.scope != "global" {
        name.push_str(&format!(" ({})", row.scope));
    }
    if row.standing == Standing::Internal.as_str() {
        name.push_str(" [internal]");
    }
    if !row.enabled {
        name.push_str(" [disabled]");
    }
    if row.approved == Some(false) {
        name.push_str(" [not approved]");
    }
    let mut users = row.agents.clone();
    if row.by_default {
        users.push("(default)".to_owned());
    }
    let users = if users.is_empty() { "nobody".to_owned() } else { users.join(", ") };
    let place = match (&row.file, row.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, _) if row.shadowed => "store, behind the file".to_owned(),
        (None, _) => "store".to_owned(),
    };
    vec![name, row.transport.clone(), row.target.clone(), users, place]
}

fn catalog(out: &Out) -> ExitCode {
    let specs: Vec<ServerSpec> = switchboard_config::catalog::all().collect();
    let needs = |spec: &ServerSpec| -> Vec<String> {
        let templates = spec.templates();
        templates.iter().flat_map(|t| t.variables()).map(|(name, _)| name.to_owned()).collect()
    };
    out.json(
        &specs
            .iter()
            .map(|spec| {
                serde_json::json!({
                    "name": spec.name.as_str(),
                    "category": spec.category,
                    "description": spec.description,
                    "target": spec.target(),
                    "variables": needs(spec),
                })
            })
            .collect::<Vec<_>>(),
    );
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let rows = specs.iter().map(|spec| {
        vec![
            spec.name.to_string(),
            text(&spec.category),
            text(&spec.description),
            needs(spec).join(", "),
        ]
    });
    out.line(table(&["NAME", "CATEGORY", "DESCRIPTION", "NEEDS"], rows));
    out.line(format!(
        "\n{DIM}{}; add one with `switchboard add NAME`.{DIM:#}",
        count(specs.len(), "entry").replace("entrys", "entries")
    ));
    ExitCode::SUCCESS
}
