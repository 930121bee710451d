//! Asking about agents and tokens: the running hub, or its store where none runs.

use std::sync::Arc;

use anyhow::{Context, Result};
use switchboard_config::{Loader, environment};
use switchboard_model::{Clock, SystemClock};
use switchboard_rest::port::Hub as _;
use switchboard_upstream::{Context as Making, Instance, Upstreams};
use tokio::sync::mpsc;

use super::link::{ask_hub, failed};
use crate::app::OnPaper;
use crate::control::protocol::PeopleAsk;
use crate::control::{Ask, Operations, Said};
use crate::storage;

/// Which store is asked where no hub runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// The one that is declared, made if need be.
    Any,
    /// One that there is; where there is none, nobody has anything to say.
    Existing,
}

/// Asks, and gathers what is said.
pub(super) fn ask(about: PeopleAsk) -> Result<Vec<Said>> {
    ask_of(Of::Any, about)
}

/// The same, of such a store.
pub(super) fn ask_of(store: Of, about: PeopleAsk) -> Result<Vec<Said>> {
    let ask = Ask::People(about);
    let mut heard = Vec::new();
    if ask_hub(&ask, |said| heard.push(said))?.is_none() {
        heard = ask_store(store, ask)?;
    }
    for said in &heard {
        if let Said::Failed(failure) = said {
            return Err(failed(failure));
        }
    }
    Ok(heard)
}

fn ask_store(store: Of, ask: Ask) -> Result<Vec<Said>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    runtime.block_on(async {
        let places = super::places();
        let loaded = Loader::new(super::selection(&[]), Arc::new(SystemClock)).load();
        let (spec, clock) = (&loaded.desired.hub, Arc::new(SystemClock));
        let store = match store {
            Of::Any => Some(storage::open(spec, places.data, clock).await?),
            Of::Existing => storage::existing(spec, places.data, clock).await?,
        };
        let Some(store) = store else { return Ok(Vec::new()) };
        // It has no servers and starts none.
        let nobody = Instance::current(&std::env::temp_dir());
        let upstreams = Upstreams::new(Making::new(Arc::new(environment::variable), nobody));
        let paper = OnPaper::read(loaded, Some(store.clone())).await?;
        let operations = Operations::new(upstreams, Arc::new(SystemClock));
        let operations = operations.with_store(store.clone(), paper.declared());
        let (say, mut told) = mpsc::channel(64);
        let mut heard = Vec::new();
        let listen = async {
            while let Some(said) = told.recv().await {
                heard.push(said);
            }
        };
        tokio::join!(operations.run(ask, say), listen);
        store.close().await?;
        Ok(heard)
    })
}

/// How long ago that was, roughly.
pub(super) fn ago(seconds: u64) -> String {
    let now = SystemClock.now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
    match now.saturating_sub(seconds) {
        0..60 => "just now".to_owned(),
        s @ 60..3600 => format!("{} min ago", s / 60),
        s @ 3600..86400 => format!("{} h ago", s / 3600),
        s => format!("{} days ago", s / 86400),
    }
}
