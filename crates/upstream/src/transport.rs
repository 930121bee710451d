//! The ways to a server, behind one face: a pipe that both sides share, or an HTTP exchange of its
//! own for every request. Never looks into a message.

pub(crate) mod http;
pub(crate) mod sse;
pub(crate) mod stdio;

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{HeaderName, HeaderValue};
use switchboard_core::port::{CallError, Delivery};
use switchboard_wire::{Era, Json, JsonBuf, Revision, header};
use tokio::sync::mpsc;

use crate::channel::{Channel, line};

pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static(header::PROTOCOL_VERSION);
const METHOD: HeaderName = HeaderName::from_static(header::METHOD);
const NAME: HeaderName = HeaderName::from_static(header::NAME);

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
    /// Sends a request and waits for `answer`, which the table delivers.
    pub(crate) async fn exchange(
        &self,
        channel: &Arc<Channel>,
        id: u64,
        message: Vec<u8>,
        headers: &Headers,
        answer: impl Future<Output = Result<Result<JsonBuf, CallError>, CallError>>,
    ) -> Result<JsonBuf, CallError> {
        match self {
            Self::Pipe(_) | Self::Sse(_) => {
                let mut answer = std::pin::pin!(answer);
                // The limit runs while the message waits in the queue, too.
                tokio::select! {
                    biased;
                    sent = self.send(message, headers) => sent?,
                    early = &mut answer => return early?,
                }
                answer.await?
            }
            Self::Http(http) => {
                let mut answer = std::pin::pin!(answer);
                tokio::select! {
                    biased;
                    answer = &mut answer => answer?,
                    ended = http.exchange(channel, id, message, headers) => {
                        ended?;
                        // The last thing on the stream was the answer, so it is there by now.
                        answer.await?
                    }
                }
            }
        }
    }

    /// Sends a message that has no answer.
    pub(crate) async fn send(&self, message: Vec<u8>, headers: &Headers) -> Result<(), CallError> {
        match self {
            Self::Pipe(queue) => queue
                .send(line(message))
                .await
                .map_err(|_| CallError::lost("its input is closed", Delivery::No)),
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
                Err(mpsc::error::TrySendError::Full(())) => Some(message),
                Err(mpsc::error::TrySendError::Closed(())) => None,
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
