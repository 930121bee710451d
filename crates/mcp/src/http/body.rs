//! Bodies of answers: in pieces that are not copied, or as events for as long as there are any.
//! Never makes a message.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use switchboard_wire::sse;
use tokio::time::{Instant, Sleep, sleep};

use crate::guests::Stay;
use crate::outbox::{Outbox, Reader};
use crate::session::EventId;

/// As much as is gathered into one write.
const WRITE: usize = 64 * 1024;

/// The body of an answer.
#[must_use]
pub struct Outgoing(Kind);

enum Kind {
    /// What is left of a few pieces.
    Pieces(std::array::IntoIter<Bytes, 3>),
    Events(Box<Events>),
}

impl Outgoing {
    pub(super) fn empty() -> Self {
        Self::pieces(Default::default())
    }

    pub(super) fn whole(bytes: Bytes) -> Self {
        Self::pieces([bytes, Bytes::new(), Bytes::new()])
    }

    pub(super) fn pieces(pieces: [Bytes; 3]) -> Self {
        Self(Kind::Pieces(pieces.into_iter()))
    }

    pub(super) fn events(events: Events) -> Self {
        Self(Kind::Events(Box::new(events)))
    }

    /// The stream that it is, if it is one.
    pub(super) fn as_events(&mut self) -> Option<&mut Events> {
        match &mut self.0 {
            Kind::Pieces(_) => None,
            Kind::Events(events) => Some(events),
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Kind::Pieces(pieces) => Poll::Ready(
                pieces.find(|piece| !piece.is_empty()).map(|piece| Ok(Frame::data(piece))),
            ),
            Kind::Events(events) => Pin::new(&mut **events).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Pieces(pieces) => pieces.as_slice().iter().all(Bytes::is_empty),
            Kind::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Pieces(pieces) => {
                let lengths = pieces.as_slice().iter().map(|piece| piece.len() as u64);
                SizeHint::with_exact(lengths.sum())
            }
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

/// What makes the messages of a stream for as long as the stream is read; its last one is what it
/// ends with.
pub(super) type Driver = Pin<Box<dyn Future<Output = Option<Bytes>> + Send>>;

/// A stream of events.
pub(super) struct Events {
    out: Arc<Outbox>,
    reader: Reader,
    /// Which stream it is, if a client may come back to it.
    stream: Option<(u32, u64)>,
    /// What comes before any message.
    first: Vec<u8>,
    source: Source,
    quiet: Pin<Box<Sleep>>,
    every: Duration,
    /// Whose it is.
    stay: Option<Stay>,
    /// Whatever ends with the stream.
    _held: Option<Box<dyn Send + Sync>>,
}

/// Where messages come from.
enum Source {
    /// From elsewhere, until the stream is ended there.
    Elsewhere,
    /// From a call that lives as long as the stream is read.
    Driver(Driver),
    /// The call is over: this is last.
    Last(Option<Bytes>),
}

impl Events {
    pub(super) fn new(out: Arc<Outbox>, last: Option<u64>, every: Duration) -> Self {
        let reader = out.read(last);
        let quiet = Box::pin(sleep(every));
        let source = Source::Elsewhere;
        let (first, stay) = (Vec::new(), None);
        Self { out, reader, stream: None, first, source, quiet, every, stay, _held: None }
    }

    /// Its events have ids.
    pub(super) fn numbered(mut self, life: u32, stream: u64) -> Self {
        self.stream = Some((life, stream));
        self
    }

    /// Something comes first.
    pub(super) fn first(mut self, bytes: Vec<u8>) -> Self {
        self.first = bytes;
        self
    }

    pub(super) fn driven(mut self, driver: Driver) -> Self {
        self.source = Source::Driver(driver);
        self
    }

    pub(super) fn holding(mut self, held: impl Send + Sync + 'static) -> Self {
        self._held = Some(Box::new(held));
        self
    }

    /// It ends when whoever opened it has to leave.
    pub(super) fn belongs_to(&mut self, stay: Stay) {
        self.stay = Some(stay);
    }

    fn write(&self, out: &mut Vec<u8>, number: u64, message: &[u8]) {
        match self.stream {
            Some((life, stream)) => {
                let id = EventId { life, stream, message: number }.to_string();
                sse::event(out, Some("message"), Some(&id), message);
            }
            None => sse::event(out, Some("message"), None, message),
        }
    }

    /// Everything that is there by now; `true` at the end.
    fn gather(&mut self, frame: &mut Vec<u8>, context: &mut Context<'_>) -> bool {
        if let Source::Driver(driver) = &mut self.source
            && let Poll::Ready(last) = driver.as_mut().poll(context)
        {
            self.source = Source::Last(last);
        }
        while frame.len() < WRITE {
            match self.out.poll_next(&mut self.reader, context) {
                Poll::Ready(Some((number, message))) => self.write(frame, number, &message),
                Poll::Ready(None) => return true,
                Poll::Pending => {
                    let Source::Last(last) = &mut self.source else { return false };
                    if let Some(last) = last.take() {
                        self.write(frame, 0, &last);
                    }
                    return true;
                }
            }
        }
        false
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        if this.stay.as_ref().is_some_and(|stay| stay.poll_over(context).is_ready()) {
            return Poll::Ready(None);
        }
        let mut frame = std::mem::take(&mut this.first);
        let ended = this.gather(&mut frame, context);
        if frame.is_empty() && !ended {
            if this.quiet.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            sse::comment(&mut frame, "");
        }
        if frame.is_empty() {
            return Poll::Ready(None);
        }
        if ended {
            // Whoever asks again gets the end.
            this.source = Source::Last(None);
        }
        let next = Instant::now() + this.every;
        this.quiet.as_mut().reset(next);
        Poll::Ready(Some(Ok(Frame::data(frame.into()))))
    }
}
