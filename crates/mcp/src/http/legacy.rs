//! The older transport, HTTP+SSE: one stream for everything that goes to the client, and a POST for
//! each message that comes from it. The session lives as long as the stream.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{StatusCode, Uri};
use switchboard_wire::{code, sse};

use super::body::Events;
use super::{Incoming, Response, Way, error, read, refusal, status, stream_response};
use crate::channel::{Channel, Eras};
use crate::endpoint::Inner;
use crate::gate;
use crate::head::Head;
use crate::outbox::{Keep, Outbox};
use crate::session::Session;

/// The channels that are open, by the ids of their sessions.
#[derive(Default)]
pub(crate) struct Channels(Mutex<HashMap<Arc<str>, Arc<Channel>>>);

/// Ends a channel with its stream.
struct End {
    inner: Arc<Inner>,
    session: Arc<Session>,
}

impl Drop for End {
    fn drop(&mut self) {
        self.inner.channels.remove(&self.session.id);
        self.inner.sessions.end(&self.session);
    }
}

impl Channels {
    fn insert(&self, id: Arc<str>, channel: Arc<Channel>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, channel);
    }

    fn get(&self, id: &str) -> Option<Arc<Channel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn remove(&self, id: &str) {
        let gone = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        drop(gone);
    }

    /// All of them end.
    pub(crate) fn clear(&self) {
        let gone = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(gone);
    }
}

impl Inner {
    /// Opens the stream, which begins with where to post.
    pub(super) fn legacy_get(self: &Arc<Self>, way: &Way, uri: &Uri, head: &Head<'_>) -> Response {
        if let Err(refused) = gate::check_get(head) {
            return refusal(&refused);
        }
        let Ok(session) = self.sessions.open(&way.principal, &way.door, None) else {
            let text = "too many sessions are open; end some of them first";
            return error(StatusCode::TOO_MANY_REQUESTS, code::INTERNAL_ERROR, text);
        };
        let out = Arc::new(Outbox::new(Keep::UntilRead(self.limits.replay)));
        let channel = Channel::new(self.clone(), session.clone(), out.clone(), Eras::Session);
        self.channels.insert(session.id.clone(), Arc::new(channel));
        let place = format!("{}?sessionId={}", uri.path(), session.id);
        let mut first = Vec::new();
        sse::event(&mut first, Some("endpoint"), None, place.as_bytes());
        let events = Events::new(out, None, self.limits.keep_alive).first(first);
        stream_response(events.holding(End { inner: self.clone(), session }))
    }

    /// Takes a message; its answer goes to the stream.
    pub(super) async fn legacy_post(
        self: &Arc<Self>,
        way: Way,
        uri: &Uri,
        head: &Head<'_>,
        body: impl Incoming,
    ) -> Response {
        if let Err(refused) = gate::check_json(head) {
            return refusal(&refused);
        }
        let id = uri.query().and_then(|query| {
            query.split('&').find_map(|pair| pair.strip_prefix("sessionId=")).map(str::to_owned)
        });
        let session = id.and_then(|id| self.sessions.find(&id, &way.principal, &way.door));
        let channel = session.and_then(|session| Some((self.channels.get(&session.id)?, session)));
        let Some((channel, session)) = channel else {
            let text = "there is no such session: open the stream again";
            return error(StatusCode::NOT_FOUND, code::INVALID_REQUEST, text);
        };
        let body =
            match read::whole(body, &self.limits, || self.burden.begin(&way.principal.who)).await {
                Ok(body) => body,
                Err(refused) => return refusal(&refused),
            };
        // A client that does not read what it gets cannot make it grow.
        let (waiting, full) =
            session.streams(|all| (all.opened().map_or(0, |own| own.bytes()), all.is_overdrawn()));
        if waiting > self.limits.unread || full {
            let text = match full {
                true => "too much waits on your streams; read all of them, or close some, first",
                false => "the stream is not being read; read it first",
            };
            return error(StatusCode::TOO_MANY_REQUESTS, code::INTERNAL_ERROR, text);
        }
        channel.take(&body);
        status(StatusCode::ACCEPTED)
    }
}
