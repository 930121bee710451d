//! HTTP/1.1 without ceremony, for servers behind plain `http`: a call is one write and mostly one read,
//! on a connection that is kept, in the caller's own task. Never follows a redirect, never speaks TLS
//! or to a proxy: that is the shared client's.

mod connect;
mod framing;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use reqwest::header::{
    ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderName,
    HeaderValue, TE, TRANSFER_ENCODING, UPGRADE,
};
use switchboard_core::port::{CallError, Delivery};
use switchboard_wire::header;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use url::{Position, Url};

pub(super) use self::framing::Answer;

/// As long as the shared client keeps connections that nobody uses.
const IDLE: Duration = Duration::from_secs(90);
/// Connections that are kept for later.
const KEPT: usize = 1024;
/// Bodies up to this are written together with the head.
const TOGETHER: usize = 16 * 1024;
/// How much is read at once, at least. More than most answers have, so that one read takes all.
const READ: usize = 4 * 1024;

/// The way to one URL.
pub(crate) struct Direct {
    host: String,
    port: u16,
    /// Everything up to what differs from request to request.
    head: Vec<u8>,
    /// The newest last.
    idle: Mutex<Vec<(Instant, Connection)>>,
}

/// A connection on which nothing is under way.
struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
}

/// A message as it is posted: its head, with which all of a small body goes, and the rest.
pub(super) struct Request<'b> {
    head: Vec<u8>,
    rest: &'b [u8],
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) struct Broken {
    delivery: Delivery,
    reason: String,
}

impl Broken {
    fn new(delivery: Delivery, reason: impl Into<String>) -> Self {
        Self { delivery, reason: reason.into() }
    }

    fn of(error: &io::Error) -> Self {
        Self::new(Delivery::Perhaps, format!("the request failed: {error}"))
    }
}

impl From<Broken> for CallError {
    fn from(broken: Broken) -> Self {
        Self::lost(broken.reason, broken.delivery)
    }
}

impl Direct {
    /// The way to a URL with these headers in every request, if it is one for this client.
    pub(super) fn new(url: &Url, headers: &HeaderMap) -> Option<Arc<Self>> {
        let plain = url.scheme() == "http" && url.username().is_empty() && url.password().is_none();
        let own = [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, TE, UPGRADE, EXPECT];
        // Whoever declares what the transport itself says gets what the other client makes of it.
        let odd =
            headers.keys().any(|name| own.contains(name) || name.as_str().starts_with("mcp-"));
        let host = url.host_str().filter(|_| plain && !odd)?;
        let mut head = Vec::with_capacity(512);
        head.extend_from_slice(b"POST ");
        head.extend_from_slice(url[Position::BeforePath..Position::AfterQuery].as_bytes());
        head.extend_from_slice(b" HTTP/1.1\r\nhost: ");
        head.extend_from_slice(url[Position::BeforeHost..Position::AfterPort].as_bytes());
        head.extend_from_slice(b"\r\n");
        for (name, value) in headers {
            if name != ACCEPT && name != CONTENT_TYPE {
                put(&mut head, name, value.as_bytes());
            }
        }
        put(&mut head, &CONTENT_TYPE, header::JSON.as_bytes());
        put(&mut head, &ACCEPT, header::ACCEPT_BOTH.as_bytes());
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = url.port_or_known_default()?;
        Some(Arc::new(Self { host, port, head, idle: Mutex::default() }))
    }

