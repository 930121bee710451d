//! `switchboard list`: what is declared, where, and who may use it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use switchboard_config::{Loaded, Loader};
use switchboard_model::{
    Scope, SecretTemplate, ServerKey, ServerSpec, Standing, SystemClock, Transport,
};

use super::out::{DIM, Out, count, table};
use super::report;

/// List the declared servers, where each is declared, and who may use it.
#[derive(Debug, Args)]
pub(super) struct List {
    /// The files to read, instead of those that `up` would load.
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// List the servers that are known by name alone, which `add NAME` takes.
    #[arg(long)]
    catalog: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    scope: String,
    /// `internal` or `external`.
    standing: &'static str,
    transport: &'static str,
    /// Secrets masked.
    target: String,
    enabled: bool,
    description: Option<String>,
    category: Option<String>,
    /// Names only; the values are nobody's business.
    env: Vec<String>,
    headers: Vec<String>,
    variables: Vec<String>,
    agents: Vec<String>,
    by_default: bool,
    file: Option<String>,
    line: Option<usize>,
}

impl List {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        if self.catalog {
            return Ok(catalog(out));
        }
        let loaded = Loader::new(super::selection(&self.files), Arc::new(SystemClock)).load();
        let servers = loaded.desired.servers.iter();
        let rows: Vec<Row> = servers.map(|(key, spec)| row(key, spec, &loaded)).collect();
        out.json(&rows);
        if rows.is_empty() {
            out.line("No servers are declared. Add one with `switchboard add NAME COMMAND…`.");
        } else {
            out.line(table(
                &["NAME", "TRANSPORT", "TARGET", "USED BY", "DECLARED IN"],
                rows.iter().map(cells),
            ));
        }
        if !loaded.problems.is_empty() {
            let summary = report::summary(&loaded.problems);
            out.note(format!("\n{summary}; `switchboard check` shows what and where."));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn row(key: &ServerKey, spec: &ServerSpec, loaded: &Loaded) -> Row {
    let desired = &loaded.desired;
    let sees = |id| desired.servers_of(id, None).contains(&key);
    let agents = desired.agents.keys().filter(|id| sees(id)).map(ToString::to_string).collect();
    let origin = loaded.origins.get(key);
    let names =
        |map: &std::collections::BTreeMap<String, SecretTemplate>| map.keys().cloned().collect();
    let (env, headers) = match &spec.transport {
        Transport::Stdio(stdio) => (names(&stdio.env), Vec::new()),
        Transport::Http(http) => (Vec::new(), names(&http.headers)),
    };
    let mut variables: Vec<String> = spec
        .templates()
        .iter()
        .flat_map(|template| template.variables())
        .map(|(name, _)| name.to_owned())
        .collect();
    variables.sort();
    variables.dedup();
    Row {
        name: key.name.to_string(),
        scope: key.scope.to_string(),
        standing: spec.standing.as_str(),
        transport: spec.transport.as_str(),
        target: spec.target(),
        enabled: spec.enabled,
        description: spec.description.clone(),
        category: spec.category.clone(),
        env,
        headers,
        variables,
        agents,
        by_default: key.scope == Scope::Global && desired.defaults.contains(&key.name),
        file: origin.map(|origin| origin.place.source.path().display().to_string()),
        line: origin.map(|origin| origin.place.line_column().0),
    }
}

fn cells(row: &Row) -> Vec<String> {
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
    let mut users = row.agents.clone();
    if row.by_default {
        users.push("(default)".to_owned());
    }
    let users = if users.is_empty() { "nobody".to_owned() } else { users.join(", ") };
    let place = match (&row.file, row.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => String::new(),
    };
    vec![name, row.transport.to_owned(), row.target.clone(), users, place]
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
