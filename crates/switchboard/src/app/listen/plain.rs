//! HTTP/1.1 without ceremony, for what agents nearly always send: a POST with a length, whose head comes in one
//! piece. Read, answered and written in the connection's own task. Whatever else comes is handed over as it is,
//! with all that follows on that connection, to hyper. Never judges a request.

mod write;

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use switchboard_mcp::plain::{self as read, Closing, Read};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use self::write::Writer;
use super::pulse::Pulse;
use super::{Answering, Surface};

/// How much is read at once, at least: more than most requests have.
const ROOM: usize = 4 * 1024;
/// A body that is not there with its head follows at once, as where a client writes one after the other. What
/// takes longer is somebody else's to wait for.
const FOLLOWS: Duration = Duration::from_millis(50);

/// How it ended.
pub(super) enum Ended {
    /// The connection is over.
    Closed,
    /// This is for somebody else: what was read of it.
    HandedOver(BytesMut),
}

/// Answers requests until there is one for somebody else, the client goes, or the connection is to end.
pub(super) async fn serve(stream: &mut TcpStream, surface: &Surface) -> Ended {
    let pulse = &*surface.pulse;
    let (mut buffer, writer) = (BytesMut::new(), Writer::new(surface.clock.clone(), pulse));
    loop {
        let mut until = None;
        let (answering, wanted) = loop {
            let filled = match read::next(&mut buffer, |post| surface.post(post)) {
                Read::Asked(answering, closing) => break (answering, closing),
                Read::Request(request, closing) => break (surface.ask(*request), closing),
                Read::Nothing => fill(stream, &mut buffer, pulse).await,
                Read::More(more) => {
                    buffer.reserve(more);
                    // In all: whoever sends it bit by bit would hold what was read of it.
                    let until = *until.get_or_insert_with(|| Instant::now() + FOLLOWS);
                    let follows = timeout_at(until, fill(stream, &mut buffer, pulse));
                    Box::pin(follows).await.unwrap_or(Filled::Late)
                }
                Read::Odd => Filled::Late,
            };
            match filled {
                Filled::Some => {}
                Filled::End => return Ended::Closed,
                Filled::Late => {
                    pulse.heard();
                    return Ended::HandedOver(buffer);
                }
            }
        };
        let Some(response) = answered(stream, &mut buffer, answering).await else {
            return Ended::Closed;
        };
        let closing = if pulse.is_ending() { Closing::Yes } else { wanted };
        let written = writer.write(stream, &mut buffer, response, closing).await;
        match (written, closing) {
            (Ok(()), Closing::No) => {}
            (Ok(()), Closing::Yes) => {
                let _ = stream.shutdown().await;
                return Ended::Closed;
            }
            (Err(error), _) => {
                tracing::debug!(%error, "a connection broke off");
                return Ended::Closed;
            }
        }
    }
}

/// What became of waiting for bytes.
enum Filled {
    /// There are more.
    Some,
    /// There are none that could be waited for here.
    Late,
    /// The client is gone, or the connection is to end.
    End,
}

async fn fill(stream: &mut TcpStream, buffer: &mut BytesMut, pulse: &Pulse) -> Filled {
    if buffer.is_empty() {
        buffer.reserve(ROOM);
    }
    poll_fn(|context| {
        if pulse.is_cut() || pulse.is_ending() && buffer.is_empty() {
            return Poll::Ready(Filled::End);
        }
        poll_fill(stream, buffer, context).map(|read| match read {
            0 => Filled::End,
            _ => {
                pulse.heard();
                Filled::Some
            }
        })
    })
    .await
}

/// Reads once; how much, where an error is as good as the end.
fn poll_fill(
    stream: &mut TcpStream,
    buffer: &mut BytesMut,
    context: &mut Context<'_>,
) -> Poll<usize> {
    let read = tokio_util::io::poll_read_buf(Pin::new(stream), context, buffer);
    read.map(|read| read.unwrap_or_default())
}

/// The response, while it is watched whether the client is still there: nothing if it is not, and with that the
/// request is given up.
async fn answered(
    stream: &mut TcpStream,
    buffer: &mut BytesMut,
    mut answering: Answering,
) -> Option<super::Response> {
    poll_fn(|context| match answering.as_mut().poll(context) {
        Poll::Ready(Ok(response)) => Poll::Ready(Some(response)),
        Poll::Ready(Err(never)) => match never {},
        Poll::Pending => poll_gone(stream, buffer, context).map(|()| None),
    })
    .await
}

/// Ready when the client is gone. What comes ahead of its time is kept; then nobody looks any further.
fn poll_gone(stream: &mut TcpStream, buffer: &mut BytesMut, context: &mut Context<'_>) -> Poll<()> {
    if !buffer.is_empty() {
        return Poll::Pending;
    }
    buffer.reserve(ROOM);
    match poll_fill(stream, buffer, context) {
        Poll::Ready(0) => Poll::Ready(()),
        Poll::Ready(_) | Poll::Pending => Poll::Pending,
    }
}
