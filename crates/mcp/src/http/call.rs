//! Answering a POST: as JSON when the answer is all there is to say, as a stream from the moment
//! that something comes before it.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use bytes::Bytes;
use switchboard_wire::{Revision, sse};
use tokio::time::{Instant, sleep, timeout};

use super::body::Events;
use super::{
    Incoming, Response, SESSION_ID, Way, error, json, read, status, stream_response, unauthorized,
};
use crate::endpoint::{Inner, LAST_WORD};
use crate::exchange::Posted;
use crate::gate::{self, Refused};
use crate::guests::Stay;
use crate::head::Head;
use crate::outbox::{Outbox, Weight};
use crate::port::Speech;
use crate::reply::Reply;
use crate::running::{Asker, Task};
use crate::session::{EventId, Session};

/// After how many milliseconds a client that lost a stream should come back.
const RETRY: u64 = 1_000;

/// After how much silence a call counts as somebody who is here, and ends with the token by which it
/// came. Calls that end sooner only compare a number.
const STAYS: Duration = Duration::from_secs(1);

/// What comes first.
enum First {
    /// The answer, or that none is wanted.
    Answer(Option<Reply>),
    /// The token is not good any more.
    Over,
    /// Something else, or a long silence.
    Something,
}

impl Inner {
    /// Reads a POST and begins what it asks for.
    pub(super) async fn post(
        self: &Arc<Self>,
        way: Way,
        head: &Head<'_>,
        body: impl Incoming,
    ) -> Result<Posted, Refused> {
        gate::check_post(head)?;
        let body = read::whole(body, &self.limits).await?;
        Ok(self.exchange(way, head, &body))
    }

    /// Answers it.
    pub(super) async fn posted(self: &Arc<Self>, posted: Posted) -> Response {
        match posted {
            Posted::Reply(reply) => json(reply),
            Posted::Opened(reply, session) => {
                let mut response = json(reply);
                if let Ok(id) = HeaderValue::from_str(&session.id) {
                    response.headers_mut().insert(SESSION_ID, id);
                }
                response
            }
            Posted::Accepted => status(StatusCode::ACCEPTED),
            Posted::Refused(status, code, text) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
                error(status, code, &text)
            }
            Posted::Call(task) => self.answer(task).await,
            Posted::Watch(watch) => match watch.await {
                Some(reply) => json(reply),
                None => status(StatusCode::ACCEPTED),
            },
            Posted::Listen(listening) => {
                let out = listening.out.clone();
                let events = Events::new(out, None, self.limits.keep_alive);
                stream_response(events.holding(listening))
            }
            Posted::Batch(exchanges, session) => self.answer_all(exchanges, &session),
        }
    }

    /// The hot path: most calls end before anything else is said, and are answered from here.
    async fn answer(self: &Arc<Self>, mut task: Box<Task>) -> Response {
        let Some(out) = task.out().cloned() else { return status(StatusCode::ACCEPTED) };
        let mut silence = pin!(sleep(self.limits.plain.min(STAYS)));
        let mut stay: Option<Stay> = None;
        let first = poll_fn(|context| {
            if let Poll::Ready(reply) = task.poll(context) {
                return Poll::Ready(First::Answer(reply));
            }
            if out.poll_ready(context).is_ready() {
                return Poll::Ready(First::Something);
            }
            if stay.as_ref().is_some_and(|stay| stay.poll_over(context).is_ready()) {
                return Poll::Ready(First::Over);
            }
            if silence.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let rest = self.limits.plain.saturating_sub(STAYS);
            if stay.is_some() || rest.is_zero() {
                return Poll::Ready(First::Something);
            }
            stay = self.stays(&task.asker);
            if stay.is_none() {
                return Poll::Ready(First::Over);
            }
            silence.as_mut().reset(Instant::now() + rest);
            // Looked at once more, so as to be woken by both.
            context.waker().wake_by_ref();
            Poll::Pending
        });
        match first.await {
            First::Over => unauthorized(),
            First::Answer(Some(reply)) if out.is_read() => json(reply),
            First::Answer(Some(reply)) => {
                let last = reply.body.joined();
                self.stream(&task, out, async move { Some(last) })
            }
            First::Answer(None) => status(StatusCode::ACCEPTED),
            First::Something => {
                let speech = task.asker.speech.clone();
                let rest = async move { Some(task.finish().await?.body.joined()) };
                self.stream_as(&speech, out, rest)
            }
        }
    }

    /// A place among the guests for a call that takes a while; `None` if its token was withdrawn before.
    fn stays(&self, asker: &Asker) -> Option<Stay> {
        let principal = match (&asker.pass, &asker.speech) {
            (Some(pass), _) => &pass.principal,
            (None, Speech::Session(session)) => &session.principal,
            (None, Speech::Stateless { .. }) => return None,
        };
        let stay = self.guests.enter(principal.clone());
        let turned = asker.pass.as_ref().is_some_and(|pass| pass.turn != self.guests.turn());
        (!turned || self.auth.still()(principal)).then_some(stay)
    }

    fn stream(
        self: &Arc<Self>,
        task: &Task,
        out: Arc<Outbox>,
        rest: impl Future<Output = Option<Bytes>> + Send + 'static,
    ) -> Response {
        self.stream_as(&task.asker.speech, out, rest)
    }

    /// The stream of a call. In the stateless era the call lives in the stream and ends with it; in
    /// the session era it lives by itself, and the stream can be come back to.
    fn stream_as(
        self: &Arc<Self>,
        speech: &Speech,
        out: Arc<Outbox>,
        rest: impl Future<Output = Option<Bytes>> + Send + 'static,
    ) -> Response {
        let every = self.limits.keep_alive;
        let session = match speech {
            Speech::Stateless { .. } => {
                let events = Events::new(out, None, every);
                return stream_response(events.driven(Box::pin(rest)));
            }
            Speech::Session(session) => session.clone(),
        };
        let (stream, events) = self.open_stream(&session, &out);
        let (room, stop) = (self.limits.replay, self.stop.clone());
        // The hub ends streams when no call is under way: not between an answer and its last step.
        let said = self.calls.token();
        self.tasks.spawn(async move {
            let mut rest = pin!(rest);
            let last = tokio::select! {
                last = &mut rest => last,
                () = stop.cancelled() => timeout(LAST_WORD, rest).await.ok().flatten(),
            };
            if let Some(last) = last {
                out.push(last, Weight::Needed);
            }
            drop(said);
            out.end();
            session.streams(|streams| streams.finish(stream, room));
        });
        stream_response(events)
    }

    /// A new stream of a session's, which begins with its own id where the revision has that.
    pub(super) fn open_stream(&self, session: &Session, out: &Arc<Outbox>) -> (u64, Events) {
        let (life, stream) = session.streams(|streams| (streams.life(), streams.add(out.clone())));
        let mut first = Vec::new();
        if session.revision() >= Revision::V2025_11_25 {
            let id = EventId { life, stream, message: 0 }.to_string();
            sse::retry(&mut first, RETRY);
            sse::event(&mut first, None, Some(&id), b"");
        }
        let events = Events::new(out.clone(), None, self.limits.keep_alive);
        (stream, events.numbered(life, stream).first(first))
    }
}
