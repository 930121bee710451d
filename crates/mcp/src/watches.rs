//! Resources that somebody wants to hear of: who, under which name, and which server has to be
//! asked. A server that many share is asked once, and told off when the last one leaves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use switchboard_core::port::{CallError, Caller, RpcError, Thing, Who};
use switchboard_core::{Request, Surface};
use switchboard_model::{CallOrigin, ServerKey};
use switchboard_wire::{Era, IdBuf, Json, JsonBuf, code, method, write};

use crate::endpoint::Inner;
use crate::listeners::{empty, stamped};
use crate::outbox::{Outbox, Weight};
use crate::port::Speech;
use crate::reply::Reply;
use crate::running::Asker;
use crate::serve::Work;
use crate::session::Session;

/// A server, and its own URI of a resource.
type Place = (ServerKey, String);

/// Who wants to hear of what.
#[derive(Default)]
pub(crate) struct Watches(Mutex<HashMap<Place, Vec<Watch>>>);

/// One who wants to hear of a resource.
struct Watch {
    /// What they call it.
    uri: String,
    whose: Whose,
    /// Who asked for it.
    who: Arc<Who>,
}

enum Whose {
    /// A session's: told on its own stream.
    Session(Weak<Session>),
    /// That of a listener with this number, told under its request's id.
    Stream(u64, Weak<Outbox>, IdBuf),
    /// Nobody's any more; the server is told off at the next sweep.
    Gone,
}

impl Whose {
    fn is_dead(&self) -> bool {
        match self {
            Self::Session(session) => session.strong_count() == 0,
            Self::Stream(_, out, _) => out.strong_count() == 0,
            Self::Gone => true,
        }
    }
}

impl Watches {
    /// Tells everybody who wants to hear of a resource.
    pub(crate) fn tell(&self, server: &ServerKey, uri: &str) {
        let rows = self.lock();
        let Some(watches) = rows.get(&(server.clone(), uri.to_owned())) else { return };
        for watch in watches {
            let uri = |params: &mut write::Object<'_>| params.text("uri", &watch.uri);
            let (out, params) = match &watch.whose {
                Whose::Session(session) => {
                    let own = session.upgrade();
                    let own = own.and_then(|session| session.streams(|all| all.opened().cloned()));
                    (own, write::object(uri))
                }
                Whose::Stream(_, out, id) => (out.upgrade(), stamped(id, uri)),
                Whose::Gone => continue,
            };
            if let Some(out) = out {
                let mut message = Vec::new();
                write::notification(&mut message, method::RESOURCE_UPDATED, Some(params.as_json()));
                out.push(message.into(), Weight::Notice);
            }
        }
    }

    /// All that somebody wants to hear of.
    pub(crate) fn all(&self) -> Vec<Place> {
        self.lock().keys().cloned().collect()
    }

    /// A listener is gone. Servers are told off at the next sweep.
    pub(crate) fn leave(&self, number: u64) {
        for watch in self.lock().values_mut().flatten() {
            if matches!(watch.whose, Whose::Stream(of, ..) if of == number) {
                watch.whose = Whose::Gone;
            }
        }
    }

    /// How many of a session's there are.
    fn count(&self, session: &Arc<Session>) -> usize {
        let rows = self.lock();
        rows.values().flatten().filter(|watch| watch.is_of(session)).count()
    }

    /// `true` if it is the first for its place.
    fn add(&self, place: Place, watch: Watch) -> bool {
        let mut rows = self.lock();
        let watches = rows.entry(place).or_default();
        let first = watches.is_empty();
        watches.push(watch);
        first
    }

    /// `true` if nobody is left who wants to hear of it.
    fn remove(&self, place: &Place, session: &Arc<Session>) -> bool {
        let mut rows = self.lock();
        let Some(watches) = rows.get_mut(place) else { return false };
        watches.retain(|watch| !watch.is_of(session));
        let last = watches.is_empty();
        if last {
            rows.remove(place);
        }
        last
    }

