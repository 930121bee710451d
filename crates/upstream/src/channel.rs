//! Requests and answers multiplexed over one link: a table of what is under way, and nothing that
//! waits while holding it. Knows no method's meaning but those that concern the table itself.

mod alone;
mod inbound;
mod lasting;
mod pages;
mod pending;
mod question;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use switchboard_core::port::{CallError, Delivery, RpcError};
use switchboard_wire::{Era, Id, Json, JsonBuf, Limits, Revision, method, stdio, write};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use inbound::{Changed, Kinds};
pub(crate) use pending::{Related, Waiting};

use crate::agreement::Agreement;
use crate::journal::Journal;
use crate::pulse::{Patience, Pulse, Tell};
use crate::transport::{Headers, Link, Sent};
use alone::Alone;
use lasting::Lasting;
use pages::Pages;
use pending::{Pending, Table};
use question::Questions;

/// What one message may be.
pub(crate) const LIMITS: Limits = Limits::DEFAULT;

/// Messages that may wait for a server to take them without anybody waiting with them.
const POSTS: usize = 1024;

/// One side of a conversation with a server.
pub(crate) struct Channel {
    link: Link,
    table: Table,
    pages: Pages,
    lasting: Lasting,
    alone: Alone,
    questions: Questions,
    /// The era that both speak, once they have agreed on it.
    era: OnceLock<Era>,
    next_id: AtomicU64,
    end: CancellationToken,
    reason: OnceLock<String>,
    tasks: TaskTracker,
    pub(crate) journal: Arc<Journal>,
    pub(crate) changed: Changed,
    pub(crate) agreement: Arc<Agreement>,
    /// Answers that nobody waited for: late ones, and second ones.
    stray: AtomicU64,
    /// Messages on their way that nobody waits for.
    posted: AtomicUsize,
}

/// A request to be made.
pub(crate) struct Outgoing<'a, C> {
    pub(crate) method: &'a str,
    /// Appends the params, given the request's id.
    pub(crate) params: C,
    pub(crate) headers: Headers,
    pub(crate) patience: Patience,
    pub(crate) waiting: Waiting,
}

impl Channel {
    pub(crate) fn new(
        link: Link,
        end: CancellationToken,
        tasks: TaskTracker,
        journal: Arc<Journal>,
    ) -> Arc<Self> {
        Arc::new(Self {
            link,
            table: Table::default(),
            pages: Pages::default(),
            lasting: Lasting::default(),
            alone: Alone::default(),
            questions: Questions::default(),
            era: OnceLock::new(),
            next_id: AtomicU64::new(1),
            end,
            reason: OnceLock::new(),
            tasks,
            journal,
            changed: Changed::default(),
            agreement: Arc::default(),
            stray: AtomicU64::new(0),
            posted: AtomicUsize::new(0),
        })
    }

    /// Makes a request and waits for its answer. Dropped before that, the server is told.
    pub(crate) async fn request<C>(
        self: &Arc<Self>,
        outgoing: Outgoing<'_, C>,
    ) -> Result<JsonBuf, CallError>
    where
        C: FnOnce(&mut Vec<u8>, u64) -> Result<(), CallError>,
    {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut message = Vec::with_capacity(256);
        write::request_with(&mut message, id.into(), outgoing.method, |out| {
            (outgoing.params)(out, id)
        })?;
        let pulse = Arc::new(Pulse::default());
        let pending = Pending { pulse: pulse.clone(), waiting: outgoing.waiting };
        if !self.table.insert(id, pending) {
            return Err(CallError::lost(self.reason(), Delivery::No));
        }
        let cancels = outgoing.method != method::INITIALIZE;
        let guard = Forget { channel: self, id, pulse: &pulse, cancels };
        let sent = Sent { channel: self, id, pulse: &pulse, patience: outgoing.patience };
        let result = self.link.exchange(sent, message, &outgoing.headers).await;
        // An answer has taken its row out of the table; anything else leaves it to the guard.
        drop(guard);
        result.map_err(|error| self.journal.discreet(error))
    }

