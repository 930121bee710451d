//! The endpoint on a pair of pipes: one message a line, both eras. Never starts anything.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use switchboard_wire::stdio::{Decoder, Line, encode};
use switchboard_wire::{Fault, write};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::auth::Principal;
use crate::channel::{Channel, Eras};
use crate::door::Door;
use crate::endpoint::Endpoint;
use crate::outbox::{Keep, Outbox, Weight};
use crate::session::Session;

/// As much as is gathered into one write.
const WRITE: usize = 64 * 1024;

/// Serves one client on a pair of pipes, until its end closes, the endpoint shuts down or a pipe
/// breaks. Whoever calls this vouches for the client: there is no token on a pipe.
pub async fn serve(
    endpoint: &Endpoint,
    principal: Arc<Principal>,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
) -> io::Result<()> {
    let inner = endpoint.0.clone();
    let id = format!("stdio-{:032x}", crate::seal::random());
    let session = Arc::new(Session::new(id.into(), Door::Own, principal));
    let out = Arc::new(Outbox::new(Keep::UntilRead(inner.limits.replay)));
    let channel = Channel::new(inner.clone(), session, out.clone(), Eras::Both);
    let stop = inner.stop.clone();
    let reading = async {
        let read = read(&channel, &out, input, inner.limits.message.max_bytes, inner.limits.unread);
        let read = tokio::select! {
            read = read => read,
            () = stop.cancelled() => Ok(()),
        };
        // What is under way is still answered, unless the hub itself ends.
        channel.settle(&stop).await;
        out.end();
        read
    };
    let writing = write(&out, output);
    let mut writing = std::pin::pin!(writing);
    tokio::select! {
        read = reading => {
            writing.await?;
            read
        }
        written = &mut writing => written,
    }
}

async fn read(
    channel: &Channel,
    out: &Outbox,
    mut input: impl AsyncRead + Unpin,
    longest: usize,
    unread: usize,
) -> io::Result<()> {
    let mut lines = Decoder::new(longest);
    loop {
        while let Some(line) = lines.next_line() {
            // A client that does not read what it gets is not read either.
            poll_fn(|context| out.poll_below(unread, context)).await;
            match line {
                Line::Whole(line) => channel.take(&line),
                Line::TooLong { .. } => refuse(out, longest),
            }
        }
        if input.read_buf(lines.buffer()).await? == 0 {
            if let Some(Line::Whole(line)) = lines.finish() {
                channel.take(&line);
            }
            return Ok(());
        }
    }
}

async fn write(out: &Outbox, mut output: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut reader = out.read(None);
    let mut lines = Vec::new();
    loop {
        let Some((_, message)) = poll_fn(|context| out.poll_next(&mut reader, context)).await
        else {
            return output.flush().await;
        };
        lines.clear();
        encode(&mut lines, &message);
        while lines.len() < WRITE
            && let Some(Some(message)) = ready(out, &mut reader)
        {
            encode(&mut lines, &message);
        }
        output.write_all(&lines).await?;
        output.flush().await?;
    }
}

/// What is there already; `None` if nothing is.
fn ready(out: &Outbox, reader: &mut crate::outbox::Reader) -> Option<Option<Bytes>> {
    let context = std::task::Context::from_waker(std::task::Waker::noop());
    match out.poll_next(reader, &context) {
        std::task::Poll::Ready(Some((_, message))) => Some(Some(message)),
        std::task::Poll::Ready(None) | std::task::Poll::Pending => None,
    }
}

fn refuse(out: &Outbox, limit: usize) {
    let fault = Fault::TooLarge { size: limit + 1, limit };
    let mut message = Vec::new();
    write::error(&mut message, None, fault.code(), "the line is too long", None);
    out.push(message.into(), Weight::Needed);
}
