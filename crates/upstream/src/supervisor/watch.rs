//! What goes on beside the calls of a connection: health checks, lists that change, resources that are
//! subscribed to. Each ends with the connection.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::port::{CallError, Caller};
use switchboard_wire::{Era, method, write};
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use super::poll;
use super::refresh::refresh;
use super::subscribe::subscribe;
use super::unheard;
use crate::catalog::Unread;
use crate::connection::Connection;
use crate::context::Waits;
use crate::server::Server;

/// How often a server may be too busy to answer a check, if it answers no call either.
const BUSY: u32 = 3;

/// What a connection begins with.
pub(super) struct Begun {
    /// Lists that could not be read.
    pub(super) unread: Unread,
    /// Resources that were subscribed to before it.
    pub(super) watched: Vec<String>,
}

/// Starts all of it.
pub(super) fn start(
    server: &Arc<Server>,
    connection: &Arc<Connection>,
    begun: Begun,
    waits: &Waits,
    tasks: &TaskTracker,
) {
    let Begun { unread, watched } = begun;
    let &Waits { check, acknowledge, .. } = waits;
    let end = connection.channel.token();
    let (s, c) = (server.clone(), connection.clone());
    tasks.spawn(end.clone().run_until_cancelled_owned(async move { health(&s, &c, check).await }));
    let (s, c) = (server.clone(), connection.clone());
    tasks
        .spawn(end.clone().run_until_cancelled_owned(async move { refresh(&s, &c, unread).await }));
    let (s, c) = (server.clone(), connection.clone());
    tasks.spawn(end.clone().run_until_cancelled_owned(async move {
        match c.peer().era() {
            Era::Session => {
                resubscribe(&s, &c, watched).await;
                unheard::look(&s, &c).await;
            }
            Era::Stateless => subscribe(&s, &c, watched, acknowledge).await,
        }
    }));
    let (s, c) = (server.clone(), connection.clone());
    tasks.spawn(end.clone().run_until_cancelled_owned(async move { poll::look(&s, &c).await }));
}

/// Checks again and again; a check that fails ends the connection.
async fn health(server: &Server, connection: &Connection, limit: Duration) {
    let (mut busy, mut served) = (0, connection.served());
    loop {
        sleep(server.spec.load().timing.health_interval).await;
        let outcome = connection.check(limit).await;
        let failed = match &outcome {
            Ok(_) => {
                busy = 0;
                None
            }
            // One that works on a call may have no hand free to answer.
            Err(CallError::TimedOut { .. }) if connection.in_flight() > 0 => {
                busy = if connection.served() == served { busy + 1 } else { 1 };
                (busy >= BUSY).then(|| "it answers neither calls nor checks".to_owned())
            }
            Err(error) => Some(error.to_string()),
        };
        served = connection.served();
        server.note_health(outcome.map_err(|error| error.to_string()));
        if let Some(reason) = failed {
            return connection.channel.close(format!("the health check failed: {reason}"));
        }
    }
}

/// Asks again for what was subscribed to on an earlier connection. What happened since was told to nobody, so
/// whoever hears of it from now on is told to look.
async fn resubscribe(server: &Server, connection: &Connection, uris: Vec<String>) {
    for uri in uris {
        if !server.watched.has(&uri) {
            continue;
        }
        let params = write::object(|params| params.text("uri", &uri));
        let caller = Caller::default();
        let asked = connection.call(method::SUBSCRIBE, Some(params.as_json()), &caller).await;
        match asked {
            Ok(_) => {
                // What it holds now is what they look at.
                unheard::note(server, connection, &uri).await;
                server.tell_to_look(&uri);
            }
            Err(_) if connection.channel.token().is_cancelled() => return,
            Err(error) => {
                server.journal.remark(&format!("{uri} is no longer subscribed to: {error}"));
                server.lose(&uri);
            }
        }
    }
}
