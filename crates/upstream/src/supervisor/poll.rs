//! Lists of servers that do not tell of changes: how often they are looked at, and that they are.
//! Only says that it is time; whoever refreshes reads them.

use std::time::Duration;

use tokio::time::sleep;

use crate::channel::{Channel, Kinds};
use crate::connection::Connection;
use crate::peer::Peer;
use crate::server::Server;

/// Between two looks, at least and at most, whatever a server says of how long its lists hold.
const LEAST: Duration = Duration::from_secs(5);
const MOST: Duration = Duration::from_secs(5 * 60);

/// How often lists are looked at: when they expire, or with each health check.
pub(crate) fn every(ttl: Option<Duration>, health: Duration) -> Duration {
    ttl.unwrap_or(health).clamp(LEAST, MOST)
}

/// The lists that a server has and never says a word about.
fn untold(peer: &Peer) -> Kinds {
    let kinds =
        [(Kinds::TOOLS, "tools"), (Kinds::RESOURCES, "resources"), (Kinds::PROMPTS, "prompts")];
    let is_untold = |name: &str| {
        peer.capabilities.has(&[name]) && !peer.capabilities.has(&[name, "listChanged"])
    };
    let untold = kinds.into_iter().filter(|(_, name)| is_untold(name));
    untold.fold(Kinds::NONE, |all, (kind, _)| all.with(kind))
}

/// The lists that are looked at: those that it never says a word about, and those of which it does not
/// agree to tell.
pub(crate) fn looked_at(peer: &Peer, channel: &Channel) -> Kinds {
    untold(peer).with(channel.changed.unheard())
}

/// Looks at these lists again and again; which they are may change meanwhile.
pub(super) async fn look(server: &Server, connection: &Connection) {
    let channel = &connection.channel;
    loop {
        let ttl = server.listing.load().said();
        sleep(every(ttl, server.spec.load().timing.health_interval)).await;
        match looked_at(connection.peer(), channel) {
            Kinds::NONE => {}
            kinds => channel.changed.note(kinds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_looks() {
        let seconds = Duration::from_secs;
        let check = |ttl: Option<u64>, health, expected| {
            assert_eq!(every(ttl.map(seconds), seconds(health)), seconds(expected));
        };
        check(None, 60, 60);
        check(None, 1, 5);
        check(Some(30), 60, 30);
        check(Some(0), 60, 5);
        check(Some(24 * 3600), 60, 300);
    }
}
