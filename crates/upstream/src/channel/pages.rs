//! Pages to which a server sent a client (elicitation by URL), so that word of their end reaches
//! that client and nobody else. Never waits, and keeps no call alive.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_core::port::{ClientPort, RpcError};
use switchboard_wire::{Json, code};

/// Beyond so many the oldest are forgotten: a server need not tell of the end, and most do not.
const MOST: usize = 256;

/// The pages of one connection, oldest first.
#[derive(Default)]
pub(super) struct Pages(Mutex<VecDeque<Page>>);

/// A page's name, and who was sent there.
type Page = (Box<str>, Arc<dyn ClientPort>);

impl Pages {
    /// The client behind `port` is asked to open what these params name, if they name a page.
    pub(super) fn note(&self, params: Json<'_>, port: &Arc<dyn ClientPort>) {
        let Some(id) = id(params) else { return };
        let Some(client) = port.clone().beyond() else { return };
        let mut pages = self.lock();
        // Whoever is asked again is told once.
        pages.retain(|(other, whose)| **other != *id || whose.who() != client.who());
        if pages.len() >= MOST {
            pages.pop_front();
        }
        pages.push_back((id.into(), client));
    }

    /// The same for pages that an error names.
    pub(super) fn note_refusal(&self, error: &RpcError, port: Option<&Arc<dyn ClientPort>>) {
        let Some(port) = port.filter(|_| error.code == code::URL_ELICITATION_REQUIRED) else {
            return;
        };
        let pages = error.data().and_then(|data| data.get("elicitations"));
        for page in pages.into_iter().flat_map(Json::elements) {
            self.note(page, port);
        }
    }

    /// A page is done with: who was sent there. Nobody is told twice.
    pub(super) fn done(&self, params: Json<'_>) -> Vec<Arc<dyn ClientPort>> {
        let Some(id) = id(params) else { return Vec::new() };
        let mut pages = self.lock();
        let is_it = |(other, _): &Page| **other == *id;
        let sent = pages.iter().filter(|page| is_it(page)).map(|(_, client)| client.clone());
        let sent = sent.collect();
        pages.retain(|page| !is_it(page));
        sent
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Page>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn id(params: Json<'_>) -> Option<std::borrow::Cow<'_, str>> {
    params.get("elicitationId")?.string()
}