    /// A request without ceremony, for handshakes, lists and health.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        method: &str,
        params: Json<'_>,
        headers: Headers,
        patience: Patience,
    ) -> Result<JsonBuf, CallError> {
        let params = |out: &mut Vec<u8>, _| {
            out.extend_from_slice(params.as_bytes());
            Ok(())
        };
        let waiting = Waiting::default();
        self.request(Outgoing { method, params, headers, patience, waiting }).await
    }

    /// Sends a notification; returns when it is on its way.
    pub(crate) async fn notify(
        &self,
        method: &str,
        params: Option<Json<'_>>,
        headers: &Headers,
    ) -> Result<(), CallError> {
        let mut message = Vec::with_capacity(128);
        write::notification(&mut message, method, params);
        self.link.send(message, headers).await
    }

    /// Ends a request that cannot be answered any more.
    pub(crate) fn fail(&self, id: u64, error: CallError) {
        if let Some(pending) = self.table.remove(id) {
            pending.answer(Err(error), Tell::Wake);
        }
    }

    /// Takes a message in; `related` is the request whose stream it came on.
    pub(crate) fn dispatch(self: &Arc<Self>, bytes: &Bytes, related: Related) {
        inbound::dispatch(self, bytes, related);
    }

    /// Ends it: whoever waits is told why.
    pub(crate) fn close(&self, reason: impl Into<String>) {
        let _ = self.reason.set(self.journal.hide(&reason.into()));
        self.end.cancel();
        self.table.close(&CallError::lost(self.reason(), Delivery::Perhaps));
    }

    /// Returns when it has ended, with the reason.
    pub(crate) async fn closed(&self) -> String {
        self.end.cancelled().await;
        self.reason()
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.end
    }

    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Both have agreed on a revision.
    pub(crate) fn settle(&self, revision: Revision) {
        let _ = self.era.set(revision.era());
        self.link.settle(revision);
    }

    /// Answers that nobody waited for.
    pub(crate) fn stray(&self) -> u64 {
        self.stray.load(Ordering::Relaxed)
    }

    /// Whether the request still waits for its answer.
    pub(crate) fn waits(&self, id: u64) -> bool {
        self.table.has(id)
    }

    fn reason(&self) -> String {
        self.reason.get().cloned().unwrap_or_else(|| "it was closed".to_owned())
    }

    /// Answers a request of the server's, in a task of its own.
    fn respond(self: &Arc<Self>, id: Id<'_>, answer: Result<Json<'_>, &RpcError>) {
        let mut message = Vec::with_capacity(128);
        match answer {
            Ok(result) => write::result(&mut message, id, result),
            Err(error) => write::error_raw(&mut message, Some(id), error.raw.as_json()),
        }
        self.post(message);
    }

    /// Whether there is room for what may as well be lost.
    fn has_room(&self) -> bool {
        self.posted.load(Ordering::Relaxed) < POSTS / 2
    }

    /// Sends something without waiting for it.
    fn post(self: &Arc<Self>, message: Vec<u8>) {
        let Some(message) = self.link.try_send(message) else { return };
        if self.posted.fetch_add(1, Ordering::Relaxed) >= POSTS {
            // A server that asks and asks and never reads is not worth memory.
            self.posted.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let channel = self.clone();
        self.tasks.spawn(async move {
            let headers = Headers::default();
            let sent = tokio::select! {
                sent = channel.link.send(message, &headers) => sent,
                () = channel.end.cancelled() => return,
            };
            channel.posted.fetch_sub(1, Ordering::Relaxed);
            if let Err(error) = sent {
                tracing::debug!(%error, "a message was not delivered");
            }
        });
    }
}

/// Takes a request out of the table when nobody waits for it any more, and tells the server.
struct Forget<'c> {
    channel: &'c Arc<Channel>,
    id: u64,
    pulse: &'c Pulse,
    cancels: bool,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.pulse.finish();
        if self.channel.table.remove(self.id).is_none() || !self.cancels {
            return;
        }
        if self.channel.end.is_cancelled() || !self.channel.link.wants_cancellations() {
            return;
        }
        let params = write::object(|params| {
            params.integer("requestId", i64::try_from(self.id).unwrap_or(i64::MAX));
            params.text("reason", "the caller no longer waits for it");
        });
        let mut message = Vec::with_capacity(128);
        write::notification(&mut message, method::CANCELLED, Some(params.as_json()));
        self.channel.post(message);
    }
}

/// A message as one line.
pub(crate) fn line(mut message: Vec<u8>) -> Bytes {
    stdio::end_line(&mut message, 0);
    message.into()
}
