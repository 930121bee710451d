//! Answering a batch: every answer on one stream, as soon as it is there, and all of them within a
//! bound. Never counts them: that is the tally.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::http::StatusCode;
use switchboard_wire::IdBuf;
use tokio::time::timeout;

use super::{Response, status, stream_response};
use crate::endpoint::{Inner, LAST_WORD};
use crate::exchange::Exchange;
use crate::outbox::{Outbox, Weight};
use crate::session::Session;
use crate::tally::Tally;

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
        // The hub ends streams when no call is under way: not between an answer and its last step.
        let said = exchanges.iter().any(Exchange::is_call).then(|| self.calls.token());
        self.tasks.spawn(async move {
            let mut answered = pin!(answer_each(exchanges, &session, &out, most));
            tokio::select! {
                () = &mut answered => {}
                () = stop.cancelled() => drop(timeout(LAST_WORD, answered).await),
            }
            drop(said);
            out.end();
            session.streams(|streams| streams.finish(stream, room));
        });
        stream_response(events)
    }
}

async fn answer_each(exchanges: Vec<Exchange>, session: &Session, out: &Outbox, most: usize) {
    let mut all: Vec<_> =
        exchanges.into_iter().map(|one| (one.id.clone(), Box::pin(one.finish()))).collect();
    let tally = Tally::new(most);
    poll_fn(|context| {
        all.retain_mut(|(id, one)| match one.as_mut().poll(context) {
            Poll::Ready(reply) => {
                if let Some(reply) = reply {
                    let id = id.as_ref().map(IdBuf::as_id);
                    out.push(tally.take(session, id, reply), Weight::Needed);
                }
                false
            }
            Poll::Pending => true,
        });
        if all.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
