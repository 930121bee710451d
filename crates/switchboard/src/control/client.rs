//! A command's end of the socket.

use std::io;
use std::path::{Path, PathBuf};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio_util::task::TaskTracker;

use super::protocol::{Ask, Said};

pub(super) const PATH: &str = "/control";

/// Why a running hub did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The socket is there and cannot be opened.
    #[error("the hub's socket {} cannot be opened", path.display())]
    Open {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It ended in the middle.
    #[error("the hub went away; look at where it ran")]
    Gone(#[source] Option<hyper::Error>),
    /// It is another version.
    #[error("the running hub does not know this command ({status}); restart it with this version")]
    Other {
        /// What it answered.
        status: StatusCode,
    },
    /// Its answer cannot be read.
    #[error("the running hub's answer cannot be read; restart it with this version")]
    Unreadable(#[source] serde_json::Error),
}

/// A connection to a running hub.
pub struct Client {
    stream: UnixStream,
}

impl Client {
    /// Connects to the hub behind this socket; nothing if none runs.
    pub async fn connect(path: &Path) -> Result<Option<Self>, ClientError> {
        match UnixStream::connect(path).await {
            Ok(stream) => Ok(Some(Self { stream })),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
                _ => Err(ClientError::Open { path: path.to_owned(), source: error }),
            },
        }
    }

    /// One request to the API.
    pub async fn request(
        self,
        request: Request<Full<Bytes>>,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let tasks = TaskTracker::new();
        let gone = |error| ClientError::Gone(Some(error));
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(self.stream)).await.map_err(gone)?;
        tasks.spawn(connection);
        let response = sender.send_request(request).await.map_err(gone)?;
        let status = response.status();
        Ok((status, response.into_body().collect().await.map_err(gone)?.to_bytes()))
    }

    /// Asks, and hands on what is said until it is all.
    pub async fn ask(self, ask: &Ask, mut hear: impl FnMut(Said)) -> Result<(), ClientError> {
        let tasks = TaskTracker::new();
        let gone = |error| ClientError::Gone(Some(error));
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(self.stream)).await.map_err(gone)?;
        tasks.spawn(connection);
        let body = serde_json::to_vec(ask).map_err(ClientError::Unreadable)?;
        let request = Request::post(PATH)
            .header(header::HOST, "hub")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|_| ClientError::Gone(None))?;
        let response = sender.send_request(request).await.map_err(gone)?;
        if response.status() != StatusCode::OK {
            return Err(ClientError::Other { status: response.status() });
        }
        hear_all(response.into_body(), &mut hear).await
    }
}

async fn hear_all(mut body: Incoming, hear: &mut impl FnMut(Said)) -> Result<(), ClientError> {
    let mut rest: Vec<u8> = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ClientError::Gone(Some(error)))?;
        rest.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            match serde_json::from_slice(&line).map_err(ClientError::Unreadable)? {
                Said::End => return Ok(()),
                said => hear(said),
            }
        }
    }
    Err(ClientError::Gone(None))
}
