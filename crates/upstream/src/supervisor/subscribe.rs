//! The subscription to the changes of a server of the stateless era, which wants to be asked: asked anew
//! when others are wanted, or when it ends. What it does not agree to tell is looked at instead, and what
//! changed while it was not heard is found by looking.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use switchboard_core::port::CallError;
use switchboard_wire::types::Filter;
use switchboard_wire::{JsonBuf, code, method, write};
use tokio::time::{Instant, sleep, sleep_until};

use crate::channel::{Kinds, Outgoing, Waiting};
use crate::connection::Connection;
use crate::pulse::Patience;
use crate::server::Server;
use crate::transport::Headers;

/// Between two subscriptions: at first, and at most. One that lived for longer was a good one.
const RESUBSCRIBE: Duration = Duration::from_millis(200);
const RESUBSCRIBE_LATER: Duration = Duration::from_secs(5);
/// Whoever has acknowledged nothing for so long is looked at until they do.
const ACKNOWLEDGE: Duration = Duration::from_secs(5);
/// For ever.
const ENDLESS: Duration = Duration::from_secs(365 * 24 * 3600);

/// Listens for as long as there is a connection; `before` was subscribed to on an earlier one. Returns if the
/// server cannot be listened to.
pub(super) async fn subscribe(server: &Server, connection: &Connection, before: Vec<String>) {
    let channel = &connection.channel;
    let (mut first, mut pause) = (true, RESUBSCRIBE);
    let mut told = Told { uris: BTreeSet::from_iter(before), missed: true };
    loop {
        let wanted = wanted(server, connection);
        if wanted == Filter::default() {
            server.watched.changed().await;
            continue;
        }
        if !std::mem::take(&mut first) {
            // What changed while nobody listened is found by looking.
            channel.changed.note(Kinds::ALL);
        }
        let began = Instant::now();
        let Some(ended) = listen(server, connection, wanted, &mut told).await else { continue };
        channel.agreement.over(&ended);
        told.missed = true;
        match ended {
            Err(CallError::Rpc(error)) if error.code == code::METHOD_NOT_FOUND => break,
            // It does not have it; anything from 500 on is no answer to that.
            Err(CallError::Http { status: ..500, .. } | CallError::Malformed(_)) => break,
            _ => reckon(connection),
        }
        if began.elapsed() > RESUBSCRIBE_LATER {
            pause = RESUBSCRIBE;
        }
        tokio::select! {
            () = sleep(pause) => {}
            () = server.watched.changed() => {}
        }
        pause = (pause * 2).min(RESUBSCRIBE_LATER);
    }
    channel.agreement.give_up();
    reckon(connection);
    told.uris.iter().for_each(|uri| server.lose(uri));
}

/// One subscription to its end; `None` if something else is wanted meanwhile.
async fn listen(
    server: &Server,
    connection: &Connection,
    wanted: Filter,
    told: &mut Told,
) -> Option<Result<JsonBuf, CallError>> {
    let (peer, channel) = (connection.peer(), &connection.channel);
    let filter = wanted.to_json();
    let params = write::object(|params| params.raw("notifications", filter.as_json()));
    let params = peer.own(params.as_json());
    let headers = Headers::mirror(peer.revision, method::LISTEN, None);
    let watched = wanted.uris.clone();
    let listener = Some(channel.agreement.begin(wanted));
    let asking = channel.request(Outgoing {
        method: method::LISTEN,
        params: |out: &mut Vec<u8>, _| {
            out.extend_from_slice(params.as_json().as_bytes());
            Ok(())
        },
        headers,
        patience: Patience::of(ENDLESS),
        waiting: Waiting { listener, ..Waiting::default() },
    });
    let (mut asking, mut is_open) = (pin!(asking), true);
    let late = Instant::now() + ACKNOWLEDGE;
    let mut in_time = true;
    loop {
        tokio::select! {
            ended = &mut asking => return Some(ended),
            () = server.watched.changed() => return None,
            () = channel.agreement.answered(), if is_open => {
                is_open = false;
                in_time = false;
                reckon(connection);
                told.reckon(server, &watched, &channel.agreement.untold(&watched));
            }
            () = sleep_until(late), if in_time => {
                in_time = false;
                reckon(connection);
            }
        }
    }
}

/// Resources of which it agreed to tell, by what it acknowledged last.
struct Told {
    uris: BTreeSet<String>,
    /// Whether it was not heard since.
    missed: bool,
}

impl Told {
    /// These were asked for, and of some of them it does not tell.
    fn reckon(&mut self, server: &Server, asked: &[String], untold: &[&String]) {
        let before = std::mem::take(&mut self.uris);
        let missed = std::mem::take(&mut self.missed);
        for uri in asked {
            if untold.contains(&uri) {
                server.journal.remark(&format!("it does not tell of changes of {uri}"));
                if before.contains(uri) {
                    server.lose(uri);
                }
                continue;
            }
            if missed && before.contains(uri) {
                server.tell_to_look(uri);
            }
            self.uris.insert(uri.clone());
        }
    }
}

/// Takes over which lists nobody will hear of. Those are read at once: how long they hold is another
/// matter from here on.
fn reckon(connection: &Connection) {
    let channel = &connection.channel;
    let unheard = channel.agreement.unheard();
    let before = channel.changed.set_unheard(unheard);
    if before != unheard {
        channel.changed.note(before.with(unheard));
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
