//! Which revision a message is held to, or why it is refused. Never handles one.

use serde_json::{Value, json};
use switchboard_wire::code::{self, Raised};
use switchboard_wire::{Era, Revision, meta, method};

use super::session::Session;
use super::world::World;
use crate::script::document::Speaks;

/// An error as an answer.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Value>,
    pub(super) raised: Raised,
}

impl Refusal {
    /// The request was in order, its outcome is an error.
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, raised: Raised::InTheCall }
    }

    /// The request was not in order.
    pub(super) fn gate(code: i64, message: impl Into<String>) -> Self {
        Self { raised: Raised::AtTheGate, ..Self::new(code, message) }
    }

    pub(super) fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

/// The revision that this request is held to.
pub(super) fn revision(
    world: &World,
    session: &Session,
    method: &str,
    params: &Value,
) -> Result<Revision, Refusal> {
    let named = params[meta::META][meta::PROTOCOL_VERSION].as_str();
    let era = if named.is_some() { Era::Stateless } else { Era::Session };
    if world.script.speaks == Speaks::DualLocked {
        session.lock.get_or_init(|| era);
    }
    match named {
        Some(named) if speaks(world, session, Era::Stateless) => {
            stateless(world, named, method, params)
        }
        _ => session_era(world, session, method, params),
    }
}

/// Whether it speaks that era to this caller.
pub(super) fn speaks(world: &World, session: &Session, era: Era) -> bool {
    session.lock.get().is_none_or(|locked| *locked == era)
        && world.script.speaks.revisions().any(|revision| revision.era() == era)
}

/// What `initialize` agrees upon.
pub(super) fn agree(world: &World, requested: &str) -> Option<Revision> {
    let spoken = || world.script.speaks.revisions().filter(|one| one.era() == Era::Session);
    spoken().find(|one| one.as_str() == requested).or_else(|| spoken().next())
}

fn stateless(
    world: &World,
    named: &str,
    method: &str,
    params: &Value,
) -> Result<Revision, Refusal> {
    let mut spoken = world.script.speaks.revisions();
    let Some(revision) = spoken.find(|one| one.era() == Era::Stateless && one.as_str() == named)
    else {
        return Err(unsupported(world, named));
    };
    if !params[meta::META][meta::CLIENT_CAPABILITIES].is_object() {
        let message = format!("Missing {} in _meta", meta::CLIENT_CAPABILITIES);
        return Err(Refusal::gate(code::INVALID_PARAMS, message));
    }
    match method::lookup(method).and_then(|row| row.sender(revision)) {
        Some(_) => Ok(revision),
        None => Err(unknown(method)),
    }
}

fn session_era(
    world: &World,
    session: &Session,
    method: &str,
    params: &Value,
) -> Result<Revision, Refusal> {
    let spoken = speaks(world, session, Era::Session);
    let requested = params["protocolVersion"].as_str().unwrap_or_default();
    match (spoken, method) {
        (true, method::INITIALIZE) => {
            agree(world, requested).ok_or_else(|| unsupported(world, requested))
        }
        (false, method::INITIALIZE) => Err(unsupported(world, requested)),
        (false, _) => {
            let message = format!("Missing {} in _meta", meta::PROTOCOL_VERSION);
            Err(Refusal::gate(code::INVALID_PARAMS, message))
        }
        // As any other method that nobody knows: in that era no reason for another status.
        (true, method::DISCOVER) => Err(Refusal { raised: Raised::InTheCall, ..unknown(method) }),
        (true, method::PING) => Ok(session.revision().unwrap_or(Revision::LATEST_SESSION)),
        (true, _) => session.revision().ok_or_else(|| {
            Refusal::gate(code::INVALID_REQUEST, "Received request before initialize")
        }),
    }
}

fn unsupported(world: &World, requested: &str) -> Refusal {
    let supported: Vec<_> = world.script.speaks.revisions().map(Revision::as_str).collect();
    Refusal::gate(code::UNSUPPORTED_VERSION, "Unsupported protocol version")
        .with(json!({"supported": supported, "requested": requested}))
}

fn unknown(method: &str) -> Refusal {
    Refusal::gate(code::METHOD_NOT_FOUND, format!("Method not found: {method}"))
}
