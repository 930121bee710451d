//! A response as it goes out: small ones in one write, long ones without being copied, those without a length in
//! chunks, each as soon as it is there. What a client does not read is given up when its connection is cut.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING};
use bytes::{Buf, Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use switchboard_mcp::plain::Closing;
use switchboard_model::Clock;
use tokio::io::AsyncWrite as _;
use tokio::net::TcpStream;
use tokio_util::io::poll_write_buf;

use super::super::Response;
use super::super::answer::Answer;
use super::super::pulse::Pulse;
use super::poll_gone;

/// Bodies up to this are written together with their head.
const TOGETHER: usize = 16 * 1024;

/// Writes responses.
pub(super) struct Writer<'s> {
    clock: Arc<dyn Clock>,
    pulse: &'s Pulse,
}

impl<'s> Writer<'s> {
    pub(super) fn new(clock: Arc<dyn Clock>, pulse: &'s Pulse) -> Self {
        Self { clock, pulse }
    }

    /// Writes a response to its end.
    pub(super) async fn write(
        &self,
        stream: &mut TcpStream,
        buffer: &mut BytesMut,
        response: Response,
        closing: Closing,
    ) -> io::Result<()> {
        let length = length(&response);
        let mut out = Vec::with_capacity(256 + length.map_or(0, |length| length.min(TOGETHER)));
        self.head(&mut out, &response, length, closing);
        let body = response.into_body();
        match length {
            Some(0) => self.push(stream, &out[..]).await,
            Some(length) => self.whole(stream, out, body, length).await,
            None => Box::pin(self.chunks(stream, buffer, out, body)).await,
        }
    }

    /// Writes all of it, unless the connection is cut meanwhile.
    async fn push(&self, stream: &mut TcpStream, mut bytes: impl Buf) -> io::Result<()> {
        poll_fn(|context| {
            while bytes.has_remaining() {
                if self.pulse.is_cut() {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                let written = poll_write(stream, &mut bytes, context);
                self.pulse.wrote(&written);
                if ready!(written)? == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
            }
            Poll::Ready(Ok(()))
        })
        .await
    }

    /// A body whose length is known. What is too long to be copied waits for its end, to go out with it: a client that
    /// is told twice of one answer is woken twice.
    async fn whole(
        &self,
        stream: &mut TcpStream,
        mut out: Vec<u8>,
        mut body: Answer,
        mut left: usize,
    ) -> io::Result<()> {
        let mut long = Bytes::new();
        while left > 0 {
            let Some(data) = next(&mut body).await? else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            left = left.checked_sub(data.len()).ok_or(io::ErrorKind::InvalidData)?;
            if !long.is_empty() {
                if left == 0 {
                    return self.push(stream, out.chain(long).chain(data)).await;
                }
                self.push(stream, std::mem::take(&mut out).chain(long)).await?;
                long = Bytes::new();
            }
            match out.len() + data.len() <= TOGETHER {
                true => out.extend_from_slice(&data),
                false => long = data,
            }
        }
        self.push(stream, out.chain(long)).await
    }

    /// Sends what there is as soon as it is there, while it is watched whether the client is.
    async fn chunks(
        &self,
        stream: &mut TcpStream,
        buffer: &mut BytesMut,
        out: Vec<u8>,
        mut body: Answer,
    ) -> io::Result<()> {
        self.push(stream, &out[..]).await?;
        loop {
            let frame = poll_fn(|context| match Pin::new(&mut body).poll_frame(context) {
                Poll::Ready(frame) => Poll::Ready(Ok(frame)),
                Poll::Pending => poll_gone(stream, buffer, context)
                    .map(|()| Err(io::Error::from(io::ErrorKind::ConnectionReset))),
            });
            let data = match frame.await? {
                None => return self.push(stream, &b"0\r\n\r\n"[..]).await,
                Some(frame) => frame.map_err(io::Error::other)?.into_data().unwrap_or_default(),
            };
            // One without any bytes would be the last.
            if !data.is_empty() {
                let head = format!("{:x}\r\n", data.len());
                self.push(stream, head.as_bytes().chain(data).chain(&b"\r\n"[..])).await?;
            }
        }
    }

    fn head(
        &self,
        out: &mut Vec<u8>,
        response: &Response,
        length: Option<usize>,
        closing: Closing,
    ) {
        let status = response.status();
        out.extend_from_slice(b"HTTP/1.1 ");
        out.extend_from_slice(status.as_str().as_bytes());
        out.push(b' ');
        out.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
        for (name, value) in response.headers() {
            // How a message ends is said once, by whoever writes it.
            if ![CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, DATE].contains(name) {
                line(out, name.as_str(), value.as_bytes());
            }
        }
        match length {
            Some(_) if has_none(status) => {}
            Some(length) => line(out, "content-length", length.to_string().as_bytes()),
            None => line(out, "transfer-encoding", b"chunked"),
        }
        if closing == Closing::Yes {
            line(out, "connection", b"close");
        }
        dated(self.clock.now(), |date| line(out, "date", date.as_bytes()));
        out.extend_from_slice(b"\r\n\r\n");
    }
}

/// Writes once. What lies in one piece goes as such: to gather pieces costs the system more.
fn poll_write(
    stream: &mut TcpStream,
    bytes: &mut impl Buf,
    context: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    let mut stream = Pin::new(stream);
    if bytes.chunk().len() < bytes.remaining() {
        return poll_write_buf(stream, context, bytes);
    }
    let written = ready!(stream.as_mut().poll_write(context, bytes.chunk()))?;
    bytes.advance(written);
    Poll::Ready(Ok(written))
}

/// A line end, and a header behind it.
fn line(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
}

/// Bytes of the body, if they are known before it is read.
fn length(response: &Response) -> Option<usize> {
    if has_none(response.status()) {
        return Some(0);
    }
    usize::try_from(response.body().size_hint().exact()?).ok()
}

/// Whether a response of that status never has a body.
fn has_none(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

async fn next(body: &mut Answer) -> io::Result<Option<Bytes>> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(io::Error::other)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

thread_local! {
    /// The second that was last written out, and how it reads.
    static WRITTEN: RefCell<(u64, String)> = const { RefCell::new((u64::MAX, String::new())) };
}

/// The time as a response tells it; written out once a second.
fn dated<T>(now: SystemTime, tell: impl FnOnce(&str) -> T) -> T {
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    WRITTEN.with_borrow_mut(|(known, text)| {
        if *known != second {
            *text = httpdate::fmt_http_date(now);
            *known = second;
        }
        tell(text)
    })
}
