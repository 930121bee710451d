//! Resources that somebody wants to hear of: who, under which name, and which server has to be
//! asked. A server that many share is asked once, and told off when the last one leaves. Nobody is
//! told that they will hear of something before the server has agreed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use switchboard_core::port::{CallError, Caller, Thing, Who};
use switchboard_core::{Request, Surface};
use switchboard_model::{CallOrigin, ServerKey};
use switchboard_wire::{Era, IdBuf, Json, JsonBuf, code, method, write};
use tokio::sync::OnceCell;

use crate::endpoint::Inner;
use crate::listeners::{empty, stamped};
use crate::outbox::{Outbox, Weight};
use crate::port::Speech;
use crate::reply::Reply;
use crate::running::Asker;
use crate::serve::Work;
use crate::session::Session;

/// A server, and its own URI of a resource.
pub(crate) type Place = (ServerKey, String);

/// Who wants to hear of what.
#[derive(Default)]
pub(crate) struct Watches(Mutex<HashMap<Place, Row>>);

/// Those who want to hear of one resource.
#[derive(Default)]
struct Row {
    watches: Vec<Watch>,
    agreed: Agreed,
}

/// Set when the server has agreed to tell. Whoever waits for it while another asks waits for that
/// answer, and asks in turn if it was no.
type Agreed = Arc<OnceCell<()>>;

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
    Stream(Hearing),
    /// Nobody's any more; the server is told off at the next sweep.
    Gone,
}

/// A listener that hears of resources.
#[derive(Clone)]
pub(crate) struct Hearing {
    pub(crate) number: u64,
    pub(crate) out: Weak<Outbox>,
    pub(crate) id: IdBuf,
    /// Whether it was acknowledged: nothing may come before that.
    pub(crate) acknowledged: Arc<AtomicBool>,
}

impl Hearing {
    fn out(&self) -> Option<Arc<Outbox>> {
        self.out.upgrade().filter(|_| self.acknowledged.load(Ordering::SeqCst))
    }
}

impl Whose {
    fn is_dead(&self) -> bool {
        match self {
            Self::Session(session) => session.strong_count() == 0,
            Self::Stream(hearing) => hearing.out.strong_count() == 0,
            Self::Gone => true,
        }
    }
}

impl Watches {
    /// Tells everybody who wants to hear of a resource.
    pub(crate) fn tell(&self, server: &ServerKey, uri: &str) {
        let rows = self.lock();
        let Some(row) = rows.get(&(server.clone(), uri.to_owned())) else { return };
        for watch in &row.watches {
            let uri = |params: &mut write::Object<'_>| params.text("uri", &watch.uri);
            let (out, params) = match &watch.whose {
                Whose::Session(session) => {
                    let own = session.upgrade();
                    let own = own.and_then(|session| session.streams(|all| all.opened().cloned()));
                    (own, write::object(uri))
                }
                Whose::Stream(hearing) => (hearing.out(), stamped(&hearing.id, uri)),
                Whose::Gone => continue,
            };
            if let Some(out) = out {
                let mut message = Vec::new();
                write::notification(&mut message, method::RESOURCE_UPDATED, Some(params.as_json()));
                out.push(message.into(), Weight::Notice);
            }
        }
    }

    /// Does something while nobody is told of a resource.
    pub(crate) fn undisturbed(&self, act: impl FnOnce()) {
        let _rows = self.lock();
        act();
    }

    /// All that somebody wants to hear of.
    pub(crate) fn all(&self) -> Vec<Place> {
        let rows = self.lock();
        let wanted = rows.iter().filter(|(_, row)| !row.watches.is_empty());
        wanted.map(|(place, _)| place.clone()).collect()
    }

    /// A listener is gone. Servers are told off at the next sweep.
    pub(crate) fn leave(&self, number: u64) {
        for watch in self.lock().values_mut().flat_map(|row| &mut row.watches) {
            if watch.is_heard_by(number) {
                watch.whose = Whose::Gone;
            }
        }
    }

