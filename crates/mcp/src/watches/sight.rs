//! What those who want to hear of a resource see of it at this moment: whoever has lost it is told
//! nothing more. Never talks to a server.

use std::sync::Arc;

use switchboard_core::{Snapshot, View};
use switchboard_model::ServerKey;

use super::{Place, Watch, Whose};
use crate::endpoint::Inner;

impl Inner {
    /// A resource changed, by its server's own URI: whoever wants to hear of it, and sees it, is told.
    pub(crate) fn resource_updated(&self, server: &ServerKey, uri: &str) {
        let now = self.registry.load();
        let place = (server.clone(), uri.to_owned());
        self.watches.tell(&place, |watch| {
            let found = watch.whose.view(self, &now);
            found.and_then(|view| self.router.resource(&view, &watch.uri)).as_ref() == Some(&place)
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

impl Whose {
    fn view(&self, inner: &Inner, now: &Snapshot) -> Option<Arc<View>> {
        match self {
            Self::Session(session) => {
                let session = session.upgrade()?;
                session.door.view(now, &session.principal, &inner.surface)
            }
            Self::Stream(hearing) => hearing.door.view(now, &hearing.principal, &inner.surface),
            Self::Gone => None,
        }
    }
}
