//! `switchboard remove`: a server and every assignment of it, taken out of the files.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use switchboard_config::Loader;
use switchboard_config::edit::{self, Change, EditError};
use switchboard_model::{ServerKey, ServerName, Standing, SystemClock};

use super::out::{GOOD, Out};
use super::{applied, diff};

/// Remove a server and every assignment of it.
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// What it is called.
    name: String,
    /// Only from this file, instead of from every one that `up` would load.
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show what would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

impl Remove {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let name = ServerName::parse(&self.name)
            .map_err(|why| anyhow::anyhow!("`{}` cannot be a server's name: {why}", self.name))?;
        let files: Vec<PathBuf> = self.file.iter().cloned().collect();
        let loaded = Loader::new(super::selection(&files), Arc::new(SystemClock)).load();
        let key = ServerKey::global(name.clone());
        let found = loaded.desired.servers.get(&key).map(|spec| spec.standing);
        if let (Some(Standing::Internal | Standing::Required), Some(origin)) =
            (found, loaded.origins.get(&key))
        {
            let manifest = origin.place.source.path().display();
            bail!("`{name}` is an internal server: take its manifest out of {manifest}");
        }
        let change = [Change::Remove { name: name.clone() }];
        let mut changed = Vec::new();
        let mut not_there = None;
        for file in &loaded.files {
            let edited = match self.dry_run {
                true => edit::preview(&file.path, &change),
                false => edit::edit_all(&file.path, &change),
            };
            match edited {
                Ok(edited) => {
                    let diff = diff::masked(&file.path, &edited);
                    changed.push((file.path.clone(), diff, edited.notes));
                }
                Err(error @ EditError::Missing { .. }) => not_there = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        if changed.is_empty() {
            match not_there {
                Some(error) => return Err(error.into()),
                None => bail!(
                    "there is no file to remove `{name}` from; `switchboard list` shows what is declared"
                ),
            }
        }
        for (path, diff, notes) in &changed {
            out.line(diff);
            let path = path.display();
            out.line(match self.dry_run {
                true => format!("Nothing was written to {path}: this is a dry run."),
                false => format!("{GOOD}Removed{GOOD:#} `{name}` from {path}."),
            });
            notes.iter().for_each(|note| out.note(format!("Note: {note}.")));
        }
        if !self.dry_run {
            applied::apply(out, name.as_str())?;
        }
        let files: Vec<_> = changed.iter().map(|(path, ..)| path).collect();
        out.json(&json!({ "name": name.as_str(), "files": files, "written": !self.dry_run }));
        Ok(ExitCode::SUCCESS)
    }
}
