//! The endpoint on a pair of pipes: one message a line, both eras. Never starts anything.

mod held;

use std::future::{self, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use switchboard_wire::stdio::{Decoder, Line, encode};
use switchboard_wire::{Fault, write};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use self::held::Held;
use crate::auth::Principal;
use crate::channel::{Channel, Eras};
use crate::door::Door;
use crate::endpoint::{Endpoint, LAST_WORD};
use crate::options::Limits;
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
    serve_when(endpoint, principal, input, output, future::ready(())).await
}

/// The same, but greets the client before all is `known`: what needs a server waits for that, so that a
/// first list is not an empty one.
pub async fn serve_when(
    endpoint: &Endpoint,
    principal: Arc<Principal>,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
    known: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let inner = endpoint.0.clone();
    let id = format!("stdio-{:032x}", crate::seal::random());
    let session = Arc::new(Session::new(id.into(), Door::Own, principal));
    let out = Arc::new(Outbox::new(Keep::UntilRead(inner.limits.replay)));
    let channel = Channel::new(inner.clone(), session, out.clone(), Eras::Both);
    let (closing, stop) = (inner.closing.clone(), inner.stop.clone());
    let reading = async {
        let reading = Reading { channel: &channel, out: &out, limits: &inner.limits };
        // A client is read for as long as something of its is under way, also when the hub itself ends: it may be asked.
        let ending = async {
            closing.cancelled().await;
            channel.settle(&stop).await;
        };
        let read = tokio::select! {
            read = reading.run(input, known) => read,
            () = ending => Ok(()),
        };
        channel.settle(&stop).await;
        if closing.is_cancelled() {
            channel.take_leave();
        }
        out.end();
        read
    };
    let writing = write(&out, output);
    let mut writing = pin!(writing);
    tokio::select! {
        read = reading => {
            // A client that does not read any more must not keep the hub from ending.
            let over = async {
                stop.cancelled().await;
                tokio::time::sleep(LAST_WORD).await;
            };
            tokio::select! {
                written = writing => written?,
                () = over => {}
            }
            read
        }
        written = &mut writing => written,
    }
}

/// What takes the client's lines.
struct Reading<'r> {
    channel: &'r Channel,
    out: &'r Outbox,
    limits: &'r Limits,
}

impl Reading<'_> {
    async fn run(
        &self,
        mut input: impl AsyncRead + Unpin,
        known: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let mut lines = Decoder::new(self.limits.message.max_bytes);
        let (held, mut is_over) = self.greet(&mut lines, &mut input, known).await?;
        for line in held.into_lines() {
            self.room(0).await;
            self.channel.take_counted(&line);
        }
        while !is_over {
            while let Some(line) = lines.next_line() {
                self.room(0).await;
                match line {
                    Line::Whole(line) => self.channel.take_counted(&line),
                    Line::TooLong { .. } => self.refuse(),
                }
            }
            is_over = input.read_buf(lines.buffer()).await? == 0;
        }
        if let Some(Line::Whole(line)) = lines.finish() {
            self.channel.take_counted(&line);
        }
        Ok(())
    }

    /// Takes what needs no server, until all is known: what has to wait until then, and whether nothing more
    /// comes.
    async fn greet(
        &self,
        lines: &mut Decoder,
        input: &mut (impl AsyncRead + Unpin),
        known: impl Future<Output = ()>,
    ) -> io::Result<(Held, bool)> {
        let (mut known, mut held) = (pin!(known), Held::default());
        loop {
            let room = held.bytes() <= self.limits.unread;
            let read = tokio::select! {
                biased;
                () = &mut known => return Ok((held, false)),
                read = input.read_buf(lines.buffer()), if room => read?,
            };
            while let Some(line) = lines.next_line() {
                self.room(held.bytes()).await;
                match line {
                    Line::Whole(line) => self.sift(&mut held, line),
                    Line::TooLong { .. } => self.refuse(),
                }
            }
            if read == 0 {
                if let Some(Line::Whole(line)) = lines.finish() {
                    self.sift(&mut held, line);
                }
                if !held.is_empty() {
                    known.await;
                }
                return Ok((held, true));
            }
        }
    }

    fn sift(&self, held: &mut Held, line: Bytes) {
        if let Some(line) = held.sift(line, &self.limits.message) {
            self.channel.take_counted(&line);
        }
    }

    /// A client that does not read what it gets is not read either; nor one of which much is held.
    async fn room(&self, held: usize) {
        let unread = self.limits.unread.saturating_sub(held);
        poll_fn(|context| self.out.poll_below(unread, context)).await;
    }

    fn refuse(&self) {
        let limit = self.limits.message.max_bytes;
        let fault = Fault::TooLarge { size: limit + 1, limit };
        let mut message = Vec::new();
        write::error(&mut message, None, fault.code(), "the line is too long", None);
        self.out.push(message.into(), Weight::Needed);
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
