//! Resources that are subscribed to at a server of the session era which has no stream to tell of them: read
//! as often as its lists, and compared. Never keeps what they hold.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::time::Duration;

use switchboard_wire::{method, write};
use tokio::time::{sleep, timeout};

use super::poll::every;
use crate::channel::Kinds;
use crate::connection::Connection;
use crate::pulse::Patience;
use crate::server::Server;
use crate::transport::Headers;
use crate::watched::Look;

/// How long a look may take, and how long whoever subscribes waits for the first.
const LOOK: Duration = Duration::from_secs(5);
const FIRST: Duration = Duration::from_secs(2);

/// Looks at all of them again and again, while nobody hears the server; whoever subscribed to one that holds
/// something else is told.
pub(super) async fn look(server: &Server, connection: &Connection) {
    loop {
        let said = server.listing.load().said();
        sleep(every(said, server.spec.load().timing.health_interval)).await;
        if is_heard(connection) {
            continue;
        }
        for uri in server.watched.all() {
            if compare(server, connection, &uri).await == Some(Look::Other) {
                server.tell_to_look(&uri);
            }
        }
    }
}

/// Takes note of what a resource holds that is subscribed to from now on, if it is to be looked at.
pub(crate) async fn note(server: &Server, connection: &Connection, uri: &str) {
    if !is_heard(connection) {
        // Without it, the next look is told of: nobody knows what there was.
        let _ = timeout(FIRST, compare(server, connection, uri)).await;
    }
}

fn is_heard(connection: &Connection) -> bool {
    connection.channel.changed.unheard() != Kinds::ALL
}

/// What one look shows; nothing if it cannot be read.
async fn compare(server: &Server, connection: &Connection, uri: &str) -> Option<Look> {
    let params = write::object(|params| params.text("uri", uri));
    let (headers, patience) = (Headers::default(), Patience::of(LOOK));
    let asking =
        connection.channel.ask(method::RESOURCES_READ, params.as_json(), headers, patience);
    let read = asking.await.ok()?;
    // What is said beside the contents may be another thing each time.
    let held = read.as_json().get("contents").unwrap_or(read.as_json());
    let mut hash = DefaultHasher::new();
    held.as_bytes().hash(&mut hash);
    Some(server.watched.look(uri, hash.finish()))
}
