//! A connection on which everything goes both ways: stdio, and the older HTTP+SSE. Every message
//! leads to a task of its own, and every answer goes to the one outbox. Never frames anything.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use switchboard_wire::types::Cancelled;
use switchboard_wire::{Era, Fault, IdKey, Incoming, Json, Message, Request, code, method};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::endpoint::{Inner, LAST_WORD};
use crate::exchange::take;
use crate::gate::Refused;
use crate::guests::Pass;
use crate::introduced::{hello, introduced, supported};
use crate::listeners::Listening;
use crate::outbox::{Outbox, Weight};
use crate::port::{Port, Speech};
use crate::reply::Reply;
use crate::running::Asker;
use crate::serve::{Work, unknown};
use crate::session::Session;
use crate::tally::Tally;

/// A connection on which everything goes both ways.
pub(crate) struct Channel {
    inner: Arc<Inner>,
    session: Arc<Session>,
    out: Arc<Outbox>,
    eras: Eras,
    /// What the client of the stateless era may call off.
    open: Arc<Mutex<HashMap<IdKey, Open>>>,
    /// The session's own place among those that hear of changes, from its greeting on.
    listening: Mutex<Option<Listening>>,
    under_way: TaskTracker,
}

/// Which eras are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eras {
    /// Only the session era: the transport is older than the other.
    Session,
    /// Both.
    Both,
}

/// Something that goes on.
enum Open {
    Call(Arc<Port>),
    Listen(Listening),
}

impl Channel {
    pub(crate) fn new(
        inner: Arc<Inner>,
        session: Arc<Session>,
        out: Arc<Outbox>,
        eras: Eras,
    ) -> Self {
        session.streams(|streams| streams.set_own(out.clone()));
        let (open, listening) = (Arc::default(), Mutex::default());
        let under_way = TaskTracker::new();
        under_way.close();
        Self { inner, session, out, eras, open, listening, under_way }
    }

    /// Takes what the client sent, if it was not counted elsewhere.
    pub(crate) fn take_counted(&self, body: &Bytes) {
        match self.inner.burden.take(&self.session.principal.who, body) {
            Ok(counted) => self.taken(counted.as_ref().unwrap_or(body), None),
            Err(refused) => self.taken(body, Some(refused)),
        }
    }

    /// Takes what the client sent.
    pub(crate) fn take(&self, body: &Bytes) {
        self.taken(body, None);
    }

    /// Takes what the client sent; all requests in it are refused if there is no room for them.
    fn taken(&self, body: &Bytes, refused: Option<Refused>) {
        match Incoming::parse(body, &self.inner.limits.message) {
            Ok(Incoming::One(message)) => self.message(body, message, None, refused),
            Ok(Incoming::Batch(_)) if !self.session.revision().has_batches() => {
                let fault = Fault::UnexpectedBatch;
                self.say(Reply::refused(None, fault.code(), &fault.to_string(), None));
            }
            Ok(Incoming::Batch(messages)) => {
                let tally = Tally::new(self.inner.limits.batch);
                for message in messages {
                    match message {
                        Ok(message) => self.message(body, message, Some(&tally), refused),
                        Err(refusal) => {
                            let (fault, id) = (refusal.fault, refusal.id);
                            self.say(Reply::refused(id, fault.code(), &fault.to_string(), None));
                        }
                    }
                }
            }
            Err(refusal) => {
                let (fault, id) = (refusal.fault, refusal.id);
                self.say(Reply::refused(id, fault.code(), &fault.to_string(), None));
            }
        }
    }

    /// One message, by itself or of a batch whose answers are counted together.
    fn message(
        &self,
        body: &Bytes,
        message: Message<'_>,
        tally: Option<&Arc<Tally>>,
        refused: Option<Refused>,
    ) {
        match (message, refused) {
            (Message::Request(request), Some(Refused { reason, .. })) => {
                self.say(Reply::refused(Some(request.id), code::INTERNAL_ERROR, reason, None));
            }
            (Message::Request(request), None) => {
                if let Err(reply) = self.request(body, &request, tally) {
                    self.say(reply);
                }
            }
            (other, _) => {
                if let Message::Notification(notification) = &other
                    && notification.method == method::CANCELLED
                    && let Ok(cancelled) =
                        Cancelled::read(notification.params.unwrap_or(Json::EMPTY))
                {
                    self.call_off(&cancelled.request_id.key());
                }
                take(&self.session, body, other);
            }
        }
    }

