//! A try that may become a connection: made, published, served, taken away again.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{Resolved, Until, state::Input};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::watch::{self, Begun};
use super::{Over, Supervisor, Then, drain_limit};
use crate::catalog::{self, Unread};
use crate::channel::Kinds;
use crate::connect::{Attempt, Established, establish};
use crate::connection::{Connection, Settings};
use crate::error::ConnectError;
use crate::pulse::Patience;
use crate::transport::Link;
use crate::transport::http::Fate;

/// How long a connection must last to have proved itself.
const PROVED: Duration = Duration::from_secs(30);
/// The same for one that has served a call.
const PROVED_BY_CALL: Duration = Duration::from_secs(10);
/// How long calls under way may take when the server has forgotten their session.
const FORGOTTEN: Duration = Duration::from_secs(1);
/// How often it is looked whether anybody used it.
const LOOK: Duration = Duration::from_millis(10);

impl Supervisor {
    pub(super) async fn live(
        &mut self,
        resolved: &Resolved,
        tasks: &TaskTracker,
        scope: &CancellationToken,
    ) -> Over {
        let (made, unread) = match self.connect(resolved, tasks, scope).await {
            Ok(made) => made,
            Err(over) => return over,
        };
        self.listed = true;
        // What is subscribed to from here on is no news to this connection.
        let begun = Begun { unread, watched: self.server.watched.all() };
        let Established { channel, process, peer } = made;
        let settings = self.settings();
        let catalog = self.server.catalog.clone();
        let revision = peer.revision.as_str().to_owned();
        let key = self.server.key.clone();
        let connection = Arc::new(Connection::new(key, peer, channel.clone(), catalog, settings));
        self.server.offer();
        self.server.publish(connection.clone(), process.as_ref().map(|process| process.pid));
        self.server.input(Input::Establish { now: self.context.clock.now(), revision });
        watch::start(&self.server, &connection, begun, &self.context.waits, tasks);
        let over = self.serve(&connection).await;
        self.server.withdraw();
        let patience = match &over {
            Over::Told(_) | Over::Idle => drain_limit(&self.spec),
            // Calls under way hear of it themselves, and then it is sure that nothing came of them.
            Over::Forgotten { .. } => FORGOTTEN,
            Over::Failed(_) | Over::Broken(_) | Over::Challenged { .. } | Over::Settled(_) => {
                Duration::ZERO
            }
        };
        let over = self.announce(over);
        drain(&connection, patience).await;
        if let Some(process) = &process {
            process.stop(self.spec.timing.stop_grace).await;
        }
        channel.close("its server was stopped");
        over
    }

    /// Says what is, before what was is ended: nobody may take the old connection for a new one.
    fn announce(&mut self, over: Over) -> Over {
        match over {
            Over::Told(Then::Again) => {
                self.server.input(Input::Begin { now: self.context.clock.now() });
                over
            }
            Over::Told(_) => {
                self.server.input(Input::Rest { until: Until::Told });
                over
            }
            Over::Failed(_)
            | Over::Broken(_)
            | Over::Forgotten { .. }
            | Over::Challenged { .. }
            | Over::Idle
            | Over::Settled(_) => Over::Settled(self.conclude(over)),
        }
    }

    /// Connects and reads the catalog, unless somebody wants something else meanwhile.
    async fn connect(
        &mut self,
        resolved: &Resolved,
        tasks: &TaskTracker,
        scope: &CancellationToken,
    ) -> Result<(Established, Unread), Over> {
        let (server, context, spec) =
            (self.server.clone(), self.context.clone(), self.spec.clone());
        let attempt = Attempt {
            context: &context,
            key: &server.key,
            spec: &spec,
            journal: &server.journal,
            tasks,
            scope,
        };
        // Another declaration may be of another server, and what was listed is none of its lists.
        let before = if self.listed { server.listing.load_full() } else { Arc::default() };
        let making = async {
            let made = establish(&attempt, resolved).await?;
            let patience = Patience::of(spec.timing.call);
            let loading = catalog::load(&made.channel, &made.peer, &before, Kinds::ALL, patience);
            let (listing, unread) = loading
                .await
                .map_err(|error| ConnectError::handshake("reading its lists", error))?;
            server.listing.store(Arc::new(listing));
            Ok((made, unread))
        };
        let mut making = pin!(making);
        let late = Instant::now() + spec.timing.connect;
        let mut in_time = true;
        loop {
            let command = tokio::select! {
                made = &mut making => return made.map_err(Over::Failed),
                () = sleep_until(late), if in_time => {
                    in_time = false;
                    server.input(Input::RunLate);
                    continue;
                }
                command = self.commands.recv() => command,
            };
            if let Some(then) = self.obey(command) {
                return Err(Over::Told(then));
            }
        }
    }

    /// Keeps the connection until something ends it.
    async fn serve(&mut self, connection: &Arc<Connection>) -> Over {
        let start = Instant::now();
        let mut proved = false;
        loop {
            let idle = self.spec.timing.idle;
            let unused = idle.map(|limit| limit.saturating_sub(connection.idle()));
            let command = tokio::select! {
                reason = connection.channel.closed() => return ended(connection, reason),
                () = sleep(PROVED_BY_CALL), if !proved => {
                    let limit = if connection.served() > 0 { PROVED_BY_CALL } else { PROVED };
                    if start.elapsed() >= limit {
                        proved = true;
                        self.server.input(Input::Prove);
                    }
                    continue;
                }
                () = sleep(unused.unwrap_or_default().max(LOOK)), if unused.is_some() => {
                    if idle.is_some_and(|limit| connection.idle() >= limit) {
                        return Over::Idle;
                    }
                    continue;
                }
                command = self.commands.recv() => command,
            };
            match self.obey(command) {
                Some(then) => return Over::Told(then),
                None => connection.adjust(self.settings()),
            }
        }
    }

    fn settings(&self) -> Settings {
        Settings { timing: self.spec.timing.clone(), limits: self.spec.limits.clone() }
    }
}

fn ended(connection: &Connection, reason: String) -> Over {
    if let Link::Http(http) = connection.channel.link() {
        match http.fate() {
            Some(Fate::Unauthorized { detail, challenge }) => {
                return Over::Challenged { detail: detail.clone(), challenge: challenge.clone() };
            }
            Some(Fate::Forgotten) => {
                return Over::Forgotten { served: connection.served() };
            }
            None => {}
        }
    }
    Over::Broken(reason)
}

/// Lets calls under way finish.
async fn drain(connection: &Connection, limit: Duration) {
    let end = Instant::now() + limit;
    while connection.in_flight() > 0 && Instant::now() < end {
        sleep(LOOK).await;
    }
}
