//! How a command reaches servers: through the running hub, or by connections of its own, and says
//! which.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use switchboard_model::{Desired, Problem, ServerKey, SystemClock};
use switchboard_rest::port::Hub as _;
use switchboard_upstream::Upstreams;
use tokio::sync::mpsc;

use super::declared;
use super::out::{DIM, Out};
use crate::control::protocol::{Failure, Target};
use crate::control::{self, Ask, Client, Operations, Said};
use crate::lifecycle::{Asked, Signals};
use crate::servers::{self, Making};
use crate::state_dir::StateDir;

/// Which servers a connection of the command's own is made to.
#[derive(Clone, Debug)]
pub(super) enum Needs {
    /// All that are enabled.
    All,
    /// These.
    Named(Vec<Target>),
}

impl Needs {
    pub(super) fn of(targets: &[Target]) -> Self {
        if targets.is_empty() { Self::All } else { Self::Named(targets.to_vec()) }
    }

    fn has(&self, key: &ServerKey) -> bool {
        match self {
            Self::All => true,
            Self::Named(targets) => targets.iter().any(|target| {
                target.name == key.name.as_str()
                    && target.scope.as_ref().is_none_or(|scope| *scope == key.scope.to_string())
            }),
        }
    }
}

/// Asks the running hub, or, where none runs, what `up` would run; with named files, what they declare.
pub(super) fn ask(
    out: &Out,
    files: &[PathBuf],
    needs: &Needs,
    ask: Ask,
    hear: impl FnMut(Said),
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    runtime.block_on(async {
        let state = StateDir::open(super::places().state)?;
        let mut signals = Signals::listen().context("signals cannot be heard")?;
        if files.is_empty()
            && let Some(client) = Client::connect(&state.socket()).await?
        {
            return tokio::select! {
                done = client.ask(&ask, hear) => Ok(done?),
                () = stopped(&mut signals) => bail!("stopped"),
            };
        }
        own(out, files, needs, ask, hear, &state, &mut signals).await
    })
}

/// Asks the running hub alone; nothing if none runs.
pub(super) fn ask_hub(ask: &Ask, hear: impl FnMut(Said)) -> Result<Option<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    runtime.block_on(async {
        let state = StateDir::open(super::places().state)?;
        let Some(client) = Client::connect(&state.socket()).await? else { return Ok(None) };
        Ok(Some(client.ask(ask, hear).await?))
    })
}

async fn own(
    out: &Out,
    files: &[PathBuf],
    needs: &Needs,
    ask: Ask,
    mut hear: impl FnMut(Said),
    state: &StateDir,
    signals: &mut Signals,
) -> Result<()> {
    let why = if files.is_empty() { "No hub runs" } else { "Files are named" };
    out.note(format!("{DIM}{why}; connecting from here.{DIM:#}"));
    let paper = declared::paper(files).await?;
    let declared = paper.declared();
    tell_problems(&declared.problems, needs, out);
    if let Needs::Named(targets) = needs {
        // Looked for among all, so that a name that is nearly right is told.
        let keys: Vec<ServerKey> = declared.desired.servers.keys().cloned().collect();
        for target in targets {
            control::find(&keys, target).map_err(|failure| failed(&failure))?;
        }
    }
    let mut desired = Desired::clone(&declared.desired);
    desired.servers.retain(|key, _| needs.has(key));
    let making = Making::here(state, paper.gate(), Arc::new(SystemClock));
    let upstreams = servers::prepare(making).await;
    upstreams.connect_all(&desired).await;
    let result = run(&upstreams, ask, &mut hear, signals).await;
    upstreams.disconnect_all().await;
    if let Some(store) = paper.store() {
        store.close().await?;
    }
    result
}

async fn run(
    upstreams: &Upstreams,
    ask: Ask,
    hear: &mut impl FnMut(Said),
    signals: &mut Signals,
) -> Result<()> {
    let operations = Operations::new(upstreams.clone(), Arc::new(SystemClock));
    let (say, mut heard) = mpsc::channel(64);
    let listen = async {
        while let Some(said) = heard.recv().await {
            if said != Said::End {
                hear(said);
            }
        }
    };
    tokio::select! {
        ((), ()) = async { tokio::join!(operations.run(ask, say), listen) } => Ok(()),
        () = stopped(signals) => bail!("stopped"),
    }
}

async fn stopped(signals: &mut Signals) {
    while signals.next().await != Asked::Stop {}
}

/// What is wrong with the servers that are meant; `check` tells the rest.
fn tell_problems(problems: &[Problem], needs: &Needs, out: &Out) {
    let meant = |problem: &&Problem| match (&problem.server, needs) {
        (_, Needs::All) | (None, _) => problem.is_error(),
        (Some(server), Needs::Named(targets)) => {
            targets.iter().any(|target| target.name == server.as_str())
        }
    };
    let problems: Vec<_> = problems.iter().filter(meant).cloned().collect();
    super::report::print(&problems, out);
}

/// A failure as an error of the program.
pub(super) fn failed(failure: &Failure) -> anyhow::Error {
    match failure.remedy.as_str() {
        "" => anyhow::anyhow!("{}", failure.message),
        remedy => anyhow::anyhow!("{}; {remedy}", failure.message),
    }
}
