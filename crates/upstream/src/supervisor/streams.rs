//! The streams of one subscription: the one that is heard, the one that is asked for beside it, and the one
//! that was heard before. Never decides which of them there are.

use std::pin::Pin;
use std::time::Duration;

use switchboard_core::port::CallError;
use switchboard_wire::types::Filter;
use switchboard_wire::{JsonBuf, method, write};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::agreement::Agreement;
use crate::channel::{Outgoing, Waiting};
use crate::connection::Connection;
use crate::pulse::Patience;
use crate::server::Server;
use crate::transport::{Headers, Link};

/// Over HTTP, where each stream comes on its own way, what was told on the one before may be so late.
const LINGER: Duration = Duration::from_secs(1);
/// For ever.
const ENDLESS: Duration = Duration::from_secs(365 * 24 * 3600);

/// How a stream ended.
pub(super) type Ended = Result<JsonBuf, CallError>;

/// One `subscriptions/listen`.
pub(super) struct Stream<'c> {
    /// Which round of the agreement it is.
    pub(super) number: u64,
    pub(super) asked: Filter,
    asking: Pin<Box<dyn Future<Output = Ended> + Send + 'c>>,
}

/// Those that there are at one moment.
#[derive(Default)]
pub(super) struct Streams<'c> {
    /// It is acknowledged, and heard.
    pub(super) stands: Option<Stream<'c>>,
    /// It is not acknowledged yet.
    pub(super) asked: Option<Stream<'c>>,
    /// Another stands in its place, and it is heard for a little longer.
    leaving: Option<(Stream<'c>, Instant)>,
}

/// What happens to them.
pub(super) enum News<'c> {
    /// What was asked for is acknowledged.
    Acknowledged,
    /// It was, and has ended, both in one piece.
    Passed(Stream<'c>),
    /// It has ended instead.
    Refused(Ended),
    /// What stood has ended.
    Fell(Stream<'c>),
    /// Something else is wanted.
    Wanted,
    /// It is time.
    Due,
}

impl<'c> Stream<'c> {
    /// Asks; nothing is sent before it is waited for.
    pub(super) fn open(connection: &'c Connection, asked: Filter) -> Self {
        let (peer, channel) = (connection.peer(), &connection.channel);
        let filter = asked.to_json();
        let params = write::object(|params| params.raw("notifications", filter.as_json()));
        let params = peer.own(params.as_json());
        let (number, ear) = channel.agreement.begin(asked.clone());
        let asking = channel.request(Outgoing {
            method: method::LISTEN,
            params: move |out: &mut Vec<u8>, _| {
                out.extend_from_slice(params.as_json().as_bytes());
                Ok(())
            },
            headers: Headers::mirror(peer.revision, method::LISTEN, None),
            patience: Patience::of(ENDLESS),
            waiting: Waiting { listener: Some(ear), ..Waiting::default() },
        });
        Self { number, asked, asking: Box::pin(asking) }
    }
}

impl<'c> Streams<'c> {
    /// What was asked for stands from now on; what stood is heard until nothing of it can be on its way.
    pub(super) fn promote(&mut self, link: &Link) {
        let before = std::mem::replace(&mut self.stands, self.asked.take());
        // On a pipe everything comes in the order in which it was said.
        let before = before.filter(|_| matches!(link, Link::Http(_)));
        self.leaving = before.map(|stream| (stream, Instant::now() + LINGER));
    }

    /// Whether one is heard for a little longer.
    pub(super) fn is_left(&self) -> bool {
        self.leaving.is_some()
    }

    /// That one is heard no longer.
    pub(super) fn dismiss(&mut self) {
        self.leaving = None;
    }

    /// Waits for something to happen, until `due` at last; that something else is wanted only counts with `wishes`. All
    /// streams are read meanwhile, and only then.
    pub(super) async fn news(
        &mut self,
        server: &Server,
        agreement: &Agreement,
        due: Option<Instant>,
        wishes: bool,
    ) -> News<'c> {
        loop {
            let Self { stands, asked, leaving } = self;
            let number = asked.as_ref().map(|stream| stream.number);
            tokio::select! {
                biased;
                () = agreement.acknowledged(number.unwrap_or_default()), if number.is_some() => {
                    return News::Acknowledged;
                }
                ended = end(asked) => {
                    if let Some(stream) = self.asked.take() {
                        return match agreement.is_acknowledged(stream.number) {
                            true => News::Passed(stream),
                            false => News::Refused(ended),
                        };
                    }
                }
                _ = end(stands) => {
                    if let Some(stream) = self.stands.take() {
                        return News::Fell(stream);
                    }
                }
                () = left(leaving) => self.leaving = None,
                () = server.watched.changed(), if wishes => return News::Wanted,
                () = until(due), if due.is_some() => return News::Due,
            }
        }
    }
}

async fn end(stream: &mut Option<Stream<'_>>) -> Ended {
    match stream {
        Some(stream) => stream.asking.as_mut().await,
        None => std::future::pending().await,
    }
}

async fn left(stream: &mut Option<(Stream<'_>, Instant)>) {
    match stream {
        Some((stream, end)) => drop(timeout_at(*end, stream.asking.as_mut()).await),
        None => std::future::pending().await,
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