    /// A listener hears of these and nothing else.
    pub(crate) fn keep_only(&self, number: u64, uris: &[String]) {
        for watch in self.lock().values_mut().flat_map(|row| &mut row.watches) {
            if watch.is_heard_by(number) && !uris.contains(&watch.uri) {
                watch.whose = Whose::Gone;
            }
        }
    }

    /// How many of a session's there are.
    fn count(&self, session: &Arc<Session>) -> usize {
        let rows = self.lock();
        let watches = rows.values().flat_map(|row| &row.watches);
        watches.filter(|watch| watch.is_of(session)).count()
    }

    /// One more, instead of any that `replaces` says; and whether the server has agreed.
    fn add(&self, place: Place, watch: Watch, replaces: impl Fn(&Watch) -> bool) -> Agreed {
        let mut rows = self.lock();
        let row = rows.entry(place).or_default();
        row.watches.retain(|other| !replaces(other));
        row.watches.push(watch);
        row.agreed.clone()
    }

    /// What the server is told off by, if nobody is left who wants to hear of what it tells.
    fn remove(&self, place: &Place, goes: impl Fn(&Watch) -> bool) -> Option<Agreed> {
        let mut rows = self.lock();
        let row = rows.get_mut(place)?;
        row.watches.retain(|watch| !goes(watch));
        if !row.watches.is_empty() {
            return None;
        }
        let agreed = row.tell_off();
        if agreed.is_none() {
            rows.remove(place);
        }
        agreed
    }

