//! All servers together: what is declared is made to run, and calls find their way. The map is a
//! snapshot, so that a call never waits for a change.

mod watching;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use switchboard_core::port::{BoxFuture, CallError, Caller, Delivery, Servers};
use switchboard_model::{
    Desired, Event, EventKind, LogLine, Outcome, ServerKey, ServerSpec, ServerState,
};
use switchboard_wire::{Json, JsonBuf, Params, method, peek};
use tokio::sync::{Mutex, broadcast, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;

use crate::bus::Bus;
use crate::catalog::Catalog;
use crate::connection::Connection;
use crate::context::Context;
use crate::plan::{Action, plan};
use crate::server::{Command, Server, Status};
use crate::supervisor::Supervisor;
use crate::transport::http;

/// Every call looks into it, so it is not one that compares names on its way.
type Map = HashMap<ServerKey, Arc<Server>>;
type Specs = BTreeMap<ServerKey, Arc<ServerSpec>>;

/// Every server of the hub. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Upstreams(Arc<Inner>);

struct Inner {
    context: Context,
    bus: Bus,
    servers: ArcSwap<Map>,
    /// One change at a time; calls do not come this way.
    declared: Mutex<Specs>,
    tasks: TaskTracker,
}

/// Whoever forgets [`Upstreams::disconnect_all`] does not wait for the end, but there is one.
impl Drop for Inner {
    fn drop(&mut self) {
        for server in self.servers.load().values() {
            let _ = server.commands.try_send(Command::Stop(oneshot::channel().0));
        }
    }
}

/// What a reconciliation did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// What was done, in this order.
    pub actions: Vec<Action>,
}

impl Upstreams {
    /// Nothing is declared yet.
    pub fn new(context: Context) -> Self {
        let bus = Bus::new(context.clock.clone());
        Self(Arc::new(Inner {
            context,
            bus,
            servers: ArcSwap::default(),
            declared: Mutex::default(),
            tasks: TaskTracker::new(),
        }))
    }

    /// The HTTP client that servers are reached with: its certificates and proxies are for whatever
    /// else the hub sends.
    pub fn http(&self) -> Result<reqwest::Client, String> {
        http::shared(&self.0.context)
    }

    /// Connects everything that is declared, side by side; returns when every start has begun.
    pub async fn connect_all(&self, desired: &Desired) -> Applied {
        self.reconcile(desired).await
    }

    /// Ends everything; returns when nothing runs any more.
    pub async fn disconnect_all(&self) {
        self.reconcile(&Desired::default()).await;
    }

    /// Makes what runs equal to what is declared. Returns when every change has been taken over:
    /// what is gone no longer runs, what is new or changed has begun to connect, limits and filters
    /// hold. Servers that did not change notice nothing.
    pub async fn reconcile(&self, desired: &Desired) -> Applied {
        let mut declared = self.0.declared.lock().await;
        let actions = plan(&declared, &desired.servers);
        let mut map = (**self.0.servers.load()).clone();
        let mut waiting = Vec::new();
        for action in &actions {
            let (told, taken) = oneshot::channel();
            let (key, command) = match action {
                Action::Start(key, spec) => {
                    map.insert(key.clone(), self.supervise(key, spec, told));
                    // Nobody may find one that has not begun, and take it for one that has ended.
                    let _ = taken.await;
                    continue;
                }
                Action::Stop(key) => (key, Command::Stop(told)),
                Action::Restart(key, spec) | Action::Adjust(key, spec) => {
                    (key, Command::Apply(spec.clone(), told))
                }
            };
            let Some(server) = map.get(key) else { continue };
            // A supervisor ends only when told, and is then no longer in the map.
            let _ = server.commands.send(command).await;
            waiting.push(taken);
            if let Action::Stop(key) = action {
                map.remove(key);
            }
        }
        self.0.servers.store(Arc::new(map));
        declared.clone_from(&desired.servers);
        for taken in waiting {
            let _ = taken.await;
        }
        Applied { actions }
    }

    /// Connects a server anew, whatever its state; returns when that has begun. `false` if there is
    /// no such server.
    pub async fn reconnect(&self, key: &ServerKey) -> bool {
        let Some(server) = self.find(key) else { return false };
        let (told, taken) = oneshot::channel();
        let _ = server.commands.send(Command::Reconnect(told)).await;
        taken.await.is_ok()
    }

    /// Waits until no server is about to become something else, or the time is up.
    pub async fn settle(&self, limit: Duration) {
        let end = Instant::now() + limit;
        for server in self.0.servers.load_full().values() {
            let mut states = server.state.subscribe();
            let settled =
                states.wait_for(|state| state.is_settled() && *state != ServerState::START);
            let _ = timeout_at(end, settled).await;
        }
    }

    /// Waits until this server is not about to become something else; its state then, or at the end
    /// of the time. Nothing if there is no such server.
    pub async fn settled(&self, key: &ServerKey, limit: Duration) -> Option<ServerState> {
        let server = self.find(key)?;
        let mut states = server.state.subscribe();
        let settled = states.wait_for(|state| state.is_settled() && *state != ServerState::START);
        let _ = tokio::time::timeout(limit, settled).await;
        Some(server.state.borrow().clone())
    }

