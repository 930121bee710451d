//! What is declared, in the files and in the store, is made to run: at the start, after every change,
//! and when a door asks for it. Changes that come while one is applied are applied together.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use switchboard_config::Loaded;
use switchboard_core::port::BoxFuture;
use switchboard_model::{HubSpec, ServerState};
use switchboard_rest::port::{self, Declared};
use switchboard_store::{Error, Outage, ServerRow, Topic};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::approved::Approved;
use super::credentials::{self, Standing};
use super::declared;
use super::edits::Edits;
use super::snapshot::Snapshot;
use crate::hub::{Hub, local_agent};

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
    /// What the hub was started with.
    started: HubSpec,
    gate: Arc<Approved>,
    snapshot: Snapshot,
    edits: Edits,
    rows: Vec<Arc<ServerRow>>,
    credentials: Standing,
    declarations: Declarations,
    asks: mpsc::Receiver<Asked>,
    /// Whether something was not done, and must be tried again.
    failed: bool,
    outage: Outage,
}

impl Follower {
    pub(super) fn new(
        hub: Hub,
        files: Files,
        gate: Arc<Approved>,
        (snapshot, edits): (Snapshot, Edits),
    ) -> Self {
        let (ask, asks) = mpsc::channel(64);
        let declarations = Declarations { now: Arc::default(), asks: ask };
        let outage = Outage::new("the store's servers stay as they were");
        let (rows, credentials, failed) = (Vec::new(), Standing::default(), false);
        let started = files.borrow().desired.hub.clone();
        Self {
            hub,
            files,
            started,
            gate,
            snapshot,
            edits,
            rows,
            credentials,
            declarations,
            asks,
            failed,
            outage,
        }
    }

    /// For the doors.
    pub(super) fn declarations(&self) -> Declarations {
        self.declarations.clone()
    }

    /// Applies what is declared now; returns when every start has begun.
    pub(super) async fn begin(&mut self) {
        let applied = self.apply().await;
        self.tell(Vec::new(), applied);
    }

    /// Follows both until the hub stops.
    pub(super) async fn follow(mut self, shutdown: CancellationToken) {
        let mut changes = self
            .hub
            .store()
            .map(|store| [Topic::People, Topic::Servers].map(|topic| store.watch(topic)));
        loop {
            let mut asked = Vec::new();
            let ends = self.hub.store().and_then(|store| self.credentials.next(store.now()));
            tokio::select! {
                changed = self.files.changed() => if changed.is_err() { return },
                () = changed(changes.as_mut()) => {}
                Some(ask) = self.asks.recv() => asked.push(ask),
                () = tokio::time::sleep(AGAIN), if self.failed => {}
                () = until(ends) => {}
                () = shutdown.cancelled() => return,
            }
            while let Ok(ask) = self.asks.try_recv() {
                asked.push(ask);
            }
            let applied = tokio::select! {
                applied = self.apply() => applied,
                () = shutdown.cancelled() => return,
            };
            self.tell(asked, applied);
        }
    }

    /// Everything once. If the store does not answer, what it said last counts.
    async fn apply(&mut self) -> Result<(), Error> {
        let files = self.files.borrow_and_update().clone();
        let read = self.read(&files).await;
        let (mut renewed, mut rows_changed) = (BTreeSet::new(), false);
        let result = read.map(|(rows, credentials)| {
            renewed = credentials.changed(&self.credentials);
            rows_changed = self.rows != rows;
            (self.rows, self.credentials) = (rows, credentials);
        });
        let agents = declared::Agents::of(&files, self.hub.store());
        let closed = match self.hub.store() {
            Some(store) => store.agents().close_stand_ins(&local_agent()).await,
            None => Ok(()),
        };
        let mut declared = declared::merge(&files, &self.rows, &agents, self.credentials.all());
        declared.problems.extend(declared::later(&self.started, &files.desired.hub));
        let declared = Arc::new(declared);
        // Before anything is started by it. And whoever sees that something runs, or does not any more,
        // must find it declared so.
        self.gate.take(&declared);
        let before = self.declarations.now.swap(declared.clone());
        warn_of_news(&files, &before, &declared);
        self.hub.reconcile(&declared.desired).await;
        self.start_approved().await;
        let changed = rows_changed || !renewed.is_empty() || before.desired != declared.desired;
        // Another credential changes no declaration either; who has just been started has the new one.
        renewed.retain(|server| before.desired.servers.contains_key(server));
        for server in &renewed {
            self.hub.upstreams().reconnect(server).await;
        }
        if changed || self.snapshot.is_behind() {
            self.snapshot.take(&declared.desired).await;
        }
        self.edits.note(&files).await;
        self.failed = self.snapshot.is_behind() || self.edits.is_behind(&files);
        result.and(closed)
    }

    /// What the store declares, and which credentials it has.
    async fn read(&self, files: &Loaded) -> Result<(Vec<Arc<ServerRow>>, Standing), Error> {
        let Some(store) = self.hub.store() else { return Ok(Default::default()) };
        let rows: Vec<_> = store.servers().list().await?.into_iter().map(Arc::new).collect();
        let known = credentials::read(store, &files.desired.servers, &rows).await?;
        Ok((rows, Standing::of(known, store.now())))
    }

    /// Everybody who waited is told. An error is told once, so the others learn that much.
    fn tell(&mut self, asked: Vec<Asked>, applied: Result<(), Error>) {
        self.failed |= applied.is_err();
        match &applied {
            Ok(()) => self.outage.over(),
            Err(error) => self.outage.met(error),
        }
        let failed = applied.is_err();
        let mut first = Some(applied);
        for ask in asked {
            let rest = match failed {
                true => Err(Error::Refused("the store does not answer")),
                false => Ok(()),
            };
            let _ = ask.send(first.take().unwrap_or(rest));
        }
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

/// What the files and the store say against each other; what is wrong with the files was said already.
fn warn_of_news(files: &Loaded, before: &Declared, now: &Declared) {
    let known = |problem| files.problems.contains(problem) || before.problems.contains(problem);
    for problem in now.problems.iter().filter(|problem| !known(problem)) {
        match problem.is_error() {
            true => tracing::error!("{problem}"),
            false => tracing::warn!("{problem}"),
        }
    }
}

/// Waits until a credential runs out; for ever, if none does.
async fn until(ends: Option<Duration>) {
    match ends {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
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
