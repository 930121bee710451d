//! What a server remembers of one caller: the revision, the capabilities, the calls that run and the
//! questions that wait for an answer. Never says anything by itself.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;
use switchboard_wire::{Era, Revision};

use super::cancel::Cancel;
use super::outlet::Outlet;
use super::stream::Stream;
use super::world::held;

pub(super) struct Session {
    pub(super) id: String,
    /// Where messages go that belong to no request.
    pub(super) channel: Arc<dyn Outlet>,
    /// Set by `initialize`.
    revision: Mutex<Option<Revision>>,
    pub(super) capabilities: Mutex<Value>,
    pub(super) log_level: Mutex<Option<usize>>,
    pub(super) watched: Mutex<BTreeSet<String>>,
    /// The era of the first message, for a server that keeps to it.
    pub(super) lock: OnceLock<Era>,
    /// Whether it has answered its last message.
    pub(super) dead: AtomicBool,
    /// How many HTTP requests it has had.
    pub(super) requests: AtomicU32,
    /// The event streams of its HTTP requests.
    pub(super) streams: Mutex<HashMap<u64, Arc<Stream>>>,
    /// What the caller told of how far it is with its answers.
    pub(super) heard: Mutex<Vec<Value>>,
    waiting: Mutex<HashMap<String, Sender<Value>>>,
    running: Mutex<HashMap<String, Arc<Cancel>>>,
}

impl Session {
    pub(super) fn new(id: String, channel: Arc<dyn Outlet>) -> Self {
        Self {
            id,
            channel,
            revision: Mutex::default(),
            capabilities: Mutex::default(),
            log_level: Mutex::default(),
            watched: Mutex::default(),
            lock: OnceLock::new(),
            dead: AtomicBool::new(false),
            requests: AtomicU32::new(0),
            streams: Mutex::default(),
            heard: Mutex::default(),
            waiting: Mutex::default(),
            running: Mutex::default(),
        }
    }

    /// What `initialize` agreed upon.
    pub(super) fn revision(&self) -> Option<Revision> {
        *held(&self.revision)
    }

    pub(super) fn open(&self, revision: Revision, capabilities: Value) {
        *held(&self.revision) = Some(revision);
        *held(&self.capabilities) = capabilities;
    }

    /// A question of that id was asked; the answer comes here.
    pub(super) fn expect(&self, id: &Value) -> Receiver<Value> {
        let (sender, receiver) = channel();
        held(&self.waiting).insert(id.to_string(), sender);
        receiver
    }

    /// An answer came.
    pub(super) fn deliver(&self, answer: Value) {
        let waiting = held(&self.waiting).remove(&answer["id"].to_string());
        if let Some(waiting) = waiting {
            drop(waiting.send(answer));
        }
    }

    /// A request of that id is being worked on. Said again of the same one, it changes nothing: whoever reads
    /// says it before a thread of its own works on it, so that a cancellation read next is not lost.
    pub(super) fn begin(&self, id: &Value) -> Arc<Cancel> {
        Arc::clone(held(&self.running).entry(id.to_string()).or_default())
    }

    /// It no longer is.
    pub(super) fn end(&self, id: &Value) {
        held(&self.running).remove(&id.to_string());
    }

    /// The caller gave it up.
    pub(super) fn cancel(&self, id: &Value) {
        if let Some(cancel) = held(&self.running).get(&id.to_string()) {
            cancel.cancel();
        }
    }
}
