//! HTTP+SSE, the transport of revision 2024-11-05: one stream for all that the server says, and a
//! URL, told on that stream, for all that is said to it.

use std::sync::{Arc, OnceLock};

use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Client, StatusCode};
use switchboard_core::port::{CallError, Delivery};
use switchboard_wire::sse::{self, Decoder, Item};
use switchboard_wire::{Revision, header};
use url::Url;

use crate::channel::{Channel, LIMITS, Related};
use crate::connect::Attempt;
use crate::error::ConnectError;
use crate::transport::Link;
use crate::transport::http::{Endpoint, unsent};

/// The way in.
pub(crate) struct SseLink {
    client: Client,
    url: Url,
    headers: HeaderMap,
    revision: OnceLock<Revision>,
}

/// Opens the stream and waits until it has told where to send to.
pub(crate) async fn open(
    attempt: &Attempt<'_>,
    endpoint: &Endpoint,
) -> Result<Arc<Channel>, ConnectError> {
    const STEP: &str = "opening the event stream";
    let request = endpoint.client.get(endpoint.url.clone()).headers(endpoint.headers.clone());
    let response = request.header(ACCEPT, sse::CONTENT_TYPE).send().await;
    let response = response.map_err(|error| ConnectError::handshake(STEP, unsent(&error)))?;
    if let Some(error) = refused(&response) {
        return Err(ConnectError::handshake(STEP, error));
    }
    let mut stream = Stream { response, decoder: Decoder::new(LIMITS.max_bytes) };
    let url = loop {
        match stream.next().await {
            Ok(Some(Item::Event(event))) if event.kind.as_deref() == Some("endpoint") => {
                break within(&endpoint.url, &event.data)?;
            }
            Ok(Some(_)) => {}
            Ok(None) => {
                let error = CallError::lost("it ended before it named an endpoint", Delivery::No);
                return Err(ConnectError::handshake(STEP, error));
            }
            Err(error) => return Err(ConnectError::handshake(STEP, error)),
        }
    };
    let link = SseLink {
        client: endpoint.client.clone(),
        url,
        headers: endpoint.headers.clone(),
        revision: OnceLock::new(),
    };
    let (end, tasks) = (attempt.scope.child_token(), attempt.tasks);
    let channel =
        Channel::new(Link::Sse(link), end.clone(), tasks.clone(), attempt.journal.clone());
    let owned = channel.clone();
    tasks.spawn(async move {
        tokio::select! {
            () = end.cancelled() => {}
            reason = read(&owned, stream) => owned.close(reason),
        }
    });
    Ok(channel)
}

/// The endpoint must be of the same origin: credentials go there.
fn within(base: &Url, told: &[u8]) -> Result<Url, ConnectError> {
    let told = String::from_utf8_lossy(told);
    let url = base.join(told.trim());
    match url {
        Ok(url) if url.origin() == base.origin() => Ok(url),
        Ok(_) => {
            Err(ConnectError::Address("the endpoint it names is of another origin".to_owned()))
        }
        Err(error) => {
            Err(ConnectError::Address(format!("the endpoint it names is not valid: {error}")))
        }
    }
}

async fn read(channel: &Arc<Channel>, mut stream: Stream) -> String {
    loop {
        match stream.next().await {
            Ok(Some(Item::Event(event))) => {
                let message = event.kind.as_deref().is_none_or(|kind| kind == "message");
                if message && !event.data.is_empty() {
                    channel.dispatch(&event.data, Related::Unknown);
                }
            }
            Ok(Some(Item::TooLong)) => {
                channel.journal.remark("an event was too long and is left out");
            }
            Ok(None) => return "the event stream ended".to_owned(),
            // Whoever hears of it is told anyway that the connection ended.
            Err(CallError::Lost { reason, .. }) => return reason,
            Err(error) => return error.to_string(),
        }
    }
}

struct Stream {
    response: Response,
    decoder: Decoder,
}

impl Stream {
    async fn next(&mut self) -> Result<Option<Item>, CallError> {
        loop {
            if let Some(item) = self.decoder.next_item() {
                return Ok(Some(item));
            }
            match self.response.chunk().await.map_err(|error| unsent(&error))? {
                Some(chunk) => self.decoder.feed(&chunk),
                None => return Ok(None),
            }
        }
    }
}

impl SseLink {
    pub(crate) fn settle(&self, revision: Revision) {
        let _ = self.revision.set(revision);
    }

    /// Posts a message; its answer, if any, comes on the stream.
    pub(crate) async fn send(&self, message: Vec<u8>) -> Result<(), CallError> {
        let mut request = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, header::JSON)
            .body(message);
        if let Some(revision) = self.revision.get().filter(|it| it.has_version_header()) {
            let version = HeaderValue::from_static(revision.as_str());
            request = request.header(header::PROTOCOL_VERSION, version);
        }
        let mut response = request.send().await.map_err(|error| unsent(&error))?;
        if let Some(error) = refused(&response) {
            return Err(error);
        }
        // Read to its end, or the connection could not be used again.
        let mut size = 0;
        while let Ok(Some(chunk)) = response.chunk().await {
            size += chunk.len();
            if size > LIMITS.max_bytes {
                break;
            }
        }
        Ok(())
    }
}

fn refused(response: &Response) -> Option<CallError> {
    let status = response.status();
    if status.is_success() {
        return None;
    }
    let challenge = response.headers().get(WWW_AUTHENTICATE);
    let challenge = challenge.and_then(|value| value.to_str().ok()).map(str::to_owned);
    Some(match status {
        StatusCode::UNAUTHORIZED => {
            CallError::Unauthorized { detail: format!("HTTP {status}"), challenge }
        }
        _ => CallError::Http { status: status.as_u16(), detail: String::new() },
    })
}
