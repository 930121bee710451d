//! What those who want to hear of a resource see of it at this moment: whoever has lost it is told
//! nothing more. Never talks to a server.

use std::sync::Arc;

use switchboard_core::port::LONGEST_NAME;
use switchboard_core::{Snapshot, View};
use switchboard_model::ServerKey;

use super::{Place, Watch, Whose};
use crate::endpoint::Inner;

/// So many ends of parts are looked at in a URI: it is a server that says how many there are.
const DEEPEST: usize = 64;

impl Inner {
    /// A resource changed, by its server's own URI: whoever wants to hear of it, or of one that it is part of,
    /// and sees that, is told once.
    pub(crate) fn resource_updated(&self, server: &ServerKey, uri: &str) {
        // Nobody can ask for a longer one, and it is a server that says how long it is: each who hears of a part of
        // theirs would get a copy.
        if uri.len() > LONGEST_NAME {
            return;
        }
        let now = self.registry.load();
        let places: Vec<Place> =
            wholes(uri).map(|from| (server.clone(), from.to_owned())).collect();
        self.watches.tell(&places, |place, watch| {
            let view = watch.whose.view(self, &now)?;
            let found = self.router.resource(&view, &watch.uri)?;
            match found == *place {
                true if place.1 == uri => Some(watch.uri.clone()),
                true => self.router.called(&view, server, uri),
                false => None,
            }
        });
    }

    /// Something else is on offer, or to others.
    pub(crate) fn give_up_lost(&self, now: &Snapshot) {
        self.watches.give_up(|place, watch| self.is_lost(now, place, watch));
    }

    fn is_lost(&self, now: &Snapshot, place: &Place, watch: &Watch) -> bool {
        let (server, _) = place;
        // One that is away tells nothing, and comes back with what it was asked for.
        if now.offer(server).is_none() {
            return false;
        }
        let Some(view) = watch.whose.view(self, now) else { return true };
        match self.router.resource(&view, &watch.uri) {
            Some(found) => found != *place,
            // What is only not listed at the moment is not lost.
            None => !view.servers().any(|(key, _)| key == server),
        }
    }
}

/// A URI, and those of which it names a part: all that it begins with up to a `/`, `?` or `#`, with that or
/// without.
fn wholes(uri: &str) -> impl Iterator<Item = &str> {
    let ends = uri.match_indices(['/', '?', '#']).take(DEEPEST);
    let parts = ends.flat_map(|(at, _)| [at, at + 1]).filter(|end| (1..uri.len()).contains(end));
    let mut parts: Vec<usize> = parts.collect();
    parts.dedup();
    std::iter::once(uri).chain(parts.into_iter().map(|end| &uri[..end]))
}

impl Whose {
    fn view(&self, inner: &Inner, now: &Snapshot) -> Option<Arc<View>> {
        match self {
            Self::Session(session, _) => {
                let session = session.upgrade()?;
                session.door.view(now, &session.principal, &inner.surface)
            }
            Self::Stream(hearing) => hearing.door.view(now, &hearing.principal, &inner.surface),
            Self::Gone => None,
        }
    }
}
