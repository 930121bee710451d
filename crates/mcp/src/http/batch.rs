//! Answering a batch: every answer on one stream, as soon as it is there, and all of them within a
//! bound. A few bytes of questions must not make megabytes of answers that nobody reads.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::http::StatusCode;
use bytes::Bytes;
use switchboard_wire::{IdBuf, code};
use tokio::time::timeout;

use super::{Response, status, stream_response};
use crate::endpoint::{Inner, LAST_WORD};
use crate::exchange::Exchange;
use crate::outbox::{Outbox, Weight};
use crate::reply::Reply;
use crate::session::Session;

impl Inner {
    /// A batch of a session.
    pub(super) fn answer_all(
        self: &Arc<Self>,
        exchanges: Vec<Exchange>,
        session: &Arc<Session>,
    ) -> Response {
        let Some(out) = exchanges.first().map(|exchange| exchange.out.clone()) else {
            return status(StatusCode::ACCEPTED);
        };
        let (stream, events) = self.open_stream(session, &out);
        let (session, room, stop) = (session.clone(), self.limits.replay, self.stop.clone());
        let most = self.limits.batch;
        self.tasks.spawn(async move {
            let mut answered = pin!(answer_each(exchanges, &session, &out, most));
            tokio::select! {
                () = &mut answered => {}
                () = stop.cancelled() => drop(timeout(LAST_WORD, answered).await),
            }
            out.end();
            session.streams(|streams| streams.finish(stream, room));
        });
        stream_response(events)
    }
}

async fn answer_each(exchanges: Vec<Exchange>, session: &Session, out: &Outbox, most: usize) {
    let mut all: Vec<_> =
        exchanges.into_iter().map(|one| (one.id.clone(), Box::pin(one.finish()))).collect();
    let mut said = 0;
    poll_fn(|context| {
        all.retain_mut(|(id, one)| match one.as_mut().poll(context) {
            Poll::Ready(reply) => {
                if let Some(reply) = reply {
                    let fits = said + reply.body.len() <= most && !session.keeps_too_much();
                    let bytes = if fits { reply.body.joined() } else { too_much(id.as_ref()) };
                    said += bytes.len();
                    out.push(bytes, Weight::Needed);
                }
                false
            }
            Poll::Pending => true,
        });
        if all.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

fn too_much(id: Option<&IdBuf>) -> Bytes {
    let text = "the answers to this batch are too large; ask for less at once";
    let id = id.map(IdBuf::as_id);
    Reply::refused(id, code::INTERNAL_ERROR, text, None).body.joined()
}
