//! What is declared, in the files and in the store, is made to run: at the start, after every change,
//! and when a door asks for it. Changes that come while one is applied are applied together.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use switchboard_config::Loaded;
use switchboard_core::port::BoxFuture;
use switchboard_model::ServerState;
use switchboard_rest::port::{self, Declared};
use switchboard_store::{Error, ServerRow, Topic};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::approved::Approved;
use super::declared;
use super::snapshot::Snapshot;
use crate::hub::Hub;

/// What the files say.
type Files = watch::Receiver<Arc<Loaded>>;
/// Somebody who waits until everything that was declared before is applied.
type Asked = oneshot::Sender<Result<(), Error>>;

/// A store that does not answer is tried again after this.
const AGAIN: Duration = Duration::from_secs(1);

/// What is declared, for the doors. Clones share it.
#[derive(Clone)]
pub(crate) struct Declarations {
    now: Arc<ArcSwap<Declared>>,
    asks: mpsc::Sender<Asked>,
}

impl port::Hub for Declarations {
    fn declared(&self) -> Arc<Declared> {
        self.now.load_full()
    }

    fn apply(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async {
            let (told, applied) = oneshot::channel();
            let _ = self.asks.send(told).await;
            applied.await.unwrap_or(Err(Error::Refused("the hub is stopping")))
        })
    }
}

/// Makes it so, again and again.
pub(super) struct Follower {
    hub: Hub,
    files: Files,
    gate: Arc<Approved>,
    snapshot: Snapshot,
    rows: Vec<Arc<ServerRow>>,
    declarations: Declarations,
    asks: mpsc::Receiver<Asked>,
    /// Whether the store did not answer, and must be asked again.
    failed: bool,
}

impl Follower {
    pub(super) fn new(hub: Hub, files: Files, gate: Arc<Approved>, snapshot: Snapshot) -> Self {
        let (ask, asks) = mpsc::channel(64);
        let declarations = Declarations { now: Arc::default(), asks: ask };
        Self { hub, files, gate, snapshot, rows: Vec::new(), declarations, asks, failed: false }
    }

    /// For the doors.
    pub(super) fn declarations(&self) -> Declarations {
        self.declarations.clone()
    }

    /// Applies what is declared now; returns when every start has begun.
    pub(super) async fn begin(&mut self) {
        let applied = self.apply().await;
        self.failed = applied.is_err();
        tell(Vec::new(), applied);
    }

    /// Follows both until the hub stops.
    pub(super) async fn follow(mut self, shutdown: CancellationToken) {
        let mut changes = self
            .hub
            .store()
            .map(|store| [Topic::People, Topic::Servers].map(|topic| store.watch(topic)));
        loop {
            let mut asked = Vec::new();
            tokio::select! {
                changed = self.files.changed() => if changed.is_err() { return },
                () = changed(changes.as_mut()) => {}
                Some(ask) = self.asks.recv() => asked.push(ask),
                () = tokio::time::sleep(AGAIN), if self.failed => {}
                () = shutdown.cancelled() => return,
            }
            while let Ok(ask) = self.asks.try_recv() {
                asked.push(ask);
            }
            let applied = tokio::select! {
                applied = self.apply() => applied,
                () = shutdown.cancelled() => return,
            };
            self.failed = applied.is_err();
            tell(asked, applied);
        }
    }

    /// Everything once. If the store does not answer, what it said last counts.
    async fn apply(&mut self) -> Result<(), Error> {
        let store = self.hub.store();
        let read = match store {
            Some(store) => store.servers().list().await,
            None => Ok(Vec::new()),
        };
        let agents = store.map(|store| store.access().agents()).unwrap_or_default();
        let result = match read {
            Ok(rows) => {
                self.rows = rows.into_iter().map(Arc::new).collect();
                Ok(())
            }
            Err(error) => Err(error),
        };
        let files = self.files.borrow_and_update().clone();
        let declared = Arc::new(declared::merge(&files, &self.rows, &agents));
        // Before anything is started by it. And whoever sees that something runs, or does not any more,
        // must find it declared so.
        self.gate.take(&declared);
        self.declarations.now.store(declared.clone());
        self.hub.reconcile(&declared.desired).await;
        self.start_approved().await;
        self.snapshot.take(&declared.desired).await;
        result
    }

    /// An approval changes no declaration, so nothing was reconciled: what waited for it starts now.
    async fn start_approved(&self) {
        use switchboard_upstream::Gate as _;
        for status in self.hub.upstreams().status() {
            let waits = status.state == ServerState::NeedsApproval;
            if waits && self.gate.is_approved(&status.key, &status.spec) {
                self.hub.upstreams().reconnect(&status.key).await;
            }
        }
    }
}

/// Everybody who waited is told. An error is told once, so the others learn that much.
fn tell(asked: Vec<Asked>, applied: Result<(), Error>) {
    let failed = applied.is_err();
    let mut first = Some(applied);
    for ask in asked {
        let rest = match failed {
            true => Err(Error::Refused("the store does not answer")),
            false => Ok(()),
        };
        let _ = ask.send(first.take().unwrap_or(rest));
    }
    if let Some(Err(error)) = first {
        tracing::warn!(%error, "the store does not answer; its servers stay as they are");
    }
}

/// Waits for a change of the store; for ever where there is none.
async fn changed(changes: Option<&mut [watch::Receiver<i64>; 2]>) {
    let Some([people, servers]) = changes else { return std::future::pending().await };
    let one = tokio::select! {
        changed = people.changed() => changed,
        changed = servers.changed() => changed,
    };
    if one.is_err() {
        std::future::pending().await
    }
}
