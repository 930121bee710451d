//! The ways to a server, behind one face: a pipe that both sides share, or an HTTP exchange of its
//! own for every request. Never looks into a message.

pub(crate) mod http;
pub(crate) mod sse;
pub(crate) mod stdio;

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{HeaderName, HeaderValue};
use switchboard_core::port::{CallError, Delivery};
use switchboard_wire::{Era, Json, JsonBuf, Revision, header};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::channel::{Channel, line};
use crate::pulse::{Patience, Pulse, wait, wait_while};

pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static(header::PROTOCOL_VERSION);
const METHOD: HeaderName = HeaderName::from_static(header::METHOD);
const NAME: HeaderName = HeaderName::from_static(header::NAME);

/// A request that is in the table, and how long its answer may take.
pub(crate) struct Sent<'s> {
    pub(crate) channel: &'s Arc<Channel>,
    pub(crate) id: u64,
    pub(crate) pulse: &'s Pulse,
    pub(crate) patience: Patience,
}

/// How messages leave.
pub(crate) enum Link {
    /// A queue to the one task that writes.
    Pipe(mpsc::Sender<Bytes>),
    /// Streamable HTTP.
    Http(http::HttpLink),
    /// HTTP+SSE.
    Sse(sse::SseLink),
}

impl Link {
    /// Sends a request and waits for its answer, which the table delivers.
    pub(crate) async fn exchange(
        &self,
        sent: Sent<'_>,
        message: Vec<u8>,
        headers: &Headers,
    ) -> Result<JsonBuf, CallError> {
        let Sent { channel, id, pulse, patience } = sent;
        match self {
            Self::Http(http) => {
                let exchange = pin!(http.exchange(channel, id, message, headers));
                wait_while(pulse, patience, exchange).await
            }
            // The limit runs while the message waits in the queue, too; mostly it does not.
            Self::Pipe(queue) => match queue.try_send(line(message)) {
                Ok(()) => wait(pulse, patience).await,
                Err(TrySendError::Full(line)) => {
                    wait_while(pulse, patience, Box::pin(put(queue, line)).as_mut()).await
                }
                Err(TrySendError::Closed(_)) => Err(input_closed()),
            },
            Self::Sse(sse) => {
                wait_while(pulse, patience, Box::pin(sse.send(message)).as_mut()).await
            }
        }
    }

    /// Sends a message that has no answer.
    pub(crate) async fn send(&self, message: Vec<u8>, headers: &Headers) -> Result<(), CallError> {
        match self {
            Self::Pipe(queue) => put(queue, line(message)).await,
            Self::Http(http) => http.send(message, headers).await,
            Self::Sse(sse) => sse.send(message).await,
        }
    }

    /// Sends it if that takes no time; otherwise gives it back.
    pub(crate) fn try_send(&self, message: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Self::Pipe(queue) => match queue.try_reserve() {
                Ok(place) => {
                    place.send(line(message));
                    None
                }
                Err(TrySendError::Full(())) => Some(message),
                Err(TrySendError::Closed(())) => None,
            },
            Self::Http(_) | Self::Sse(_) => Some(message),
        }
    }

    /// Whether a request is given up by a message; where it is not, closing its stream does it.
    pub(crate) fn wants_cancellations(&self) -> bool {
        match self {
            Self::Pipe(_) | Self::Sse(_) => true,
            Self::Http(http) => http.era() == Some(Era::Session),
        }
    }

    /// Settles what every later request is marked with.
    pub(crate) fn settle(&self, revision: Revision) {
        match self {
            Self::Pipe(_) => {}
            Self::Http(http) => http.settle(revision),
            Self::Sse(sse) => sse.settle(revision),
        }
    }
}

async fn put(queue: &mpsc::Sender<Bytes>, line: Bytes) -> Result<(), CallError> {
    queue.send(line).await.map_err(|_| input_closed())
}

fn input_closed() -> CallError {
    CallError::lost("its input is closed", Delivery::No)
}

/// What an HTTP request says about its body; pipes have no use for it.
#[derive(Debug, Default)]
pub(crate) struct Headers(pub(crate) Vec<(HeaderName, HeaderValue)>);

impl Headers {
    /// The headers that mirror a stateless-era request.
    pub(crate) fn mirror(revision: Revision, name: &str, subject: Option<&str>) -> Self {
        let mut headers = Self::default();
        let version = HeaderValue::from_static(revision.as_str());
        headers.0.push((PROTOCOL_VERSION, version));
        headers.set(METHOD, &header::encode(name));
        if let Some(subject) = subject {
            headers.set(NAME, &header::encode(subject));
        }
        headers
    }

    /// And the arguments that the tool wants mirrored.
    pub(crate) fn with_arguments(
        mut self,
        arguments: Option<Json<'_>>,
        mirrored: &[header::ParamHeader],
    ) -> Self {
        let Some(arguments) = arguments else { return self };
        for wanted in mirrored {
            if let Some(value) = wanted.value(arguments)
                && let Ok(name) = HeaderName::from_bytes(wanted.header.as_bytes())
            {
                self.set(name, &header::encode(&value));
            }
        }
        self
    }

    pub(crate) fn has(&self, name: &HeaderName) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    /// The last one of a name counts.
    fn set(&mut self, name: HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.retain(|(own, _)| *own != name);
            self.0.push((name, value));
        }
    }
}
