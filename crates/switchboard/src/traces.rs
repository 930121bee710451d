//! Calls as OpenTelemetry spans, for whoever has a collector: gathered off the calls' path, sent in
//! batches over OTLP/HTTP. A call never waits for it, and without a collector none of it exists.

mod otlp;
mod sender;
mod span;
mod target;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use switchboard_config::environment;
use switchboard_core::port::{Call, Done, Record, Trace};
use switchboard_model::{Clock, HubSpec};
use switchboard_rest::port::{SpanCounters, Spans as Counted};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use sender::Sender;
use span::{Parent, Span};
pub use target::Target;

/// So many spans may wait, as when the collector is away.
const BOUND: usize = 4096;

/// Who is told of calls, if anybody is; what is wrong with that is a warning.
pub(crate) fn collector(spec: &HubSpec) -> Option<Target> {
    Target::find(spec, &environment::variable).unwrap_or_else(|why| {
        tracing::warn!("there are no traces: {why}");
        None
    })
}

/// Takes spans in and sees to it that they are sent. Clones share it.
#[derive(Clone)]
pub(crate) struct Spans {
    queue: mpsc::Sender<Span>,
    tally: Arc<Tally>,
    tasks: TaskTracker,
    end: CancellationToken,
    give_up: CancellationToken,
}

#[derive(Debug, Default)]
struct Tally {
    sent: AtomicU64,
    dropped: AtomicU64,
    in_hand: AtomicUsize,
    /// Rung when so many wait that they should be sent now.
    many: Notify,
}

impl Spans {
    /// Begins; nothing is sent before there is something.
    pub(crate) fn start(target: Target, client: reqwest::Client) -> Self {
        let (queue, spans) = mpsc::channel(BOUND);
        let all = Self {
            queue,
            tally: Arc::default(),
            tasks: TaskTracker::new(),
            end: CancellationToken::new(),
            give_up: CancellationToken::new(),
        };
        let sender = Sender::new(target, client, all.tally.clone());
        all.tasks.spawn(sender.run(spans, all.end.clone(), all.give_up.clone()));
        all.tasks.close();
        all
    }

    /// Sends what was taken in, and ends. A collector that takes longer than `patience` is given
    /// up; what it did not take counts as dropped.
    pub(crate) async fn close(&self, patience: Duration) -> SpanCounters {
        self.end.cancel();
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            self.give_up.cancel();
            self.tasks.wait().await;
        }
        self.counters()
    }

    fn take(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            self.tally.dropped.fetch_add(1, Ordering::Relaxed);
        }
        // Whoever sends sleeps meanwhile, and is not woken for each.
        if self.queue.capacity() <= self.queue.max_capacity() / 4 * 3 {
            self.tally.many.notify_one();
        }
    }
}

impl Counted for Spans {
    fn counters(&self) -> SpanCounters {
        let waiting = self.queue.max_capacity() - self.queue.capacity();
        let queued = waiting + self.tally.in_hand.load(Ordering::Relaxed);
        SpanCounters {
            sent: self.tally.sent.load(Ordering::Relaxed),
            dropped: self.tally.dropped.load(Ordering::Relaxed),
            queued: queued as u64,
        }
    }
}

/// Makes a span of every call, and passes the call on to whoever else takes note.
pub(crate) struct Traced {
    spans: Spans,
    clock: Arc<dyn Clock>,
    next: Arc<dyn Record>,
}

impl Traced {
    pub(crate) fn new(spans: Spans, clock: Arc<dyn Clock>, next: Arc<dyn Record>) -> Self {
        Self { spans, clock, next }
    }
}

impl Trace for Traced {
    fn begin(&self, call: &Call<'_>) -> Option<String> {
        let parent = call.trace.and_then(Parent::parse);
        // Whoever began the trace decides whether it is kept.
        let is_kept = parent.is_none_or(|parent| parent.is_sampled);
        is_kept.then(|| Parent::below(parent).traceparent())
    }
}

impl Record for Traced {
    fn record(&self, call: &Call<'_>, done: &Done<'_>) {
        let Some(own) = done.span.and_then(Parent::parse) else {
            return self.next.record(call, done);
        };
        let parent = call.trace.and_then(Parent::parse);
        let span = Span::of(call, done, own, parent, self.clock.now());
        match parent {
            Some(_) => self.next.record(call, done),
            // A trace that begins here is the one that the record names too.
            None => self.next.record(&Call { trace: done.span, ..*call }, done),
        }
        self.spans.take(span);
    }
}
