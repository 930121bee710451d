//! All wiring, in the order in which the data flows: files, desired state, connections, surfaces.

mod api;
mod approved;
mod chores;
mod credentials;
mod declared;
mod edits;
mod follow;
mod health;
mod host;
mod kept;
mod listen;
mod names;
mod notes;
mod offline;
mod paper;
mod pipe;
mod required;
mod snapshot;
mod surface;
mod watchman;

pub(crate) use follow::Declarations;
pub(crate) use offline::Offline;
pub(crate) use paper::OnPaper;
pub(crate) use pipe::{Hello, Welcome, dismissed, principal};
pub use required::Missing;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_config::watch::{Update, Watch};
use switchboard_config::{Loaded, Loader, Places, Selection};
use switchboard_model::{Changes, Clock, HubSpec, UserId};
use switchboard_rest::Api;
use switchboard_rest::port::{Declared, Hub as _};
use switchboard_store::{Actor, Store};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::approved::Approved;
use self::edits::Edits;
use self::follow::Follower;
use self::snapshot::Snapshot;
use crate::control::{self, Operations, Sources};
use crate::hub::{Hub, HubError};
use crate::routes::Routes;
use crate::servers;
use crate::state_dir::{Claim, StateDir, StateError};
use crate::storage::{self, StorageError};
use crate::traces;

/// How long the link that is shown at the start is good.
const SIGN_IN: Duration = Duration::from_secs(15 * 60);

/// How long changes that are under way may take at the end.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long whatever still runs may take then. Each has a limit of its own, and a shorter one.
const LAST: Duration = Duration::from_secs(20);

/// What the hub is started with.
pub struct Options {
    /// The files.
    pub selection: Selection,
    /// Where it can be reached.
    pub surfaces: Surfaces,
    /// The directories for the hub's state.
    pub places: Places,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ends a start that still waits for something.
    pub stop: CancellationToken,
}

/// Where a hub can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surfaces {
    /// By HTTP, and by the sockets in its state directory, which it has for itself.
    All {
        /// The address, over the files' word.
        listen: Option<SocketAddr>,
    },
    /// Only from inside the process.
    None,
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
    /// There is no store.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The hub itself.
    #[error(transparent)]
    Hub(#[from] HubError),
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
    /// Without a server that is required there is no hub.
    #[error(transparent)]
    Required(Box<Missing>),
    /// Somebody did not want to wait.
    #[error("the start was stopped while required servers were waited for")]
    Stopped,
}

/// A running hub with its files and surfaces. It ends when [`App::stop`] is called.
pub struct App {
    address: Option<SocketAddr>,
    state: watch::Receiver<Arc<Loaded>>,
    watch: Arc<Watch>,
    hub: Hub,
    declarations: Declarations,
    api: Api,
    administrator: UserId,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    /// Last, so that nobody else is the hub before this one has ended.
    _claim: Option<Claim>,
}

impl App {
    /// Loads the configuration, begins to watch it, connects, and serves. With internal servers that
    /// are required it waits for them first.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let directory = StateDir::open(options.places.state)?;
        let mut claim = match options.surfaces {
            Surfaces::All { .. } => Some(directory.claim()?),
            Surfaces::None => None,
        };
        let mut loader = Loader::new(options.selection, options.clock.clone());
        let loaded = Arc::new(loader.load());
        let listener = match options.surfaces {
            Surfaces::All { listen } => Some(bind(listen, &loaded).await?),
            Surfaces::None => None,
        };
        let address = listener.as_ref().map(|(_, address)| *address);
        if let (Some(claim), Some(address)) = (&mut claim, address) {
            // Only for whoever wants the directory too; the claim holds without it.
            let _ = claim.sign(&format!("pid {}, http://{address}", std::process::id()));
        }

        let spec = &loaded.desired.hub;
        let store = storage::open(spec, options.places.data, options.clock.clone()).await?;
        let administrator = storage::administrator(&store).await.map_err(StorageError::from)?.id;
        let gate = Arc::new(Approved::new(store.clone()));
        let hub = hub(spec, &store, &gate, &directory, &options.clock).await?;

