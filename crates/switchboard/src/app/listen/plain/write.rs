//! A response as it goes out: small ones in one write, long ones without being copied, those without a length in
//! chunks, each as soon as it is there.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING};
use bytes::{Buf as _, Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use switchboard_mcp::plain::Closing;
use switchboard_model::Clock;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::super::Response;
use super::super::answer::Answer;
use super::poll_gone;

/// Bodies up to this are written together with their head.
const TOGETHER: usize = 16 * 1024;

/// Writes responses.
pub(super) struct Writer {
    clock: Arc<dyn Clock>,
}

impl Writer {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
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
            Some(0) => stream.write_all(&out).await,
            Some(length) => whole(stream, out, body, length).await,
            None => Box::pin(chunks(stream, buffer, out, body)).await,
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

async fn whole(
    stream: &mut TcpStream,
    mut out: Vec<u8>,
    mut body: Answer,
    mut left: usize,
) -> io::Result<()> {
    while left > 0 {
        let Some(data) = next(&mut body).await? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        left = left.checked_sub(data.len()).ok_or(io::ErrorKind::InvalidData)?;
        if out.len() + data.len() <= TOGETHER {
            out.extend_from_slice(&data);
        } else {
            stream.write_all_buf(&mut out.chain(data)).await?;
            out = Vec::new();
        }
    }
    stream.write_all(&out).await
}

/// Sends what there is as soon as it is there, while it is watched whether the client is.
async fn chunks(
    stream: &mut TcpStream,
    buffer: &mut BytesMut,
    mut out: Vec<u8>,
    mut body: Answer,
) -> io::Result<()> {
    loop {
        let first = std::mem::take(&mut out);
        if !first.is_empty() {
            stream.write_all(&first).await?;
        }
        let frame = poll_fn(|context| match Pin::new(&mut body).poll_frame(context) {
            Poll::Ready(frame) => Poll::Ready(Ok(frame)),
            Poll::Pending => poll_gone(stream, buffer, context)
                .map(|()| Err(io::Error::from(io::ErrorKind::ConnectionReset))),
        });
        let data = match frame.await? {
            None => return stream.write_all(b"0\r\n\r\n").await,
            Some(frame) => frame.map_err(io::Error::other)?.into_data().unwrap_or_default(),
        };
        // One without any bytes would be the last.
        if !data.is_empty() {
            let head = format!("{:x}\r\n", data.len());
            let mut chunk = head.as_bytes().chain(data).chain(&b"\r\n"[..]);
            stream.write_all_buf(&mut chunk).await?;
        }
    }
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
