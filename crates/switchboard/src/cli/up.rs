//! `switchboard up`: the hub itself.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use switchboard_config::{Loaded, check, environment};
use switchboard_model::SystemClock;
use switchboard_rest::port::{Declared, Source};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use super::out::{BOLD, DIM, GOOD, Out, count};
use super::report;
use crate::app::{App, Options, StartError, Surfaces};
use crate::lifecycle::{Asked, Signals};

/// Start the hub.
///
/// Loads the configuration, keeps watching it, and serves until it is told to stop.
#[derive(Debug, Args)]
pub(super) struct Up {
    /// The files to load, instead of those found here and in the user's configuration directory.
    files: Vec<PathBuf>,
    /// Listen here, whatever the files say.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

impl Up {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        log("info")?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("the runtime did not start")?;
        runtime.block_on(self.serve(out))
    }

    async fn serve(&self, out: &Out) -> Result<ExitCode> {
        let mut signals = Signals::listen().context("signals cannot be heard")?;
        let stop = CancellationToken::new();
        let start = App::start(Options {
            selection: super::selection(&self.files),
            surfaces: Surfaces::All { listen: self.listen },
            places: super::places(),
            clock: Arc::new(SystemClock),
            stop: stop.clone(),
        });
        let app = match signals.heed(start, &stop).await {
            Err(StartError::Stopped) => return Ok(ExitCode::SUCCESS),
            app => app?,
        };
        let sign_in = app.sign_in().await;
        greet(&app, sign_in.as_deref(), out);
        while signals.next().await == Asked::Reload {
            app.reload().await;
        }
        out.line("Stopping. Once more to stop at once.");
        tokio::select! {
            () = app.stop() => Ok(ExitCode::SUCCESS),
            () = stop_again(&mut signals) => Ok(ExitCode::FAILURE),
        }
    }
}

async fn stop_again(signals: &mut Signals) {
    while signals.next().await != Asked::Stop {}
}

/// Says what came up and where to go.
fn greet(app: &App, sign_in: Option<&str>, out: &Out) {
    let loaded = app.loaded();
    let everything = app.declared();
    let mut problems = everything.problems.clone();
    problems.extend(check::variables(&loaded.desired, &loaded.origins, &environment::variable));
    report::print(&problems, out);
    let url = app.address().map(|address| format!("http://{address}")).unwrap_or_default();
    out.json(&json!({
        "url": url,
        "sign_in": sign_in,
        "pid": std::process::id(),
        "version": env!("CARGO_PKG_VERSION"),
        "servers": everything.desired.servers.len(),
        "problems": report::ProblemJson::all(&problems),
    }));
    out.line(format!("{BOLD}Switchboard {}{BOLD:#} is up", env!("CARGO_PKG_VERSION")));
    out.line(format!("  page     {GOOD}{url}{GOOD:#}"));
    if let Some(link) = sign_in {
        out.line(format!("  sign in  {GOOD}{link}{GOOD:#} {DIM}once, within 15 minutes{DIM:#}"));
    }
    out.line(format!(
        "  agents   {GOOD}{url}/mcp{GOOD:#} {DIM}with a token of `switchboard token create`{DIM:#}"
    ));
    out.line(format!("  servers  {}", declared(&loaded, &everything)));
    if !problems.is_empty() {
        out.line(format!("  problems {}, shown above", report::summary(&problems)));
    }
    out.line(format!(
        "{DIM}Changes to the files are applied as they are saved. Ctrl+C stops.{DIM:#}"
    ));
}

fn declared(loaded: &Loaded, everything: &Declared) -> String {
    if everything.desired.servers.is_empty() {
        return "none yet; add one with `switchboard add NAME COMMAND…`".to_owned();
    }
    let files: Vec<String> = loaded
        .files
        .iter()
        .filter(|file| file.servers > 0)
        .map(|file| file.path.display().to_string())
        .collect();
    let manifests = loaded.manifests.len();
    let manifests = (manifests > 0).then(|| count(manifests, "manifest"));
    let is_stored = |source: &Source| matches!(source, Source::Store(_));
    let store = everything.sources.values().any(is_stored).then(|| "the store".to_owned());
    let places: Vec<String> = files.into_iter().chain(manifests).chain(store).collect();
    format!("{} from {}", count(everything.desired.servers.len(), "server"), places.join(", "))
}

/// Logs go to standard error, as much as SWITCHBOARD_LOG asks for, or so much.
pub(super) fn log(otherwise: &str) -> Result<()> {
    let wanted = environment::variable("SWITCHBOARD_LOG");
    let filter = wanted.as_ref().map_or(otherwise, |wanted| wanted.expose());
    let filter = EnvFilter::try_new(filter)
        .context("SWITCHBOARD_LOG is not a filter; write `info`, `debug` or `switchboard=debug`")?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(anstream::stderr)
        .with_target(false)
        .try_init()
        .map_err(|error| anyhow::anyhow!("the log did not start: {error}"))
}
