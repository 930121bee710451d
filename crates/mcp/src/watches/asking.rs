//! Asking servers to tell of resources, and telling them off. A server that many share is asked once,
//! and told off when the last one leaves. Nobody is told that they will hear of something before the
//! server has agreed.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use switchboard_core::port::{CallError, Caller, Who};
use switchboard_core::{Request, Surface};
use switchboard_model::{CallOrigin, ServerKey, Timing};
use switchboard_wire::{Era, Id, IdBuf, Json, JsonBuf, code, method, write};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{Agreed, Hearing, Place, Whose};
use crate::endpoint::Inner;
use crate::listeners::empty;
use crate::outbox::Outbox;
use crate::port::{Asking, Event, Over, Port, Speech};
use crate::reply::Reply;
use crate::running::Asker;
use crate::serve::Work;
use crate::session::Session;

/// How often a server is waited for, each time for as long as a call of it may take: for its connection and its
/// answer when it is told off, and for both again when it is asked anew.
const ROUNDS: u32 = 4;

/// A session's request that waits for a server. It counts among the session's calls, and is called off as
/// they are: by the client, and with the session.
struct Waiting {
    session: Arc<Session>,
    port: Arc<Port>,
    /// The end of the hub waits for it.
    _under_way: TaskTrackerToken,
}

/// What a session wants to hear of, and will not unless the server agrees.
struct Wish {
    inner: Arc<Inner>,
    place: Place,
    number: u64,
    is_granted: bool,
}

