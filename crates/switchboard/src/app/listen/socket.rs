//! A connection's socket, which notes when bytes come, and when none can go. Passes everything on as it is.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::pulse::Pulse;

/// A socket that is listened to.
pub(super) struct Socket {
    inner: TokioIo<TcpStream>,
    /// What was read of it already.
    read: Bytes,
    pulse: Arc<Pulse>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, read: Bytes, pulse: Arc<Pulse>) -> Self {
        Self { inner: TokioIo::new(stream), read, pulse }
    }

    fn inner(self: Pin<&mut Self>) -> Pin<&mut TokioIo<TcpStream>> {
        Pin::new(&mut self.get_mut().inner)
    }

    fn noted<T>(&self, written: Poll<T>) -> Poll<T> {
        self.pulse.wrote(&written);
        written
    }
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.read.is_empty() {
            let some = self.read.len().min(buffer.remaining());
            buffer.put_slice(&self.read.split_to(some));
            return Poll::Ready(Ok(()));
        }
        let read = ready!(self.as_mut().inner().poll_read(context, buffer));
        // An end is no head either way: the connection ends with it.
        self.pulse.heard();
        Poll::Ready(read)
    }
}

impl Write for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = self.as_mut().inner().poll_write(context, bytes);
        self.noted(written)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = self.as_mut().inner().poll_write_vectored(context, bytes);
        self.noted(written)
    }
}
