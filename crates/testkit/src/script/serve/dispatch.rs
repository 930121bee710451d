//! The path of a message: counted, met by its faults, answered. Never frames anything.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use switchboard_wire::{Revision, method};

use super::cancel::Cancel;
use super::era::{self, Refusal};
use super::outlet::{Item, Outlet};
use super::session::Session;
use super::world::{World, held};
use super::{emit, methods, notices, process};
use crate::script::fault::Fault;

/// A message that came in, and what goes wrong with it.
pub(super) struct Arrival {
    pub(super) message: Value,
    pub(super) faults: Vec<Fault>,
}

impl Arrival {
    /// Counts the message.
    pub(super) fn new(world: &World, message: Value) -> Self {
        let method = message["method"].as_str();
        let tool =
            message["params"]["name"].as_str().filter(|_| method == Some(method::TOOLS_CALL));
        let faults = world.faults(method, tool, &message["params"]);
        Self { message, faults }
    }

    pub(super) fn method(&self) -> Option<&str> {
        self.message["method"].as_str()
    }

    /// Whether it wants an answer.
    pub(super) fn is_request(&self) -> bool {
        self.method().is_some() && self.message.get("id").is_some()
    }
}

/// A request that is being worked on.
pub(super) struct Call {
    pub(super) world: Arc<World>,
    pub(super) session: Arc<Session>,
    pub(super) outlet: Arc<dyn Outlet>,
    pub(super) revision: Revision,
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Value,
    pub(super) cancel: Arc<Cancel>,
    pub(super) faults: Vec<Fault>,
}

impl Call {
    /// Sends a notification beside the answer.
    pub(super) fn notify(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.outlet.put(Item::Message(message.to_string().into_bytes()));
    }
}

/// Whether a message goes on.
#[derive(PartialEq, Eq)]
pub(super) enum Flow {
    On,
    Dropped,
}

/// What goes wrong before anybody works on the message, in the order of arrival.
pub(super) fn meet(world: &Arc<World>, session: &Session, arrival: &Arrival) -> Flow {
    world.wait_while_hung();
    let mut flow = Flow::On;
    for fault in &arrival.faults {
        match fault {
            Fault::Silent {} => flow = Flow::Dropped,
            Fault::Hang { ms } => world.hang(*ms),
            Fault::Crash { code, mid_line: false, stderr } => process::exit(*code, stderr),
            Fault::DieOnProbe { exit: true } => process::exit(1, "died on the probe"),
            Fault::DieOnProbe { exit: false } => session.dead.store(true, Ordering::SeqCst),
            // A stream of changes is noted first: that starts its storm itself.
            Fault::ListStorm { .. } if arrival.method() == Some(method::LISTEN) => {}
            Fault::ListStorm { per_second, ms, list } => {
                notices::storm(world, *list, *per_second, *ms);
            }
            other => process::act(other),
        }
    }
    if session.dead.load(Ordering::SeqCst) { Flow::Dropped } else { flow }
}

/// Works on the message, to the end.
pub(super) fn handle(
    world: &Arc<World>,
    session: &Arc<Session>,
    outlet: &Arc<dyn Outlet>,
    arrival: Arrival,
) {
    let is_request = arrival.is_request();
    let Arrival { mut message, faults } = arrival;
    let Some(method) = message["method"].as_str().map(str::to_owned) else {
        return session.deliver(message);
    };
    let (id, params) = (message["id"].take(), message["params"].take());
    if !is_request {
        return notified(world, session, &method, &params);
    }
    let cancel = session.begin(&id);
    let before = faults.iter().filter_map(|fault| match fault {
        Fault::Delay { ms } => Some(*ms),
        _ => None,
    });
    let alive = cancel.pause(before.sum(), outlet.as_ref());
    let (revision, reply) = match era::revision(world, session, &method, &params) {
        Err(refusal) => (None, Err(refusal)),
        Ok(revision) if !alive => (Some(revision), Ok(Value::Null)),
        Ok(revision) => {
            let call = Call {
                world: Arc::clone(world),
                session: Arc::clone(session),
                outlet: Arc::clone(outlet),
                revision,
                id: id.clone(),
                method,
                params,
                cancel: Arc::clone(&cancel),
                faults: faults.clone(),
            };
            (Some(revision), methods::respond(&call))
        }
    };
    session.end(&id);
    if !cancel.is_cancelled() {
        emit::answer(world, outlet.as_ref(), &id, reply, revision, &faults);
    } else {
        world.note(&json!({"event": "given_up", "id": id}));
    }
}

/// Says that what came was no message.
pub(super) fn refuse(outlet: &dyn Outlet, code: i64, message: &str) {
    let body = emit::error(&Value::Null, &Refusal::gate(code, message));
    outlet.put(Item::Answer { body: body.to_string().into_bytes(), status: 400 });
}

fn notified(world: &World, session: &Session, method: &str, params: &Value) {
    if method == method::PROGRESS {
        held(&session.heard).push(params.clone());
    }
    if method == method::CANCELLED {
        world.note(&json!({"event": "cancelled", "id": params["requestId"]}));
        session.cancel(&params["requestId"]);
    }
}
