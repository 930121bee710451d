//! `switchboard enable` and `disable`: in the file that declares the server, or in the store.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use hyper::Method;
use serde_json::{Value, json};
use switchboard_config::Loader;
use switchboard_config::edit::{self, Change, EditError};
use switchboard_model::{ServerName, SystemClock};

use super::out::{GOOD, Out};
use super::{api, applied};

/// Switch a server on.
#[derive(Debug, Args)]
pub(super) struct Enable {
    #[command(flatten)]
    server: Which,
}

/// Switch a server off: nothing of it runs until it is switched on again.
#[derive(Debug, Args)]
pub(super) struct Disable {
    #[command(flatten)]
    server: Which,
}

#[derive(Debug, Args)]
struct Which {
    /// What it is called; or its id, as `switchboard list` shows it.
    name: String,
}

#[derive(Clone, Copy)]
enum Power {
    On,
    Off,
}

impl Enable {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        switch(&self.server.name, Power::On, out)
    }
}

impl Disable {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        switch(&self.server.name, Power::Off, out)
    }
}

fn switch(name: &str, power: Power, out: &Out) -> Result<ExitCode> {
    let (word, act) = match power {
        Power::On => ("on", "enable"),
        Power::Off => ("off", "disable"),
    };
    if let Some(path) = in_files(name, power)? {
        out.line(format!("{GOOD}Switched {word}{GOOD:#} `{name}` in {}.", path.display()));
        let report = applied::apply(out, name, act, &[&path])?;
        let state = report.map(|report| report.state);
        out.json(&json!({"name": name, "enabled": matches!(power, Power::On), "file": path, "state": state}));
        return Ok(ExitCode::SUCCESS);
    }
    let path = format!("/api/v1/servers/{}/{act}", api::part(name));
    let server = api::request(&Method::POST, &path, None)?;
    out.json(&server);
    let message = server.pointer("/state/message").and_then(Value::as_str).unwrap_or_default();
    out.line(format!("{GOOD}Switched {word}{GOOD:#} `{name}`. {message}"));
    Ok(ExitCode::SUCCESS)
}

/// The file in which it was switched, if one declares it.
fn in_files(name: &str, power: Power) -> Result<Option<PathBuf>> {
    let Ok(name) = ServerName::parse(name) else { return Ok(None) };
    let loaded = Loader::new(super::selection(&[]), Arc::new(SystemClock)).load();
    let change = [Change::Enable { name, enabled: matches!(power, Power::On) }];
    for file in &loaded.files {
        match edit::edit_all(&file.path, &change) {
            Ok(_) => return Ok(Some(file.path.clone())),
            Err(EditError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