impl Inner {
    /// `resources/subscribe` and `resources/unsubscribe` of a session.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        asker: &Asker,
        id: IdBuf,
        method: &'static str,
        params: &JsonBuf,
        out: Arc<Outbox>,
    ) -> Work {
        let Speech::Session(session) = &asker.speech else {
            return Work::Reply(crate::serve::unknown(id.as_id(), asker.era()));
        };
        let uri = params.as_json().get("uri").and_then(Json::string).unwrap_or_default();
        let Some(place) = self.router.resource(&asker.view, &uri) else {
            let error = self.router.no_resource(&asker.view, &uri);
            return Work::Reply(self.told(&id, method, None, Err(error)));
        };
        let port = Port::new(
            out,
            asker.speech.clone(),
            asker.who.clone(),
            Asking::Refused,
            self.limits.input,
        );
        let waiting = Waiting::begin(self, session, id.as_id(), port);
        let Some(waiting) = waiting else {
            let text = "too many calls of this session are under way; wait for some of them";
            return refused(&id, code::INTERNAL_ERROR, text);
        };
        match method {
            method::UNSUBSCRIBE => self.unwatch_session(asker, waiting, id, place),
            _ => self.watch_session(asker, waiting, id, place, uri.into_owned()),
        }
    }

    fn watch_session(
        self: &Arc<Self>,
        asker: &Asker,
        waiting: Waiting,
        id: IdBuf,
        place: Place,
        uri: String,
    ) -> Work {
        let session = &waiting.session;
        if !self.can_tell(&place) {
            let text = "the server of this resource does not tell when it changes";
            return refused(&id, code::INVALID_PARAMS, text);
        }
        let watched = session.watched(self.limits.subscriptions);
        let added = watched.and_then(|watched| {
            let whose = Whose::Session(Arc::downgrade(session), watched);
            let (who, own) = (&asker.who, place.clone());
            self.watches.add(own, who, uri, whose, |other| other.is_of(session))
        });
        let Some((number, agreed)) = added else {
            let text = "too many subscriptions; unsubscribe from some resources first";
            return refused(&id, code::INTERNAL_ERROR, text);
        };
        if agreed.is_given() {
            self.sessions.bind(session);
            return Work::Reply(empty(self, &id, Era::Session, method::SUBSCRIBE));
        }
        let who = asker.who.clone();
        let mut wish = Wish { inner: self.clone(), place, number, is_granted: false };
        Work::Later(Box::pin(async move {
            let asked = match waiting.until(wish.inner.agree(agreed, &who, &wish.place)).await {
                Ok(asked) => asked,
                Err(over) => return wish.inner.given_up(&id, method::SUBSCRIBE, over),
            };
            wish.is_granted = asked.is_ok();
            if wish.is_granted {
                wish.inner.sessions.bind(&waiting.session);
            }
            Some(wish.inner.told(&id, method::SUBSCRIBE, Some(&wish.place.0), asked))
        }))
    }

    fn unwatch_session(
        self: &Arc<Self>,
        asker: &Asker,
        waiting: Waiting,
        id: IdBuf,
        place: Place,
    ) -> Work {
        let left = self.watches.remove(&place, |watch| watch.is_of(&waiting.session));
        let Some(agreed) = left else {
            return Work::Reply(empty(self, &id, Era::Session, method::UNSUBSCRIBE));
        };
        let server = place.0.clone();
        let told = self.tell_off(agreed, asker.who.clone(), place);
        let inner = self.clone();
        Work::Later(Box::pin(async move {
            match waiting.until(told).await {
                Ok(Ok(Some(told))) => {
                    Some(inner.told(&id, method::UNSUBSCRIBE, Some(&server), told))
                }
                // The hub ends before the server has said anything.
                Ok(_) => inner.given_up(&id, method::UNSUBSCRIBE, Over::Ended),
                Err(over) => inner.given_up(&id, method::UNSUBSCRIBE, over),
            }
        }))
    }

    fn told(
        &self,
        id: &IdBuf,
        method: &str,
        server: Option<&ServerKey>,
        asked: Result<(), CallError>,
    ) -> Reply {
        match asked {
            Ok(()) => empty(self, id, Era::Session, method),
            Err(error) => {
                self.scribe.failure(id.as_id(), Era::Session, method, (&error, server), None)
            }
        }
    }

    /// Only what its client takes back is not answered.
    fn given_up(&self, id: &IdBuf, method: &str, over: Over) -> Option<Reply> {
        match over {
            Over::Cancelled => None,
            Over::Ended => Some(self.scribe.ended(id.as_id(), Era::Session, method)),
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
        let added = self.watches.add(place.clone(), &who, uri, whose, |_| false);
        async move {
            let Some((_, agreed)) = added else {
                tracing::debug!(server = %place.0, "not subscribed: too much is subscribed to");
                return false;
            };
            let asked = inner.agree(agreed, &who, &place).await;
            if let Err(error) = &asked {
                tracing::debug!(server = %place.0, %error, "not subscribed");
                inner.watches.withdraw(&place, |watch| watch.is_heard_by(number));
            }
            asked.is_ok()
        }
    }

    /// Asks the server, unless it has agreed already. Whoever asks may leave and be followed by one who waits,
    /// again and again; so the whole has an end of its own.
    pub(super) async fn agree(
        &self,
        agreed: Agreed,
        who: &Who,
        place: &Place,
    ) -> Result<(), CallError> {
        let call = self.registry.look(|now| {
            let spec = now.offer(&place.0).and_then(|offer| offer.spec.as_ref());
            spec.map_or(Timing::default().call, |spec| spec.timing.call)
        });
        let after = call.saturating_mul(ROUNDS);
        let asked = agreed.ask(self.ask_server(who, method::SUBSCRIBE, place));
        timeout(after, asked).await.unwrap_or(Err(CallError::TimedOut { after }))
    }

    /// Tells the server off, whoever waits for it: one that is not would tell nobody for ever.
    fn tell_off(
        self: &Arc<Self>,
        agreed: Agreed,
        who: Arc<Who>,
        place: Place,
    ) -> JoinHandle<Option<Result<(), CallError>>> {
        let inner = self.clone();
        self.tasks.spawn(self.stop.clone().run_until_cancelled_owned(async move {
            let ask = inner.ask_server(&who, method::UNSUBSCRIBE, &place);
            let told = agreed.tell_off(ask).await;
            if let Err(error) = &told {
                tracing::debug!(server = %place.0, %error, "not told off");
            }
            told
        }))
    }

    /// Servers are told off where nobody wants to hear any more. Nobody waits for it: one that cannot be asked
    /// may still tell.
    pub(crate) fn unwatch_dead(self: &Arc<Self>) {
        for (place, who, agreed) in self.watches.take_dead() {
            self.tell_off(agreed, who, place);
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

fn refused(id: &IdBuf, code: i64, text: &str) -> Work {
    Work::Reply(Reply::refused(Some(id.as_id()), code, text, None).with_status(200))
}

impl Waiting {
    /// `None` if too much of the session's is under way.
    fn begin(inner: &Inner, session: &Arc<Session>, id: Id<'_>, port: Port) -> Option<Self> {
        let port = Arc::new(port);
        let fits = session.begin(id, &port, inner.limits.calls);
        let (session, under_way) = (session.clone(), inner.calls.token());
        fits.then_some(Self { session, port, _under_way: under_way })
    }

    /// What is waited for, unless it is given up before.
    async fn until<T>(&self, what: impl Future<Output = T>) -> Result<T, Over> {
        let mut what = pin!(what);
        poll_fn(|context| match self.port.poll_event(context) {
            Poll::Ready(Event::Over(over)) => Poll::Ready(Err(over)),
            Poll::Ready(Event::Asked) | Poll::Pending => what.as_mut().poll(context).map(Ok),
        })
        .await
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.session.done(&self.port);
    }
}

impl Drop for Wish {
    fn drop(&mut self) {
        if !self.is_granted {
            self.inner.watches.withdraw(&self.place, |watch| watch.number == self.number);
        }
    }
}
