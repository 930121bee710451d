//! Where events go: to everybody who listens, without waiting for any of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_model::{Clock, Event, EventKind, ServerKey};
use tokio::sync::broadcast;

/// A listener that is this far behind loses the oldest, and is told so by its stream.
/// Places are made at the start, so what lies in them is a pointer.
const BACKLOG: usize = 4096;

/// The one stream of events.
#[derive(Clone)]
pub(crate) struct Bus {
    events: broadcast::Sender<Arc<Event>>,
    /// The same without calls, of which there may be very many: whoever has no use for them is not
    /// woken for them.
    changes: broadcast::Sender<Arc<Event>>,
    clock: Arc<dyn Clock>,
    calls: Arc<AtomicU64>,
}

impl Bus {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let (events, changes) = (broadcast::channel(BACKLOG).0, broadcast::channel(BACKLOG).0);
        Self { events, changes, clock, calls: Arc::default() }
    }

    /// Everything.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Arc<Event>> {
        self.events.subscribe()
    }

    /// Everything but calls.
    pub(crate) fn listen_to_changes(&self) -> broadcast::Receiver<Arc<Event>> {
        self.changes.subscribe()
    }

    /// Whether anybody wants to hear of calls; what is costly to make need not be made otherwise.
    pub(crate) fn hears_calls(&self) -> bool {
        self.events.receiver_count() > 0
    }

    pub(crate) fn send(&self, server: &ServerKey, kind: EventKind) {
        let call = matches!(kind, EventKind::ToolStarted { .. } | EventKind::ToolCompleted { .. });
        let changes = Some(&self.changes).filter(|changes| !call && changes.receiver_count() > 0);
        let events = Some(&self.events).filter(|events| events.receiver_count() > 0);
        if changes.is_none() && events.is_none() {
            return;
        }
        let event = Arc::new(Event { server: server.clone(), at: self.clock.now(), kind });
        for listeners in [changes, events].into_iter().flatten() {
            // Nobody listening any more is no failure.
            let _ = listeners.send(event.clone());
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