        let (publish, state) = watch::channel(loaded.clone());
        let watch = Watch::start(loader, loaded, move |update| apply(&publish, update))
            .map_err(StartError::Watch)?;
        let (tasks, shutdown) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(watchman::tell(hub.upstreams().clone(), shutdown.clone()));
        tasks.spawn(notes::keep(store.clone(), hub.upstreams().clone(), shutdown.clone()));
        tasks.spawn(chores::run(store.clone(), options.clock.clone(), shutdown.clone()));
        let known = directory.file(snapshot::FILE);
        let known = Snapshot::new(Some(store.clone()), known, options.clock.clone());
        let edits = Edits::new(store.clone(), directory.file(edits::FILE));
        let mut follower = Follower::new(hub.clone(), state.clone(), gate, (known, edits));
        follower.begin().await;
        let declarations = follower.declarations();
        tasks.spawn(follower.follow(shutdown.clone()));
        let (watch, doors) = (Arc::new(watch), Arc::new(declarations.clone()));
        let api = api::api(&hub, store, doors, options.clock.clone(), shutdown.clone());
        let app = Self {
            address,
            state,
            watch,
            hub,
            declarations,
            api,
            administrator,
            tasks,
            shutdown,
            _claim: claim,
        };
        if let Err(error) = app.open(&directory, listener, options.clock, options.stop).await {
            app.stop().await;
            return Err(error);
        }
        app.tasks.close();
        Ok(app)
    }

    /// Serves, as soon as what is required is there.
    async fn open(
        &self,
        directory: &StateDir,
        listener: Option<(TcpListener, SocketAddr)>,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
    ) -> Result<(), StartError> {
        let loaded = self.loaded();
        tokio::select! {
            connected = required::connected(self.hub.upstreams(), &loaded) => connected.map_err(StartError::Required)?,
            () = stop.cancelled() => return Err(StartError::Stopped),
        }
        match listener {
            Some((listener, address)) => self.serve(directory, listener, address, clock),
            None => Ok(()),
        }
    }

    /// Opens the surfaces: the address, and the sockets for this user's commands and agents.
    fn serve(
        &self,
        directory: &StateDir,
        listener: TcpListener,
        address: SocketAddr,
        clock: Arc<dyn Clock>,
    ) -> Result<(), StartError> {
        let (api, administrator) = (self.api.clone(), self.administrator.clone());
        let local = Routes::new(move || api::local(&api, administrator));
        let operations = Operations::new(self.hub.upstreams().clone(), clock.clone());
        let sources =
            Sources { watch: self.watch.clone(), declarations: self.declarations.clone() };
        let operations = operations.with_hub(self.hub.clone()).with_sources(sources);
        let socket = directory.socket();
        control::serve(&socket, operations, local, &self.tasks, &self.shutdown)
            .map_err(|source| StartError::Socket { path: socket, source })?;
        let socket = directory.mcp_socket();
        pipe::serve(&socket, self.hub.clone(), &self.tasks, &self.shutdown)
            .map_err(|source| StartError::Socket { path: socket, source })?;
        let endpoint = self.hub.endpoint().clone();
        let (hub, api) = (self.hub.clone(), self.api.clone());
        let page = Routes::new(move || surface::router(&hub, &api, address));
        listen::serve(listener, endpoint, page, clock, &self.tasks, &self.shutdown);
        Ok(())
    }

    /// Where it listens, if it does.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// A link that signs the administrator in on the page, once.
    pub async fn sign_in(&self) -> Option<String> {
        let (store, address) = (self.hub.store()?, self.address?);
        let by = Actor::system();
        match store.sign_in().link(&self.administrator, SIGN_IN, &by).await {
            Ok(link) => Some(format!("http://{address}/sign-in?link={}", link.expose())),
            Err(error) => {
                tracing::warn!(%error, "there is no link to sign in with");
                None
            }
        }
    }

    /// The configuration as it is now.
    pub fn loaded(&self) -> Arc<Loaded> {
        self.state.borrow().clone()
    }

    /// What is declared now, in the files and in the store.
    pub fn declared(&self) -> Arc<Declared> {
        self.declarations.declared()
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

    /// The hub itself.
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Stops serving, ends every server, and returns when nothing runs any more.
    pub async fn stop(self) {
        self.shutdown.cancel();
        // What was acknowledged is in the store; only an answer may be missing that takes longer, and no call waits for it.
        let changes = tokio::time::timeout(FAREWELL, self.api.finish());
        let _ = tokio::join!(changes, self.hub.endpoint().shutdown());
        self.hub.shutdown().await;
        self.tasks.close();
        if tokio::time::timeout(LAST, self.tasks.wait()).await.is_err() {
            tracing::error!("{} tasks did not end", self.tasks.len());
        }
    }
}

/// The hub on its store, in which nothing starts that nobody approved.
async fn hub(
    spec: &HubSpec,
    store: &Store,
    gate: &Arc<Approved>,
    directory: &StateDir,
    clock: &Arc<dyn Clock>,
) -> Result<Hub, HubError> {
    Hub::builder()
        .store(store.clone())
        .gate(gate.clone())
        .guardian(servers::own_program(), servers::GUARDIAN)
        .state(directory.clone())
        .clock(clock.clone())
        .traces(traces::collector(spec))
        .surface(names::mcp(spec))
        .models(names::models(spec))
        .start()
        .await
}

async fn bind(
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
