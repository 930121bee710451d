//! The hub as a library: what is declared runs, what it offers is on offer to whoever may see it,
//! and every call takes the one path. Reads no file and listens nowhere; [`crate::app`] does.
//!
//! ```no_run
//! use switchboard::hub::Hub;
//! use switchboard::model::{AgentId, Desired};
//!
//! # async fn example(desired: Desired) -> Result<(), Box<dyn std::error::Error>> {
//! let hub = Hub::builder().start().await?;
//! hub.reconcile(&desired).await;
//! hub.settle(std::time::Duration::from_secs(30)).await;
//! let agent = AgentId::parse("cto")?;
//! for tool in hub.tools(&agent) {
//!     println!("{}: {}", tool.name, tool.description.unwrap_or_default());
//! }
//! let result = hub.call(&agent, "mcp__filesystem__list_directory", r#"{"path": "."}"#).await?;
//! println!("{}", result.as_json().as_str());
//! hub.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod access;
mod audited;
mod builder;
mod cache;
mod call;
mod ended;
mod house;
mod offers;
mod record;
mod secrets;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use switchboard_core::{Audience, Registry, Router, Surface};
use switchboard_mcp::Endpoint;
use switchboard_model::{AgentId, Desired, Event, ServerKey, ServerName, UserId};
use switchboard_store::{Recorder, Store};
use switchboard_upstream::{Applied, Upstreams};
use tokio::sync::{Mutex, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::traces::Spans;
pub use access::Tokens;
use audited::Audited;
pub use builder::{Builder, HubError};
pub use call::{Arguments, Tool};

/// How long records may take to be written at the end.
const FAREWELL: Duration = Duration::from_secs(10);

/// How long the last spans may take to be sent.
const LAST_SPANS: Duration = Duration::from_secs(5);

/// A running hub. Cheap to clone; all clones are the same. It ends with [`Hub::shutdown`].
#[derive(Clone)]
pub struct Hub(Arc<Inner>);

struct Inner {
    upstreams: Upstreams,
    registry: Registry,
    router: Router,
    endpoint: Endpoint,
    store: Option<Store>,
    recorder: Option<Recorder>,
    audited: Option<Arc<Audited>>,
    spans: Option<Spans>,
    models: Surface,
    desired: ArcSwap<Desired>,
    /// What is declared is taken over by one at a time.
    turn: Arc<Mutex<()>>,
    tasks: TaskTracker,
    /// What is kept of servers must be kept before they end.
    keeping: TaskTracker,
    end: CancellationToken,
}

impl Hub {
    /// Begins to make one.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Makes what runs equal to what is declared, and shows everybody what they may see. The same
    /// path for a start, a change from whatever source, and the end. One after the other, in the order in which they
    /// were asked for; and to its end, also if nobody waits for it any more.
    pub async fn reconcile(&self, desired: &Desired) -> Applied {
        let (hub, desired) = (self.clone(), Arc::new(desired.clone()));
        let turn = self.0.turn.clone().lock_owned().await;
        let done = self.0.tasks.spawn(async move {
            let _turn = turn;
            hub.apply(desired).await
        });
        match done.await {
            Ok(applied) => applied,
            Err(stopped) => match stopped.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Applied::default(),
            },
        }
    }

    async fn apply(&self, desired: Arc<Desired>) -> Applied {
        // What ends must not be started again by whoever comes late.
        if self.0.end.is_cancelled() {
            return Applied::default();
        }
        self.0.desired.store(desired.clone());
        // What is taken away counts at once, however long servers take to end; what is given, once it is there.
        self.0.registry.narrow_audience(&self.audience());
        if let Some(audited) = &self.0.audited {
            audited.follow(&desired).await;
        }
        let applied = self.0.upstreams.reconcile(&desired).await;
        self.refresh_audience();
        offers::sync(&self.0.upstreams, &self.0.registry);
        applied
    }

    /// Who may see what, by what is declared and who is known now.
    pub fn refresh_audience(&self) {
        self.0.registry.set_audience(self.audience());
    }

    fn audience(&self) -> Audience {
        let desired = self.0.desired.load();
        let access = self.0.store.as_ref().map(|store| store.access());
        let known = access.map(|access| access.agents()).unwrap_or_default();
        let people = access.map(|access| access.users()).unwrap_or_default();
        let agents: Vec<(AgentId, Option<UserId>)> = known
            .iter()
            .map(|agent| (agent.id.clone(), Some(agent.owner.clone())))
            .chain([(local_agent(), None)])
            .collect();
        let agents = agents.iter().map(|(agent, owner)| (agent, owner.as_ref()));
        let house = [house_key()];
        let audience = Audience::of(&desired, agents, &house);
        let people = people.iter().map(|user| &user.id);
        audience.with_people(&desired, people, &house)
    }

    /// Waits until no server is about to become something else, or the time is up.
    pub async fn settle(&self, limit: Duration) {
        self.0.upstreams.settle(limit).await;
        offers::sync(&self.0.upstreams, &self.0.registry);
    }

    /// Waits for servers of which nothing is known yet, so that a first list is not an empty one.
    /// One whose catalog was kept is not waited for.
    pub async fn settle_unknown(&self, limit: Duration) {
        let now = self.0.registry.load();
        let unknown = self.0.upstreams.status().into_iter().map(|status| status.key);
        let unknown: Vec<ServerKey> = unknown.filter(|key| now.offer(key).is_none()).collect();
        join_all(unknown.iter().map(|key| self.0.upstreams.settled(key, limit))).await;
        offers::sync(&self.0.upstreams, &self.0.registry);
    }

    /// What happens at servers from now on.
    pub fn events(&self) -> broadcast::Receiver<Arc<Event>> {
        self.0.upstreams.events()
    }

    /// The connections.
    pub fn upstreams(&self) -> &Upstreams {
        &self.0.upstreams
    }

    /// What is on offer.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// How tools are named towards models.
    pub fn models(&self) -> &Surface {
        &self.0.models
    }

    /// The path of every call.
    pub fn router(&self) -> &Router {
        &self.0.router
    }

    /// What serves MCP to agents; whoever has a listener puts its routes there.
    pub fn endpoint(&self) -> &Endpoint {
        &self.0.endpoint
    }

    /// State that lasts, if the hub has any.
    pub fn store(&self) -> Option<&Store> {
        self.0.store.as_ref()
    }

    /// Who writes calls down, if the hub has a store.
    pub fn recorder(&self) -> Option<&Recorder> {
        self.0.recorder.as_ref()
    }

    /// What became of the spans of calls, if a collector is given them.
    pub fn spans(&self) -> Option<Arc<dyn switchboard_rest::port::Spans>> {
        self.0.spans.clone().map(|spans| Arc::new(spans) as _)
    }

    /// What is declared now.
    pub fn desired(&self) -> Arc<Desired> {
        self.0.desired.load_full()
    }

    /// Ends every session and server, writes what is still to be written, closes the store (also one that was given
    /// to [`Builder::store`]), and returns when nothing runs any more.
    pub async fn shutdown(&self) {
        self.0.end.cancel();
        self.0.endpoint.shutdown().await;
        self.0.keeping.close();
        // A store that does not answer must not keep the servers from ending.
        let _ = tokio::time::timeout(FAREWELL, self.0.keeping.wait()).await;
        // Whoever has a turn has looked whether this is the end; nobody does behind this.
        let turn = self.0.turn.lock().await;
        self.0.upstreams.disconnect_all().await;
        drop(turn);
        self.0.tasks.close();
        self.0.tasks.wait().await;
        if let Some(spans) = &self.0.spans {
            let counters = spans.close(LAST_SPANS).await;
            if counters.dropped > 0 {
                tracing::warn!("{} spans of calls were lost", counters.dropped);
            }
        }
        if let Some(recorder) = &self.0.recorder {
            let counters = recorder.close(FAREWELL).await;
            if counters.dropped > 0 {
                tracing::warn!("{} records of calls were lost", counters.dropped);
            }
        }
        if let Some(store) = &self.0.store
            && let Err(error) = store.close().await
        {
            tracing::warn!(%error, "the store did not close in good order");
        }
    }
}

/// The agent that this machine's user is at the command line and over `switchboard mcp`, unless
/// another is named.
pub fn local_agent() -> AgentId {
    known(AgentId::parse("local"))
}

/// The hub's own server.
pub fn house_key() -> ServerKey {
    ServerKey::global(known(ServerName::parse(switchboard_core::naming::HOUSE)))
}

#[expect(clippy::expect_used, reason = "the names are constants, and a test reads them")]
fn known<T, E: std::fmt::Debug>(name: Result<T, E>) -> T {
    name.expect("it is a name")
}

#[cfg(test)]
mod tests;
