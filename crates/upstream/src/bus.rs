//! Where events go: to everybody who listens, without waiting for any of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_model::{Clock, Event, EventKind, ServerKey};
use tokio::sync::broadcast;

/// A listener that is this far behind loses the oldest, and is told so by its stream.
const BACKLOG: usize = 4096;

/// The one stream of events.
#[derive(Clone)]
pub(crate) struct Bus {
    events: broadcast::Sender<Event>,
    clock: Arc<dyn Clock>,
    calls: Arc<AtomicU64>,
}

impl Bus {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { events: broadcast::channel(BACKLOG).0, clock, calls: Arc::default() }
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// Whether anybody listens; what is costly to make need not be made otherwise.
    pub(crate) fn is_heard(&self) -> bool {
        self.events.receiver_count() > 0
    }

    pub(crate) fn send(&self, server: &ServerKey, kind: EventKind) {
        if self.is_heard() {
            let event = Event { server: server.clone(), at: self.clock.now(), kind };
            // Nobody listening any more is no failure.
            let _ = self.events.send(event);
        }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The number of a new call.
    pub(crate) fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }
}
