//! Telling those who want to hear of a resource that it changed, each once. Never looks whether they may hear.

use std::collections::HashMap;
use std::sync::Weak;

use switchboard_wire::{method, write};

use super::{Place, Watch, Watches, Whose};
use crate::listeners::stamped;
use crate::outbox::Weight;

/// A client's stream.
#[derive(PartialEq, Eq, Hash)]
enum Stream {
    /// That of the session that lies there, which it does as long as anybody knows of it.
    Session(usize),
    Listener(u64),
}

impl Watches {
    /// Something changed that is all of these, the narrowest first: tells everybody who wants to hear of any what it is
    /// `called`, if they may hear of it. Who wants to hear of several is told once, but by every name that is their own for it.
    pub(super) fn tell(&self, places: &[Place], called: impl Fn(&Place, &Watch) -> Option<String>) {
        let all = self.lock();
        let mut told: HashMap<Stream, Vec<String>> = HashMap::new();
        for (at, place) in places.iter().enumerate() {
            for watch in all.rows.get(place).map_or(&[][..], |row| &row.watches) {
                let Some(stream) = watch.whose.stream() else { continue };
                let Some(called) = called(place, watch) else { continue };
                let names = told.entry(stream).or_default();
                let is_whole = at > 0;
                if names.is_empty() || (!is_whole && !names.contains(&called)) {
                    watch.tell(&called);
                    names.push(called);
                }
            }
        }
    }
}

impl Watch {
    /// Tells of a change of what they call so.
    fn tell(&self, called: &str) {
        let uri = |params: &mut write::Object<'_>| params.text("uri", called);
        let (out, params) = match &self.whose {
            Whose::Session(session, _) => {
                let own = session.upgrade();
                let own = own.and_then(|session| session.streams(|all| all.opened().cloned()));
                (own, write::object(uri))
            }
            Whose::Stream(hearing) => (hearing.out(), stamped(&hearing.id, uri)),
            Whose::Gone => return,
        };
        if let Some(out) = out {
            let mut message = Vec::new();
            write::notification(&mut message, method::RESOURCE_UPDATED, Some(params.as_json()));
            out.push(message.into(), Weight::Notice);
        }
    }
}

impl Whose {
    fn stream(&self) -> Option<Stream> {
        match self {
            Self::Session(session, _) => Some(Stream::Session(Weak::as_ptr(session) as usize)),
            Self::Stream(hearing) => Some(Stream::Listener(hearing.number)),
            Self::Gone => None,
        }
    }
}
