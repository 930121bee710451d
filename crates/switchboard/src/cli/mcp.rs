//! `switchboard mcp`: MCP on standard input and output, for agents that start their servers.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use switchboard_mcp::stdio;
use switchboard_model::SystemClock;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use super::out::Out;
use crate::app::{App, Hello, Options, Surfaces, Welcome, principal};
use crate::hub::local_agent;
use crate::lifecycle::{Asked, Signals};
use crate::state_dir::StateDir;

/// How long an agent waits for servers of which nothing is known yet: many never ask again.
const FIRST: Duration = Duration::from_secs(10);

/// Serve an agent on standard input and output.
///
/// Joins the running hub; where none runs, starts one inside itself, for as long as it lasts.
#[derive(Debug, Args)]
pub(super) struct Mcp {
    /// The agent that it serves.
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The files to load, instead of joining the running hub.
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Mcp {
    pub(super) fn run(&self, _: &Out) -> Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("the runtime did not start")?;
        let done = runtime.block_on(self.serve());
        // Standard input is read by a thread that cannot be woken.
        runtime.shutdown_background();
        done
    }

    async fn serve(&self) -> Result<ExitCode> {
        let agent = self.agent.clone().unwrap_or_else(|| local_agent().to_string());
        let state = StateDir::open(super::places().state)?;
        if self.files.is_empty()
            && let Ok(stream) = UnixStream::connect(state.mcp_socket()).await
        {
            return join(stream, agent).await;
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
        let principal = principal(app.hub(), &agent).map_err(|error| anyhow::anyhow!(error))?;
        app.hub().settle_unknown(FIRST).await;
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        let endpoint = app.hub().endpoint().clone();
        let served = tokio::select! {
            served = stdio::serve(&endpoint, Arc::new(principal), input, output) => served,
            () = stopped(&mut signals) => Ok(()),
        };
        app.stop().await;
        served.context("the agent's pipe broke")?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn stopped(signals: &mut Signals) {
    while signals.next().await != Asked::Stop {}
}

/// Says who it is, and then only passes bytes on.
async fn join(stream: UnixStream, agent: String) -> Result<ExitCode> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut hello = serde_json::to_vec(&Hello { agent })?;
    hello.push(b'\n');
    write.write_all(&hello).await.context("the hub went away")?;
    let mut line = String::new();
    read.read_line(&mut line).await.context("the hub went away")?;
    let welcome: Welcome = serde_json::from_str(&line)
        .context("the running hub's answer cannot be read; restart it with this version")?;
    if let Some(error) = welcome.error {
        bail!("{error}");
    }
    let outward = async {
        let done = tokio::io::copy(&mut tokio::io::stdin(), &mut write).await;
        // The agent said all it had to say; what is under way is still answered.
        let _ = write.shutdown().await;
        done
    };
    let mut stdout = tokio::io::stdout();
    let inward = tokio::io::copy(&mut read, &mut stdout);
    let (mut outward, mut inward) = (std::pin::pin!(outward), std::pin::pin!(inward));
    tokio::select! {
        done = &mut inward => { done.context("the agent's pipe broke")?; }
        sent = &mut outward => {
            sent.context("the hub went away")?;
            inward.await.context("the agent's pipe broke")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
