//! What is declared: as the running hub has it, or, where none runs, as `up` would read it from the
//! files and the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use switchboard_config::Loader;
use switchboard_model::SystemClock;
use switchboard_rest::port::Hub as _;

use super::link;
use crate::app::OnPaper;
use crate::control::{self, Ask, DeclaredReport, Said};
use crate::storage;

/// What is declared.
#[derive(Debug, Default)]
pub(super) struct Everything {
    pub(super) servers: Vec<DeclaredReport>,
    pub(super) errors: usize,
    pub(super) warnings: usize,
}

/// Reads it; with named files, those alone.
pub(super) fn read(files: &[PathBuf]) -> Result<Everything> {
    let (mut found, mut failure) = (Everything::default(), None);
    let hear = |said| match said {
        Said::Declared(server) => found.servers.push(*server),
        Said::Problems { errors, warnings } => (found.errors, found.warnings) = (errors, warnings),
        Said::Failed(failed) => failure = Some(failed),
        _ => {}
    };
    let answered = match files {
        [] => link::ask_hub(&Ask::List, hear)?,
        _ => None,
    };
    if let Some(failure) = failure {
        return Err(link::failed(&failure));
    }
    if answered.is_none() {
        found = on_paper(files)?;
    }
    let here = std::env::current_dir().unwrap_or_default();
    for server in &mut found.servers {
        server.file = server.file.take().map(|file| short(&file, &here));
    }
    Ok(found)
}

/// What the files and the store declare; with named files, those alone.
pub(super) async fn paper(files: &[PathBuf]) -> Result<OnPaper> {
    let clock = Arc::new(SystemClock);
    let loaded = Loader::new(super::selection(files), clock.clone()).load();
    let store = match files {
        [] => storage::existing(&loaded.desired.hub, super::places().data, clock).await?,
        _ => None,
    };
    Ok(OnPaper::read(loaded, store).await?)
}

fn on_paper(files: &[PathBuf]) -> Result<Everything> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    runtime.block_on(async {
        let paper = paper(files).await?;
        let declared = paper.declared();
        let servers = control::rows(&declared, paper.store());
        let errors = declared.problems.iter().filter(|problem| problem.is_error()).count();
        let warnings = declared.problems.len() - errors;
        if let Some(store) = paper.store() {
            store.close().await?;
        }
        Ok(Everything { servers, errors, warnings })
    })
}

/// Below the working directory, relative to it.
fn short(file: &str, here: &Path) -> String {
    let path = Path::new(file);
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
