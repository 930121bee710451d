//! `switchboard mcp`: MCP on standard input and output, for agents that start their servers.

mod join;

use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use switchboard_mcp::stdio;
use switchboard_model::SystemClock;
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use self::join::Place;
use super::out::Out;
use crate::app::{App, Options, Surfaces, dismissed, principal};
use crate::hub::local_agent;
use crate::lifecycle::{Asked, Signals};
use crate::state_dir::StateDir;

/// How long an agent's first list waits for servers of which nothing is known yet: many never ask again. Its
/// greeting does not wait: many give up on that after some seconds.
const FIRST: Duration = Duration::from_secs(10);

/// How long a hub that is being started is waited for, which has no sockets before its required servers are
/// there: an agent that does not join it has a hub of its own for as long as it lasts.
const STARTING: Duration = Duration::from_secs(5);
/// Between two looks whether it is up.
const PAUSE: Duration = Duration::from_millis(100);

/// Serve an agent on standard input and output.
///
/// Joins the running hub; where none runs, starts one inside itself, for as long as it lasts. When the
/// hub that it joined is restarted, the agent's session goes on there; only calls under way fail.
#[derive(Debug, Args)]
pub(super) struct Mcp {
    /// The agent that it serves.
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The files to load, instead of joining the running hub.
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How long a hub that went away may take to come back.
    #[arg(long, hide = true, value_parser = humantime::parse_duration, default_value = "60s")]
    away: Duration,
}

impl Mcp {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("the runtime did not start")?;
        let done = runtime.block_on(self.serve(out));
        // Standard input is read by a thread that cannot be woken.
        runtime.shutdown_background();
        done
    }

    async fn serve(&self, out: &Out) -> Result<ExitCode> {
        let agent = self.agent.clone().unwrap_or_else(|| local_agent().to_string());
        let state = StateDir::open(super::places().state)?;
        if self.files.is_empty()
            && let Some(stream) = running(&state).await
        {
            let place = Place { socket: state.mcp_socket(), agent, away: self.away };
            return join::serve(stream, &place, out).await;
        }
        super::up::log("warn")?;
        let mut signals = Signals::listen().context("signals cannot be heard")?;
        let stop = CancellationToken::new();
        let start = App::start(Options {
            selection: super::selection(&self.files),
            surfaces: Surfaces::None,
            places: super::places(),
            clock: Arc::new(SystemClock),
            stop: stop.clone(),
        });
        let app = signals.heed(start, &stop).await?;
        let principal = match principal(app.hub(), &agent) {
            Ok(principal) => Arc::new(principal),
            Err(error) => {
                app.stop().await;
                anyhow::bail!(error);
            }
        };
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        let hub = app.hub().clone();
        let (endpoint, known) = (hub.endpoint().clone(), hub.settle_unknown(FIRST));
        let serve = stdio::serve_when(&endpoint, principal.clone(), input, output, known);
        let mut serve = pin!(serve);
        let served = tokio::select! {
            served = &mut serve => Some(served),
            () = dismissed(&hub, &principal) => {
                app.stop().await;
                anyhow::bail!("the agent `{agent}` was disabled or removed");
            }
            () = stopped(&mut signals) => None,
        };
        let served = match served {
            Some(served) => {
                app.stop().await;
                served
            }
            // What is under way is answered while the hub ends.
            None => tokio::join!(serve, app.stop()).0,
        };
        served.context("the agent's pipe broke")?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The hub that runs, or is about to.
async fn running(state: &StateDir) -> Option<UnixStream> {
    let until = Instant::now() + STARTING;
    loop {
        if let Ok(stream) = UnixStream::connect(state.mcp_socket()).await {
            return Some(stream);
        }
        if !state.is_taken() || Instant::now() > until {
            return None;
        }
        sleep(PAUSE).await;
    }
}

async fn stopped(signals: &mut Signals) {
    while signals.next().await != Asked::Stop {}
}
