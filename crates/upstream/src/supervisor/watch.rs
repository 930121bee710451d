//! What goes on beside the calls of a connection: health checks, lists that change, and the
//! subscription to their changes. Each ends with the connection.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::port::{CallError, Caller};
use switchboard_wire::types::Filter;
use switchboard_wire::{Era, code, method, write};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::task::TaskTracker;

use super::poll;
use crate::catalog;
use crate::channel::Kinds;
use crate::connection::Connection;
use crate::pulse::Patience;
use crate::server::Server;
use crate::transport::Headers;

/// A storm of changes is over when nothing came for so long, or has lasted for so long.
const CALM: Duration = Duration::from_millis(200);
const STORM: Duration = Duration::from_secs(2);
/// How often a server may be too busy to answer a check, if it answers no call either.
const BUSY: u32 = 3;
/// Between two subscriptions: at first, and at most. One that lived for longer was a good one.
const RESUBSCRIBE: Duration = Duration::from_millis(200);
const RESUBSCRIBE_LATER: Duration = Duration::from_secs(5);
/// For ever.
const ENDLESS: Duration = Duration::from_secs(365 * 24 * 3600);

/// Starts all of it; `check` is how long a health check may take.
pub(super) fn start(
    server: &Arc<Server>,
    connection: &Arc<Connection>,
    check: Duration,
    tasks: &TaskTracker,
) {
    let end = connection.channel.token();
    let (s, c) = (server.clone(), connection.clone());
    tasks.spawn(end.clone().run_until_cancelled_owned(async move { health(&s, &c, check).await }));
    let (s, c) = (server.clone(), connection.clone());
    tasks.spawn(end.clone().run_until_cancelled_owned(async move { refresh(&s, &c).await }));
    let (s, c) = (server.clone(), connection.clone());
    tasks.spawn(end.clone().run_until_cancelled_owned(async move {
        match c.peer().era() {
            Era::Session => resubscribe(&s, &c).await,
            Era::Stateless => {
                subscribe(&s, &c).await;
                // Read at once: how long the lists hold is another matter from here on.
                c.channel.changed.give_up_listening();
                c.channel.changed.note(Kinds::ALL);
                poll::look(&s, &c, Kinds::ALL).await;
            }
        }
    }));
    let (s, c) = (server.clone(), connection.clone());
    tasks.spawn(end.clone().run_until_cancelled_owned(async move {
        poll::look(&s, &c, poll::untold(c.peer())).await;
    }));
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

/// Reads lists anew when they change, once per storm.
async fn refresh(server: &Server, connection: &Connection) {
    let channel = &connection.channel;
    loop {
        channel.changed.rung().await;
        let storm = Instant::now() + STORM;
        loop {
            let calm = (Instant::now() + CALM).min(storm);
            if timeout_at(calm, channel.changed.rung()).await.is_err() || Instant::now() >= storm {
                break;
            }
        }
        let kinds = channel.changed.take();
        let patience = Patience::of(server.spec.load().timing.call);
        let before = server.listing.load_full();
        match catalog::load(channel, connection.peer(), &before, kinds, patience).await {
            Ok(listing) => {
                server.listing.store(Arc::new(listing));
                server.offer();
            }
            Err(error) => {
                server.journal.remark(&format!("its lists changed and cannot be read: {error}"));
                // What was missed must not be missed for ever.
                sleep_until(Instant::now() + STORM).await;
                channel.changed.note(kinds);
            }
        }
    }
}

/// Asks again for what was subscribed to in an earlier session.
async fn resubscribe(server: &Server, connection: &Connection) {
    for uri in server.watched.all() {
        let params = write::object(|params| params.text("uri", &uri));
        let caller = Caller::default();
        let asked = connection.call(method::SUBSCRIBE, Some(params.as_json()), &caller).await;
        if let Err(error) = asked {
            server.journal.remark(&format!("{uri} is no longer subscribed to: {error}"));
        }
    }
}

/// Asks to be told of changes, in the era that wants to be asked; anew when others are wanted.
async fn subscribe(server: &Server, connection: &Connection) {
    let (peer, channel) = (connection.peer(), &connection.channel);
    let (mut first, mut pause) = (true, RESUBSCRIBE);
    loop {
        let wanted = wanted(server, connection);
        if wanted == Filter::default() {
            server.watched.changed().await;
            continue;
        }
        let filter = wanted.to_json();
        let params = write::object(|params| params.raw("notifications", filter.as_json()));
        let params = peer.own(params.as_json());
        let headers = Headers::mirror(peer.revision, method::LISTEN, None);
        let patience = Patience::of(ENDLESS);
        if !std::mem::take(&mut first) {
            // What changed while nobody listened is found by looking.
            channel.changed.note(Kinds::ALL);
        }
        let began = Instant::now();
        let ended = tokio::select! {
            ended = channel.ask(method::LISTEN, params.as_json(), headers, patience) => ended,
            () = server.watched.changed() => continue,
        };
        match ended {
            Err(CallError::Rpc(error)) if error.code == code::METHOD_NOT_FOUND => return,
            // It does not have it; anything from 500 on is no answer to that.
            Err(CallError::Http { status: ..500, .. } | CallError::Malformed(_)) => return,
            _ => {}
        }
        if began.elapsed() > RESUBSCRIBE_LATER {
            pause = RESUBSCRIBE;
        }
        sleep(pause).await;
        pause = (pause * 2).min(RESUBSCRIBE_LATER);
    }
}

fn wanted(server: &Server, connection: &Connection) -> Filter {
    let has = |kind: &str| connection.peer().capabilities.has(&[kind, "listChanged"]);
    Filter {
        tools: has("tools"),
        prompts: has("prompts"),
        resources: has("resources"),
        uris: server.watched.all(),
        ..Filter::default()
    }
}
