//! What is declared: as the running hub has it, or, where none runs, as `up` would read it from the
//! files and the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use switchboard_config::{Loaded, Loader};
use switchboard_model::{Problem, SystemClock};
use switchboard_rest::port::Hub as _;
use tokio::runtime::Runtime;

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

/// What is declared where no hub runs.
#[derive(Debug)]
pub(super) struct WithoutHub {
    pub(super) servers: Vec<DeclaredReport>,
    pub(super) problems: Vec<Problem>,
    /// Why the store's servers are not among them.
    pub(super) unread: Option<anyhow::Error>,
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
    found.servers = shortened(found.servers);
    Ok(found)
}

/// What the files and the store declare; with named files, those alone.
pub(super) async fn paper(files: &[PathBuf]) -> Result<OnPaper> {
    let (clock, loaded) = (Arc::new(SystemClock), loaded(files));
    let store = match files {
        [] => storage::existing(&loaded.desired.hub, super::places().data, clock).await?,
        _ => None,
    };
    Ok(OnPaper::read(loaded, store).await?)
}

/// What `up` would run. Where the store cannot be read, what the files declare, and why that is all.
pub(super) fn without_hub() -> Result<WithoutHub> {
    runtime()?.block_on(async {
        let (paper, unread) = match paper(&[]).await {
            Ok(paper) => (paper, None),
            Err(error) => (OnPaper::read(loaded(&[]), None).await?, Some(error)),
        };
        let (servers, problems) = told(&paper).await?;
        Ok(WithoutHub { servers: shortened(servers), problems, unread })
    })
}

fn on_paper(files: &[PathBuf]) -> Result<Everything> {
    runtime()?.block_on(async {
        let (servers, problems) = told(&paper(files).await?).await?;
        let errors = problems.iter().filter(|problem| problem.is_error()).count();
        Ok(Everything { servers, errors, warnings: problems.len() - errors })
    })
}

async fn told(paper: &OnPaper) -> Result<(Vec<DeclaredReport>, Vec<Problem>)> {
    let declared = paper.declared();
    let servers = control::rows(&declared, paper.store());
    if let Some(store) = paper.store() {
        store.close().await?;
    }
    Ok((servers, declared.problems.clone()))
}

fn loaded(files: &[PathBuf]) -> Loaded {
    Loader::new(super::selection(files), Arc::new(SystemClock)).load()
}

fn runtime() -> Result<Runtime> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().context("the runtime did not start")
}

fn shortened(mut servers: Vec<DeclaredReport>) -> Vec<DeclaredReport> {
    let here = std::env::current_dir().unwrap_or_default();
    for server in &mut servers {
        server.file = server.file.take().map(|file| short(&file, &here));
    }
    servers
}

/// Below the working directory, relative to it.
fn short(file: &str, here: &Path) -> String {
    let path = Path::new(file);
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