    /// Takes out what nobody wants any more, with who had asked for it.
    fn take_dead(&self) -> Vec<(Place, Arc<Who>)> {
        let mut rows = self.lock();
        let mut gone = Vec::new();
        rows.retain(|place, watches| {
            let asked = watches.first().map(|watch| watch.who.clone());
            watches.retain(|watch| !watch.whose.is_dead());
            if watches.is_empty() {
                gone.extend(asked.map(|who| (place.clone(), who)));
            }
            !watches.is_empty()
        });
        gone
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Vec<Watch>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    fn is_of(&self, session: &Arc<Session>) -> bool {
        matches!(&self.whose, Whose::Session(of) if std::ptr::eq(of.as_ptr(), Arc::as_ptr(session)))
    }
}

impl Inner {
    /// `resources/subscribe` and `resources/unsubscribe` of a session.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        asker: Asker,
        id: IdBuf,
        method: &'static str,
        params: JsonBuf,
    ) -> Work {
        let Speech::Session(session) = asker.speech.clone() else {
            return Work::Reply(crate::serve::unknown(id.as_id(), asker.era()));
        };
        let uri = params.as_json().get("uri").and_then(Json::string).unwrap_or_default();
        let Some(place) = self.router.resource(&asker.view, &uri) else {
            let error = CallError::NotFound { thing: Thing::Resource, name: uri.into_owned() };
            return Work::Reply(self.scribe.failure(
                id.as_id(),
                Era::Session,
                method,
                &error,
                None,
            ));
        };
        let asks_server = match method {
            method::SUBSCRIBE if self.watches.count(&session) >= self.limits.subscriptions => {
                let text = "too many subscriptions; unsubscribe from some resources first";
                let reply = Reply::refused(Some(id.as_id()), code::INTERNAL_ERROR, text, None);
                return Work::Reply(reply.with_status(200));
            }
            method::SUBSCRIBE => {
                self.watches.remove(&place, &session);
                let whose = Whose::Session(Arc::downgrade(&session));
                let watch = Watch { uri: uri.into_owned(), whose, who: asker.who.clone() };
                self.watches.add(place.clone(), watch)
            }
            _ => self.watches.remove(&place, &session),
        };
        if !asks_server {
            return Work::Reply(empty(self, &id, Era::Session, method));
        }
        let inner = self.clone();
        Work::Later(Box::pin(async move {
            let asked = inner.ask_server(&asker.who, method, &place).await;
            Some(match asked {
                Ok(()) => empty(&inner, &id, Era::Session, method),
                Err(error) => {
                    if method == method::SUBSCRIBE {
                        inner.watches.remove(&place, &session);
                    }
                    inner.scribe.failure(id.as_id(), Era::Session, method, &error, None)
                }
            })
        }))
    }

    /// A stream wants to hear of a resource.
    pub(crate) fn watch_stream(
        self: &Arc<Self>,
        who: &Arc<Who>,
        number: u64,
        out: &Arc<Outbox>,
        id: &IdBuf,
        place: Place,
        uri: String,
    ) {
        let whose = Whose::Stream(number, Arc::downgrade(out), id.clone());
        let watch = Watch { uri, whose, who: who.clone() };
        if self.watches.add(place.clone(), watch) {
            self.ask_later(place, who.clone(), method::SUBSCRIBE);
        }
    }

    /// Servers are told off where nobody wants to hear any more.
    pub(crate) fn unwatch_dead(self: &Arc<Self>) {
        for (place, who) in self.watches.take_dead() {
            self.ask_later(place, who, method::UNSUBSCRIBE);
        }
    }

    /// Asks a server that nobody waits for: one that cannot be asked may still tell.
    fn ask_later(self: &Arc<Self>, place: Place, who: Arc<Who>, method: &'static str) {
        let inner = self.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                asked = inner.ask_server(&who, method, &place) => {
                    if let Err(error) = asked {
                        tracing::debug!(server = %place.0, %error, method, "not subscribed");
                    }
                }
                () = inner.stop.cancelled() => {}
            }
        });
    }

    /// Asks the server itself. One of the stateless era has no such method and is listened to
    /// otherwise, so that it does not know it is no failure.
    async fn ask_server(
        &self,
        who: &Who,
        method: &str,
        (server, uri): &Place,
    ) -> Result<(), CallError> {
        let view = self.registry.load().server(server, &Surface::Bare);
        let view = view.ok_or(CallError::Unknown)?;
        let params = write::object(|params| params.text("uri", uri));
        let request = Request {
            view: &view,
            who,
            origin: CallOrigin::Mcp,
            method,
            params: params.as_json(),
            trace: None,
        };
        match self.router.call(&request, &Caller::default()).await {
            Ok(_) => Ok(()),
            Err(CallError::Rpc(RpcError { code: code::METHOD_NOT_FOUND, .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