    /// A message as it is posted.
    pub(super) fn request<'h, 'b>(
        &self,
        headers: impl Iterator<Item = (&'h HeaderName, &'h HeaderValue)>,
        body: &'b [u8],
    ) -> Request<'b> {
        let (together, rest) =
            if body.len() <= TOGETHER { (body, &[][..]) } else { (&[][..], body) };
        let mut head = Vec::with_capacity(self.head.len() + 256 + together.len());
        head.extend_from_slice(&self.head);
        for (name, value) in headers {
            put(&mut head, name, value.as_bytes());
        }
        head.extend_from_slice(b"content-length: ");
        head.extend_from_slice(body.len().to_string().as_bytes());
        head.extend_from_slice(b"\r\n\r\n");
        head.extend_from_slice(together);
        Request { head, rest }
    }

    /// Posts it; returns when the head of the answer is there. Dropped before that or before the answer was
    /// read, the connection is closed, which is how a request is given up.
    pub(super) async fn send(self: &Arc<Self>, request: &Request<'_>) -> Result<Answer, Broken> {
        loop {
            let (mut connection, used) = match self.take() {
                Some(connection) => (connection, true),
                None => (Box::pin(self.connect()).await?, false),
            };
            match connection.write(&request.head, request.rest).await {
                Ok(()) => return Answer::read(self.clone(), connection).await,
                // Closed meanwhile, and nothing of the request went out.
                Err(Unwritten::Nothing(_)) if used => {}
                Err(Unwritten::Nothing(error)) => {
                    let reason = format!("no connection: {error}");
                    return Err(Broken::new(Delivery::No, reason));
                }
                // A server that does not want all of it may have said why.
                Err(Unwritten::Part(error)) => {
                    let answer = Box::pin(Answer::read(self.clone(), connection)).await;
                    return answer.map(Answer::last).map_err(|_| Broken::of(&error));
                }
            }
        }
    }

    async fn connect(&self) -> Result<Connection, Broken> {
        let stream = connect::connect(&self.host, self.port).await.map_err(|error| {
            Broken::new(Delivery::No, format!("no connection: tcp connect error: {error}"))
        })?;
        Ok(Connection { stream, buffer: BytesMut::new() })
    }

    /// The connection that was used last, if it still stands.
    fn take(&self) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (since, connection) = idle.pop()?;
            if since.elapsed() < IDLE && connection.is_quiet() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection for the next request; those that nobody wanted for long go.
    fn keep(&self, connection: Connection) {
        let now = Instant::now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.first().is_some_and(|(since, _)| now.duration_since(*since) >= IDLE) {
            idle.retain(|(since, _)| now.duration_since(*since) < IDLE);
        }
        if idle.len() < KEPT {
            idle.push((now, connection));
        }
    }
}

/// How much of a request went out before it could not go on.
enum Unwritten {
    Nothing(io::Error),
    Part(io::Error),
}

impl Connection {
    /// Whether the server has neither closed it nor said anything that nobody asked for. No call
    /// of the system unless something came.
    fn is_quiet(&self) -> bool {
        let mut byte = [0];
        let read = self.stream.try_read(&mut byte);
        self.buffer.is_empty() && read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    async fn write(&mut self, head: &[u8], rest: &[u8]) -> Result<(), Unwritten> {
        let first = match self.stream.write(head).await {
            Ok(0) => return Err(Unwritten::Nothing(io::ErrorKind::WriteZero.into())),
            Ok(count) => count,
            Err(error) => return Err(Unwritten::Nothing(error)),
        };
        for part in [&head[first..], rest] {
            if !part.is_empty() {
                self.stream.write_all(part).await.map_err(Unwritten::Part)?;
            }
        }
        Ok(())
    }

    /// Reads more; an error at the end.
    async fn fill(&mut self) -> Result<(), Broken> {
        match self.fill_or_end().await? {
            0 => {
                let reason = "the request failed: the connection was closed before the answer";
                Err(Broken::new(Delivery::Perhaps, reason))
            }
            _ => Ok(()),
        }
    }

    async fn fill_or_end(&mut self) -> Result<usize, Broken> {
        self.buffer.reserve(READ);
        self.stream.read_buf(&mut self.buffer).await.map_err(|error| Broken::of(&error))
    }
}

fn put(head: &mut Vec<u8>, name: &HeaderName, value: &[u8]) {
    head.extend_from_slice(name.as_str().as_bytes());
    head.extend_from_slice(b": ");
    head.extend_from_slice(value);
    head.extend_from_slice(b"\r\n");
}