    /// The newest lines of its log, oldest first.
    pub fn log(&self, key: &ServerKey, lines: usize) -> Option<Vec<LogLine>> {
        self.find(key).map(|server| server.journal.last(lines))
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<Arc<Event>> {
        self.0.bus.listen()
    }

    /// What happens from now on, without calls: for whoever would only be woken by them.
    pub fn changes(&self) -> broadcast::Receiver<Arc<Event>> {
        self.0.bus.listen_to_changes()
    }

    /// Everything about every server, by key.
    pub fn status(&self) -> Vec<Status> {
        let mut all: Vec<Status> =
            self.0.servers.load().values().map(|server| server.status()).collect();
        all.sort_by(|one, other| one.key.cmp(&other.key));
        all
    }

    /// Everything about one server.
    pub fn status_of(&self, key: &ServerKey) -> Option<Status> {
        self.find(key).map(|server| server.status())
    }

    /// Whether a resource is subscribed to, by the server's own URI: that it told, or is asked anew to tell, when it
    /// comes back. One that a server does not tell of any more is subscribed to no longer.
    pub fn is_subscribed(&self, key: &ServerKey, uri: &str) -> bool {
        self.find(key).is_some_and(|server| server.watched.has(uri))
    }

    /// What a server offers; from its last connection if there is none now.
    pub fn catalog(&self, key: &ServerKey) -> Option<Arc<Catalog>> {
        self.find(key).map(|server| server.catalog.load_full())
    }

    /// The connection, if there is one now.
    pub fn get(&self, key: &ServerKey) -> Option<Arc<Connection>> {
        self.find(key)?.usable()
    }

    /// The connection; one that is on its way is waited for, one that sleeps is woken.
    pub async fn connected(&self, key: &ServerKey) -> Result<Arc<Connection>, CallError> {
        let server = self.find(key).ok_or(CallError::Unknown)?;
        let limit = server.spec.load().timing.call;
        server.connected(limit).await
    }

    /// Makes a call, and tells of it if it is a tool's. A request that surely never reached the
    /// server is made once more.
    pub async fn call(
        &self,
        key: &ServerKey,
        name: &str,
        params: Option<Json<'_>>,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        let params = Params::from(params.unwrap_or(Json::EMPTY));
        self.request(key, name, &params, caller).await
    }

    async fn request(
        &self,
        key: &ServerKey,
        name: &str,
        params: &Params<'_>,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        let json = || Some(params.json());
        // What is rare is in a box: a call's future is moved and lies in memory with all that it may do.
        if matches!(name, method::SUBSCRIBE | method::UNSUBSCRIBE) {
            return Box::pin(watching::watch(self, key, name, json(), caller)).await;
        }
        if name == method::LISTEN {
            let connection = Box::pin(self.connected(key)).await?;
            return Box::pin(connection.listen(json(), caller)).await;
        }
        let tool = match name {
            method::TOOLS_CALL if self.0.bus.hears_calls() => {
                params.subject("name").and_then(Json::string)
            }
            _ => None,
        };
        let record = tool.map(|tool| Record::begin(&self.0.bus, key, &tool));
        let result = match self.try_call(key, name, params, caller).await {
            Err(CallError::Lost { delivery: Delivery::No, .. }) => {
                Box::pin(self.try_call(key, name, params, caller)).await
            }
            other => other,
        };
        if let Some(record) = record {
            record.end(&result);
        }
        result
    }

    async fn try_call(
        &self,
        key: &ServerKey,
        name: &str,
        params: &Params<'_>,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        let ready = self.0.servers.load().get(key).ok_or(CallError::Unknown)?.usable();
        let connection = match ready {
            Some(connection) => connection,
            None => Box::pin(self.connected(key)).await?,
        };
        connection.request(name, params, caller).await
    }

    pub(crate) fn find(&self, key: &ServerKey) -> Option<Arc<Server>> {
        self.0.servers.load().get(key).cloned()
    }

    fn supervise(
        &self,
        key: &ServerKey,
        spec: &Arc<ServerSpec>,
        begun: oneshot::Sender<()>,
    ) -> Arc<Server> {
        let (commands, orders) = mpsc::channel(16);
        let server = Server::new(key.clone(), spec.clone(), self.0.bus.clone(), commands);
        let server = Arc::new(server);
        let supervisor = Supervisor::new(server.clone(), self.0.context.clone(), orders, begun);
        self.0.tasks.spawn(supervisor.run());
        server
    }
}

impl Servers for Upstreams {
    fn call<'a>(
        &'a self,
        server: &'a ServerKey,
        method: &'a str,
        params: Option<Params<'a>>,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        let params = params.unwrap_or(Json::EMPTY.into());
        Box::pin(async move { self.request(server, method, &params, caller).await })
    }
}

/// A call of a tool that is told of; one that is dropped was cancelled.
struct Record<'b> {
    bus: &'b Bus,
    key: &'b ServerKey,
    call: u64,
    tool: Arc<str>,
    began: std::time::Instant,
    outcome: Outcome,
}

impl<'b> Record<'b> {
    fn begin(bus: &'b Bus, key: &'b ServerKey, tool: &str) -> Self {
        let (call, tool): (_, Arc<str>) = (bus.next_call(), tool.into());
        bus.send(key, EventKind::ToolStarted { call, tool: tool.clone() });
        Self { bus, key, call, tool, began: bus.clock().monotonic(), outcome: Outcome::Cancelled }
    }

    fn end(mut self, result: &Result<JsonBuf, CallError>) {
        self.outcome = match result {
            Ok(result) if peek::is_error(result.as_json()) => Outcome::ToolError,
            Ok(_) => Outcome::Done,
            Err(CallError::Rpc(_)) => Outcome::Refused,
            Err(CallError::TimedOut { .. } | CallError::Busy { .. }) => Outcome::TimedOut,
            Err(_) => Outcome::Lost,
        };
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        let elapsed = self.bus.clock().monotonic().saturating_duration_since(self.began);
        let (call, tool, outcome) = (self.call, self.tool.clone(), self.outcome);
        self.bus.send(self.key, EventKind::ToolCompleted { call, tool, elapsed, outcome });
    }
}