    /// Takes out what nobody wants any more, with who had asked for it.
    fn take_dead(&self) -> Vec<(Place, Arc<Who>, Agreed)> {
        let mut rows = self.lock();
        let mut gone = Vec::new();
        rows.retain(|place, row| {
            let Some(who) = row.watches.first().map(|watch| watch.who.clone()) else {
                // Still being told off, or no longer.
                return Arc::strong_count(&row.agreed) > 1;
            };
            row.watches.retain(|watch| !watch.whose.is_dead());
            if !row.watches.is_empty() {
                return true;
            }
            let agreed = row.tell_off();
            let told_off = agreed.is_some();
            gone.extend(agreed.map(|agreed| (place.clone(), who, agreed)));
            told_off
        });
        gone
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Row>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Row {
    /// If the server has agreed, it has to be told off by this, in which whoever comes next waits for that: a
    /// server that is asked anew before it is told off would tell nobody.
    fn tell_off(&mut self) -> Option<Agreed> {
        self.agreed.initialized().then(|| {
            self.agreed = Agreed::default();
            self.agreed.clone()
        })
    }
}

impl Watch {
    fn is_of(&self, session: &Arc<Session>) -> bool {
        matches!(&self.whose, Whose::Session(of) if std::ptr::eq(of.as_ptr(), Arc::as_ptr(session)))
    }

    fn is_heard_by(&self, number: u64) -> bool {
        matches!(&self.whose, Whose::Stream(of) if of.number == number)
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
        let refused = match method {
            method::SUBSCRIBE if self.watches.count(&session) >= self.limits.subscriptions => {
                let text = "too many subscriptions; unsubscribe from some resources first";
                Some((code::INTERNAL_ERROR, text))
            }
            method::SUBSCRIBE if !self.can_tell(&place) => {
                let text = "the server of this resource does not tell when it changes";
                Some((code::INVALID_PARAMS, text))
            }
            _ => None,
        };
        if let Some((code, text)) = refused {
            let reply = Reply::refused(Some(id.as_id()), code, text, None);
            return Work::Reply(reply.with_status(200));
        }
        let inner = self.clone();
        if method == method::UNSUBSCRIBE {
            let Some(agreed) = self.watches.remove(&place, |watch| watch.is_of(&session)) else {
                return Work::Reply(empty(self, &id, Era::Session, method));
            };
            return Work::Later(Box::pin(async move {
                let asked = inner.tell_off(&agreed, &asker.who, &place).await;
                Some(inner.told(&id, method, asked))
            }));
        }
        let whose = Whose::Session(Arc::downgrade(&session));
        let watch = Watch { uri: uri.into_owned(), whose, who: asker.who.clone() };
        let agreed = self.watches.add(place.clone(), watch, |other| other.is_of(&session));
        if agreed.initialized() {
            return Work::Reply(empty(self, &id, Era::Session, method));
        }
        Work::Later(Box::pin(async move {
            let asked = inner.agree(&agreed, &asker.who, &place).await;
            if asked.is_err() {
                inner.watches.remove(&place, |watch| watch.is_of(&session));
            }
            Some(inner.told(&id, method, asked))
        }))
    }

    fn told(&self, id: &IdBuf, method: &str, asked: Result<(), CallError>) -> Reply {
        match asked {
            Ok(()) => empty(self, id, Era::Session, method),
            Err(error) => self.scribe.failure(id.as_id(), Era::Session, method, &error, None),
        }
    }

    /// Whether the server says that it tells when a resource of its changes.
    pub(crate) fn can_tell(&self, (server, _): &Place) -> bool {
        let now = self.registry.load();
        now.offer(server).is_some_and(|offer| offer.capabilities.has(&["resources", "subscribe"]))
    }

    /// A stream wants to hear of a resource; ready when the server has agreed, or has not.
    pub(crate) fn watch_stream(
        self: &Arc<Self>,
        who: &Arc<Who>,
        hearing: &Hearing,
        place: Place,
        uri: String,
    ) -> impl Future<Output = bool> + Send + 'static {
        let (inner, who, number) = (self.clone(), who.clone(), hearing.number);
        let whose = Whose::Stream(hearing.clone());
        let watch = Watch { uri, whose, who: who.clone() };
        let agreed = self.watches.add(place.clone(), watch, |_| false);
        async move {
            let asked = inner.agree(&agreed, &who, &place).await;
            if let Err(error) = &asked {
                tracing::debug!(server = %place.0, %error, "not subscribed");
                inner.watches.remove(&place, |watch| watch.is_heard_by(number));
            }
            asked.is_ok()
        }
    }

    /// Asks the server, unless it has agreed already.
    async fn agree(&self, agreed: &Agreed, who: &Who, place: &Place) -> Result<(), CallError> {
        let ask = || self.ask_server(who, method::SUBSCRIBE, place);
        agreed.get_or_try_init(ask).await.copied()
    }

    /// Tells the server off, unless somebody has asked it anew meanwhile. Whoever does so now waits.
    async fn tell_off(&self, agreed: &Agreed, who: &Who, place: &Place) -> Result<(), CallError> {
        let ask = || async { Err::<(), _>(self.ask_server(who, method::UNSUBSCRIBE, place).await) };
        agreed.get_or_try_init(ask).await.map_or_else(|answer| answer, |()| Ok(()))
    }

    /// Servers are told off where nobody wants to hear any more.
    pub(crate) fn unwatch_dead(self: &Arc<Self>) {
        for (place, who, agreed) in self.watches.take_dead() {
            let inner = self.clone();
            self.tasks.spawn(async move {
                tokio::select! {
                    // Nobody waits for it: a server that cannot be asked may still tell.
                    asked = inner.tell_off(&agreed, &who, &place) => {
                        if let Err(error) = asked {
                            tracing::debug!(server = %place.0, %error, "not told off");
                        }
                    }
                    () = inner.stop.cancelled() => {}
                }
            });
        }
    }

    /// Asks the server itself; the connection knows in which way its era wants to be asked.
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
            params: params.as_json().into(),
            trace: None,
        };
        self.router.call(&request, &Caller::default()).await.map(drop)
    }
}
