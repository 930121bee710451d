//! The one path that every call takes: resolve, decide, guard, call, trim, record. Never knows how
//! a server is reached, why a call may run, or where records go: those are ports.

mod complete;
mod failed;
mod own;
mod path;
mod record;
mod related;
mod resolve;
mod seal;
mod tasks;
#[cfg(test)]
mod tests;
mod towards;

use std::sync::Arc;

use switchboard_model::{CallOrigin, Clock, SystemClock};
use switchboard_wire::Params;

use crate::port::{
    AllowAll, Decide, Guard, House, LONGEST_TRACE, PassAll, Record, RecordNothing, Servers, Trace,
    Who,
};
use crate::registry::View;
use crate::results::Results;
pub(crate) use resolve::Kept;
use seal::Seal;
use tasks::Begun;

/// What stands behind the path. [`Ports::new`] has the defaults: every call runs, nothing is
/// scanned, nothing is recorded.
#[derive(Clone)]
pub struct Ports {
    /// Servers outside.
    pub servers: Arc<dyn Servers>,
    /// The hub's own server ([`crate::registry::Home::Hub`]), if it has one.
    pub hub: Option<Arc<dyn House>>,
    /// Whether a call may run.
    pub decide: Arc<dyn Decide>,
    /// What goes out and comes in.
    pub guard: Arc<dyn Guard>,
    /// Who takes note.
    pub record: Arc<dyn Record>,
    /// Who gives calls spans of their own, if anybody does.
    pub trace: Option<Arc<dyn Trace>>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl Ports {
    /// With the defaults.
    pub fn new(servers: Arc<dyn Servers>) -> Self {
        Self {
            servers,
            hub: None,
            decide: Arc::new(AllowAll),
            guard: Arc::new(PassAll),
            record: Arc::new(RecordNothing),
            trace: None,
            clock: Arc::new(SystemClock),
        }
    }
}

/// Makes calls. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Router(Arc<Inner>);

struct Inner {
    ports: Ports,
    results: Results,
    seal: Seal,
    begun: Begun,
}

/// What somebody wants.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// What they see.
    pub view: &'r View,
    /// Who they are.
    pub who: &'r Who,
    /// Through which door they came.
    pub origin: CallOrigin,
    /// The method: `tools/call`, `prompts/get`, `resources/read`, `resources/subscribe`,
    /// `resources/unsubscribe`, `completion/complete`, or one of `tasks/`.
    pub method: &'r str,
    /// Its params, as they came.
    pub params: Params<'r>,
    /// Their trace, if they have one (`traceparent`).
    pub trace: Option<&'r str>,
}

impl<'r> Request<'r> {
    /// The trace as it is recorded: one that is none is left out, whichever door it came by.
    fn trace(&self) -> Option<&'r str> {
        self.trace.filter(|trace| trace.len() <= LONGEST_TRACE)
    }
}

impl Router {
    /// `key` seals the ids of tasks: whoever shares it can serve each other's.
    pub fn new(ports: Ports, results: Results, key: [u8; 32]) -> Self {
        Self(Arc::new(Inner { ports, results, seal: Seal::new(key), begun: Begun::default() }))
    }

    /// The results that were too long to be given whole.
    pub fn results(&self) -> &Results {
        &self.0.results
    }
}
