//! A stream of changes from its request to its acknowledgement, before which it is told nothing. It is
//! promised what the servers that have to be asked have agreed to, and nothing else.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use switchboard_core::port::BoxFuture;
use switchboard_wire::types::Filter;
use switchboard_wire::{method, write};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{Ear, Listener, stamped};
use crate::endpoint::Inner;
use crate::outbox::Weight;

/// The caller's URI of a resource, and whether its server agrees to tell of it.
pub(super) type Ask = (String, BoxFuture<'static, bool>);

/// A stream of changes that is about to be acknowledged.
pub(crate) struct Opening {
    pub(super) number: u64,
    pub(crate) listener: Arc<Listener>,
    pub(super) asks: Vec<Ask>,
    pub(crate) end: Option<CancellationToken>,
}

impl Opening {
    /// Acknowledges as soon as it is known what was agreed to: at once where nobody has to be asked.
    pub(super) fn acknowledge_when(mut self, inner: &Arc<Inner>) {
        if self.asks.is_empty() {
            return self.acknowledge(inner, Vec::new(), Vec::new());
        }
        let (held, stop) = (inner.clone(), inner.stop.clone());
        inner.tasks.spawn(stop.run_until_cancelled_owned(async move {
            let uris = self.agreed(&held).await;
            self.acknowledge(&held, uris, Vec::new());
        }));
    }

    /// The resources that servers agree to tell of, within the time; who does not answer has not agreed.
    pub(crate) async fn agreed(&mut self, inner: &Inner) -> Vec<String> {
        taken(std::mem::take(&mut self.asks), inner.limits.agree).await
    }

    /// Says what is honoured, these resources and tasks among it, and what changed meanwhile; from now on it
    /// is told of changes.
    pub(crate) fn acknowledge(self, inner: &Inner, uris: Vec<String>, task_ids: Vec<String>) {
        inner.watches.keep_only(self.number, &uris);
        let Listener { out, ear, acknowledged, .. } = &*self.listener;
        let Ear::Listen { id, filter, .. } = ear else { return };
        let filter = Filter { uris, task_ids, ..filter.clone() };
        let params = stamped(id, |params| params.raw("notifications", filter.to_json().as_json()));
        let mut message = Vec::new();
        write::notification(&mut message, method::ACKNOWLEDGED, Some(params.as_json()));
        // As one: what changes right after the acknowledgement is not missed, and nothing comes before it.
        inner.watches.undisturbed(|| {
            out.push(message.into(), Weight::Needed);
            acknowledged.store(true, Ordering::SeqCst);
        });
        if let Some(view) = self.listener.view(inner) {
            self.listener.tell(&view);
        }
        // It may have left meanwhile.
        if self.end.is_some_and(|end| end.is_cancelled()) {
            inner.watches.leave(self.number);
        }
    }
}

async fn taken(asks: Vec<Ask>, limit: Duration) -> Vec<String> {
    let order: Vec<String> = asks.iter().map(|(uri, _)| uri.clone()).collect();
    let (mut open, mut agreed) = (asks, Vec::new());
    let all = poll_fn(|context| {
        open.retain_mut(|(uri, ask)| match ask.as_mut().poll(context) {
            Poll::Ready(true) => {
                agreed.push(std::mem::take(uri));
                false
            }
            Poll::Ready(false) => false,
            Poll::Pending => true,
        });
        if open.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    });
    let _ = timeout(limit, all).await;
    order.into_iter().filter(|uri| agreed.contains(uri)).collect()
}