    fn request(
        &self,
        body: &Bytes,
        request: &Request<'_>,
        tally: Option<&Arc<Tally>>,
    ) -> Result<(), Reply> {
        let turn = self.inner.guests.turn();
        let now = self.inner.registry.load();
        let (door, principal) = (&self.session.door, &self.session.principal);
        let view = door.view(&now, principal, &self.inner.surface).ok_or_else(|| {
            let text = "nothing is on offer to this caller any more";
            Reply::refused(Some(request.id), code::INVALID_REQUEST, text, None)
        })?;
        let params = request.outlined();
        params.once().map_err(|repeated| {
            Reply::refused(Some(request.id), code::INVALID_PARAMS, &repeated.to_string(), None)
        })?;
        let meta = params.meta();
        let stateless = meta.protocol_version.is_some() || request.method == method::DISCOVER;
        let speech = match self.eras {
            Eras::Both if stateless => {
                let (version, speech) = introduced(request, &meta, &self.inner.limits)?;
                supported(request, &version)?;
                speech
            }
            _ => Speech::Session(self.session.clone()),
        };
        let pass = match speech {
            Speech::Session(_) => None,
            Speech::Stateless { .. } => {
                self.has_room(request)?;
                Some(Pass { principal: principal.clone(), door: door.clone(), turn })
            }
        };
        if pass.is_none() && request.method == method::INITIALIZE {
            return self.greet(&view, request);
        }
        if pass.is_none() && self.session.hello().is_none() && request.method != method::PING {
            let text = "the session has not begun: send `initialize` first";
            return Err(Reply::refused(Some(request.id), code::INVALID_REQUEST, text, None));
        }
        let asker = Asker { who: self.session.who.clone(), view, speech, pass, trace: None };
        let era = asker.era();
        let work = self.inner.serve(asker, request, body, self.out.clone());
        self.go_on(request, work, era, tally.cloned());
        Ok(())
    }

    /// Whether one more request of the stateless era may be under way; a session counts its own. By
    /// what goes on, as ids alone would let one be used again and again.
    fn has_room(&self, request: &Request<'_>) -> Result<(), Reply> {
        if self.under_way.len() >= self.inner.limits.calls {
            let text = "too many calls of this connection are under way; wait for some of them";
            return Err(Reply::refused(Some(request.id), code::INTERNAL_ERROR, text, None));
        }
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.contains_key(&request.id.key()) {
            // Nobody could tell which of the two a cancellation means.
            let text = "a request of this id is under way already";
            return Err(Reply::refused(Some(request.id), code::INVALID_REQUEST, text, None));
        }
        Ok(())
    }

    fn greet(&self, view: &switchboard_core::View, request: &Request<'_>) -> Result<(), Reply> {
        if self.session.hello().is_some() {
            return Err(unknown(request.id, Era::Session));
        }
        let hello = hello(request, &self.inner.limits)?;
        let revision = hello.revision;
        self.session.greet(hello);
        self.say(self.inner.greet(&self.session, view, revision, request.id));
        let listening = self.inner.listen_session(&self.session, &self.out);
        *self.listening.lock().unwrap_or_else(PoisonError::into_inner) = Some(listening);
        Ok(())
    }

    fn go_on(&self, request: &Request<'_>, work: Work, era: Era, tally: Option<Arc<Tally>>) {
        let key = request.id.key();
        let tally = tally.map(|tally| (tally, self.session.clone(), request.id.to_buf()));
        let told = move |reply: Reply| match &tally {
            Some((tally, session, id)) => tally.take(session, Some(id.as_id()), reply),
            None => reply.body.joined(),
        };
        let opened = |open: Open| {
            self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), open)
        };
        let work = match work {
            Work::Reply(reply) => return self.out.push(told(reply), Weight::Needed),
            Work::Listen(listening) => {
                opened(Open::Listen(listening));
                return;
            }
            Work::Call(task) => {
                if let Some(port) = task.port().filter(|_| era == Era::Stateless) {
                    opened(Open::Call(port.clone()));
                }
                Work::Call(task)
            }
            later @ Work::Later(_) => later,
        };
        let (out, open, inner) = (self.out.clone(), self.open.clone(), self.inner.clone());
        let method = method::lookup(&request.method).map_or("", |method| method.name);
        let (id, stop) = (request.id.to_buf(), inner.stop.clone());
        let place = inner.calls.token();
        self.under_way.spawn(async move {
            let reply = tokio::select! {
                reply = work.finish() => reply,
                () = stop.cancelled() => Some(inner.scribe.ended(id.as_id(), era, method)),
            };
            open.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            if let Some(reply) = reply {
                out.push(told(reply), Weight::Needed);
            }
            drop(place);
        });
    }

    /// Waits for what is under way; the client sends nothing more, but still reads.
    pub(crate) async fn settle(&self, stop: &CancellationToken) {
        tokio::select! {
            () = self.under_way.wait() => {}
            () = stop.cancelled() => drop(timeout(LAST_WORD, self.under_way.wait()).await),
        }
    }

    /// The hub ends: streams of changes are told so, before the connection is.
    pub(crate) fn take_leave(&self) {
        for open in self.open.lock().unwrap_or_else(PoisonError::into_inner).values() {
            if let Open::Listen(listening) = open {
                listening.take_leave();
            }
        }
    }

    /// The client of the stateless era does not want something any more.
    fn call_off(&self, id: &IdKey) {
        let found = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Some(Open::Call(port)) = found {
            port.cancel();
        }
    }

    fn say(&self, reply: Reply) {
        self.out.push(reply.body.joined(), Weight::Needed);
    }
}

impl Drop for Channel {
    /// Nobody is there to hear an answer, or to be asked.
    fn drop(&mut self) {
        let open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        for port in open.into_values().filter_map(Open::port) {
            port.cancel();
        }
        self.session.end();
        self.out.end();
    }
}

impl Open {
    fn port(self) -> Option<Arc<Port>> {
        match self {
            Self::Call(port) => Some(port),
            Self::Listen(_) => None,
        }
    }
}
