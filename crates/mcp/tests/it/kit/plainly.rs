//! The plain requests of a connection, with the reader that the program has, and an answer to each. Writes answers in
//! the simplest way; how the program does is tested with the program.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use bytes::BytesMut;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use switchboard_mcp::Endpoint;
use switchboard_mcp::plain::{self, Closing, Read};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::listen::answer;

/// How long a body is waited for that did not come with its head.
const FOLLOWS: Duration = Duration::from_millis(50);

type Answering = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// Answers requests until there is one for somebody else: what was read of it. Nothing where the connection is over.
pub(super) async fn serve(
    stream: &mut TcpStream,
    endpoint: &Endpoint,
    taken: &AtomicUsize,
) -> Option<BytesMut> {
    let mut buffer = BytesMut::new();
    loop {
        let (answering, closing) = match plain::next(&mut buffer, |post| {
            let answer = endpoint.post(post)?;
            Some(Box::pin(async move { answer.await.map(Body::new) }) as Answering)
        }) {
            Read::Asked(answering, closing) => (answering, closing),
            Read::Request(request, closing) => {
                let answer = answer(endpoint.clone(), *request);
                let answering = async { answer.await.unwrap_or_else(|never| match never {}) };
                (Box::pin(answering) as Answering, closing)
            }
            Read::Nothing => {
                fill(stream, &mut buffer).await?;
                continue;
            }
            Read::More(more) => {
                buffer.reserve(more);
                match timeout(FOLLOWS, fill(stream, &mut buffer)).await {
                    Ok(filled) => filled?,
                    Err(_) => return Some(buffer),
                }
                continue;
            }
            Read::Odd => return Some(buffer),
        };
        taken.fetch_add(1, Ordering::SeqCst);
        let response = tokio::select! {
            response = answering => response,
            () = gone(stream, &mut buffer) => return None,
        };
        write(stream, &mut buffer, response, closing).await.ok()?;
        if closing == Closing::Yes {
            return None;
        }
    }
}

/// Reads once; nothing at the end.
async fn fill(stream: &mut TcpStream, buffer: &mut BytesMut) -> Option<()> {
    buffer.reserve(4096);
    let read = stream.read_buf(buffer).await.unwrap_or(0);
    (read > 0).then_some(())
}

/// Ready when the client is gone. What comes ahead of its time is kept.
async fn gone(stream: &mut TcpStream, buffer: &mut BytesMut) {
    if !buffer.is_empty() || fill(stream, buffer).await.is_some() {
        std::future::pending().await
    }
}

async fn write(
    stream: &mut TcpStream,
    buffer: &mut BytesMut,
    response: Response<Body>,
    closing: Closing,
) -> io::Result<()> {
    let (parts, mut body) = response.into_parts();
    let mut head = format!("HTTP/1.1 {}\r\n", parts.status).into_bytes();
    for (name, value) in &parts.headers {
        head.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    let length = body.size_hint().exact();
    let framing = match length {
        Some(length) => format!("content-length: {length}\r\n"),
        None => "transfer-encoding: chunked\r\n".to_owned(),
    };
    head.extend(framing.as_bytes());
    if closing == Closing::Yes {
        head.extend(b"connection: close\r\n");
    }
    head.extend(b"\r\n");
    stream.write_all(&head).await?;
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            () = gone(stream, buffer) => return Err(io::ErrorKind::ConnectionReset.into()),
        };
        let Some(frame) = frame else { break };
        let data = frame.map_err(io::Error::other)?.into_data().unwrap_or_default();
        if length.is_some() {
            stream.write_all(&data).await?;
        } else if !data.is_empty() {
            let size = format!("{:x}\r\n", data.len());
            stream.write_all(&[size.as_bytes(), &data, b"\r\n"].concat()).await?;
        }
    }
    if length.is_none() { stream.write_all(b"0\r\n\r\n").await } else { Ok(()) }
}
