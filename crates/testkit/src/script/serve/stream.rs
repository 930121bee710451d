//! What is to be said over one HTTP response, kept so that it can be said again to whoever comes
//! back for it. Never touches a socket.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::outlet::{Item, Outlet};
use super::world::held;

pub(super) struct Stream {
    pub(super) id: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    items: Vec<Item>,
    /// How many of them somebody has got.
    delivered: usize,
    gone: bool,
    cut: bool,
}

/// What a reader finds.
pub(super) enum Next {
    Item(Item),
    Nothing,
    /// The stream is to be broken off.
    Cut,
}

impl Stream {
    pub(super) fn new(id: u64) -> Self {
        Self { id, state: Mutex::default(), changed: Condvar::new() }
    }

    /// The item at that place, if it comes within that time.
    pub(super) fn next(&self, place: usize, within: Duration) -> Next {
        let state = held(&self.state);
        let none = |state: &mut State| place >= state.items.len() && !state.cut;
        let waited = self.changed.wait_timeout_while(state, within, none);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if state.cut {
            return Next::Cut;
        }
        let Some(item) = state.items.get(place).cloned() else { return Next::Nothing };
        state.delivered = state.delivered.max(place + 1);
        Next::Item(item)
    }

    /// The first place that nobody has read.
    pub(super) fn unread(&self) -> usize {
        held(&self.state).delivered
    }

    /// The reader has left.
    pub(super) fn leave(&self) {
        held(&self.state).gone = true;
    }

    /// Nobody reads on from here.
    pub(super) fn cut(&self) {
        held(&self.state).cut = true;
        self.changed.notify_all();
    }
}

impl Outlet for Stream {
    fn put(&self, item: Item) {
        held(&self.state).items.push(item);
        self.changed.notify_all();
    }

    fn is_gone(&self) -> bool {
        held(&self.state).gone
    }
}
