//! Lists that change, read anew: once per storm, and again later where they could not be read. Ends with the
//! connection.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use crate::catalog::{self, Unread};
use crate::channel::{Channel, Kinds};
use crate::connection::Connection;
use crate::journal::Journal;
use crate::pulse::Patience;
use crate::server::Server;

/// A storm of changes is over when nothing came for so long, or has lasted for so long.
const CALM: Duration = Duration::from_millis(200);
const STORM: Duration = Duration::from_secs(2);
/// Before a list that could not be read is read again: at first, doubled each time, and at most.
const AGAIN: Duration = Duration::from_secs(2);
const AGAIN_LATER: Duration = Duration::from_secs(5 * 60);

/// Reads lists anew when they change, and those that could not be read when it is time.
pub(super) async fn refresh(server: &Server, connection: &Connection, unread: Unread) {
    let channel = &connection.channel;
    let mut overdue = Overdue::default();
    overdue.reckon(Kinds::ALL, unread, &server.journal);
    loop {
        let due = tokio::select! {
            () = channel.changed.rung() => Kinds::NONE,
            () = overdue.due() => overdue.kinds,
        };
        calm(channel).await;
        let kinds = channel.changed.take().with(due);
        if channel.changed.take_missed() {
            server.watched.all().iter().for_each(|uri| server.tell_to_look(uri));
        }
        let patience = Patience::of(server.spec.load().timing.call);
        let before = server.listing.load_full();
        let read = catalog::load(channel, connection.peer(), &before, kinds, patience).await;
        let unread = match read {
            Ok((listing, unread)) => {
                server.listing.store(Arc::new(listing));
                server.offer();
                unread
            }
            Err(error) => {
                let why = format!("its lists changed and cannot be read: {error}");
                Unread { kinds, why: vec![why] }
            }
        };
        overdue.reckon(kinds, unread, &server.journal);
    }
}

/// Returns when the storm is over that has just begun.
async fn calm(channel: &Channel) {
    let storm = Instant::now() + STORM;
    loop {
        let calm = (Instant::now() + CALM).min(storm);
        if timeout_at(calm, channel.changed.rung()).await.is_err() || Instant::now() >= storm {
            return;
        }
    }
}

/// Lists that could not be read: what was missed must not be missed for ever.
#[derive(Default)]
struct Overdue {
    kinds: Kinds,
    /// How often in a row.
    tries: u32,
    at: Option<Instant>,
    /// Why, as it was said last.
    said: Vec<String>,
}

impl Overdue {
    /// Returns when it is time to try again.
    async fn due(&self) {
        match self.at {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    /// These were to be read, and some of them could not be. What repeats itself is said once.
    fn reckon(&mut self, read: Kinds, unread: Unread, journal: &Journal) {
        self.kinds = self.kinds.without(read).with(unread.kinds);
        if self.kinds == Kinds::NONE {
            *self = Self::default();
        }
        if unread.kinds == Kinds::NONE {
            return;
        }
        self.at = Some(Instant::now() + wait(self.tries));
        self.tries = self.tries.saturating_add(1);
        if unread.why != self.said {
            unread.why.iter().for_each(|why| journal.remark(why));
            self.said = unread.why;
        }
    }
}

fn wait(tries: u32) -> Duration {
    AGAIN.saturating_mul(1 << tries.min(10)).min(AGAIN_LATER)
}
