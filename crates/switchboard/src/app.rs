//! All wiring, in the order in which the data flows: files, desired state, connections, surfaces.

mod health;
mod host;
mod watchman;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use switchboard_config::watch::{Update, Watch};
use switchboard_config::{Loaded, Loader, Selection};
use switchboard_model::{Changes, Clock};
use switchboard_upstream::Upstreams;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::control::{self, Operations};
use crate::servers;
use crate::state_dir::{Claim, StateDir, StateError};

/// What the hub is started with.
pub struct Options {
    /// The files.
    pub selection: Selection,
    /// The address, over the files' word.
    pub listen: Option<SocketAddr>,
    /// The directory for the hub's state.
    pub state: Option<PathBuf>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Why the hub did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Somebody else has the address, or it is not ours to have.
    #[error("cannot listen on {address}: {}", why(.source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Beyond this machine, tokens would travel in clear.
    #[error(
        "{address} can be reached from other machines, and beyond loopback the hub wants TLS; \
         listen on a loopback address such as 127.0.0.1:{port}", port = address.port()
    )]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// The state directory cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The socket for commands cannot be made.
    #[error("the socket {} for commands cannot be made", path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The files cannot be watched.
    #[error("the configuration cannot be watched")]
    Watch(#[source] io::Error),
}

/// A running hub. It ends when [`App::stop`] is called.
pub struct App {
    address: SocketAddr,
    state: watch::Receiver<Arc<Loaded>>,
    watch: Arc<Watch>,
    upstreams: Upstreams,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    /// Last, so that nobody else is the hub before this one has ended.
    _claim: Claim,
}

impl App {
    /// Loads the configuration, begins to watch it, connects, and serves.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let directory = StateDir::open(options.state)?;
        let mut claim = directory.claim()?;
        let mut loader = Loader::new(options.selection, options.clock.clone());
        let loaded = Arc::new(loader.load());
        let (listener, address) = listen(options.listen, &loaded).await?;
        // Only for whoever wants the directory too; the claim holds without it.
        let _ = claim.sign(&format!("pid {}, http://{address}", std::process::id()));

        let (publish, state) = watch::channel(loaded.clone());
        let watch = Watch::start(loader, loaded, move |update| apply(&publish, update))
            .map_err(StartError::Watch)?;

        let (tasks, shutdown) = (TaskTracker::new(), CancellationToken::new());
        let upstreams = servers::prepare(&directory).await;
        tasks.spawn(watchman::tell(upstreams.clone(), shutdown.clone()));
        tasks.spawn(reconcile(upstreams.clone(), state.clone(), shutdown.clone()));

        let operations = Operations::new(upstreams.clone(), options.clock);
        let socket = directory.socket();
        control::serve(&socket, operations, &tasks, &shutdown)
            .map_err(|source| StartError::Socket { path: socket, source })?;
        let page = health::router(state.clone(), upstreams.clone());
        tasks.spawn(serve(listener, host::guarded(page, address), shutdown.clone()));
        tasks.close();
        let watch = Arc::new(watch);
        Ok(Self { address, state, watch, upstreams, tasks, shutdown, _claim: claim })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The configuration as it is now.
    pub fn loaded(&self) -> Arc<Loaded> {
        self.state.borrow().clone()
    }

    /// Reads the configuration again, now; returns when that is done.
    pub async fn reload(&self) {
        let watch = self.watch.clone();
        // The watch has a thread of its own, which is waited for; that must not stop this one.
        let read = tokio::task::spawn_blocking(move || watch.reload());
        if let Err(error) = read.await {
            tracing::error!(%error, "the configuration was not read again");
        }
    }

    /// The connections.
    pub fn upstreams(&self) -> &Upstreams {
        &self.upstreams
    }

    /// Stops serving, ends every server, and returns when nothing runs any more.
    pub async fn stop(self) {
        self.shutdown.cancel();
        self.upstreams.disconnect_all().await;
        self.tasks.wait().await;
    }
}

async fn listen(
    wanted: Option<SocketAddr>,
    loaded: &Loaded,
) -> Result<(TcpListener, SocketAddr), StartError> {
    let address = wanted.unwrap_or(loaded.desired.hub.listen);
    if !address.ip().is_loopback() {
        return Err(StartError::NotLoopback { address });
    }
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| StartError::Listen { address, source })?;
    let address = listener.local_addr().unwrap_or(address);
    Ok((listener, address))
}

async fn serve(listener: TcpListener, router: axum::Router, shutdown: CancellationToken) {
    let stopped = shutdown.cancelled_owned();
    if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stopped).await {
        tracing::error!(%error, "the HTTP surface ended");
    }
}

/// Makes what runs equal to what is declared, at the start and after every change; changes that come
/// while one is applied are applied together.
async fn reconcile(
    upstreams: Upstreams,
    mut state: watch::Receiver<Arc<Loaded>>,
    shutdown: CancellationToken,
) {
    loop {
        let desired = state.borrow_and_update().desired.clone();
        tokio::select! {
            _ = upstreams.reconcile(&desired) => {}
            () = shutdown.cancelled() => return,
        }
        tokio::select! {
            changed = state.changed() => if changed.is_err() { return },
            () = shutdown.cancelled() => return,
        }
    }
}

/// The one way in which a new state comes in, whatever it came from.
fn apply(publish: &watch::Sender<Arc<Loaded>>, update: Update) {
    let loaded = update.loaded().clone();
    if let Update::Changed(_) = update {
        let before = publish.borrow().desired.clone();
        tracing::info!("configuration changed: {}", told(&before, &loaded));
    }
    for problem in &loaded.problems {
        if !publish.borrow().problems.contains(problem) {
            match problem.is_error() {
                true => tracing::error!("{problem}"),
                false => tracing::warn!("{problem}"),
            }
        }
    }
    publish.send_replace(loaded);
}

fn told(before: &switchboard_model::Desired, loaded: &Loaded) -> String {
    let changes = Changes::between(&before.servers, &loaded.desired.servers);
    let marked = [
        ("+", &changes.added),
        ("-", &changes.removed),
        ("~", &changes.changed),
        ("=", &changes.adjusted),
    ];
    let words: Vec<String> = marked
        .iter()
        .flat_map(|(mark, keys)| keys.iter().map(move |key| format!("{mark} {key}")))
        .collect();
    if words.is_empty() { "servers stay as they are".to_owned() } else { words.join(", ") }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program has it, perhaps a hub that already runs; choose another with \
             `--listen 127.0.0.1:PORT`"
                .to_owned()
        }
        _ => error.to_string(),
    }
}
