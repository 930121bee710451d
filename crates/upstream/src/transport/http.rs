//! Streamable HTTP: every request is an exchange of its own, whose answer may be a stream. Owns
//! the session; never decides what happens when it is lost.

mod answer;
mod body;
mod client;
mod direct;
mod refused;
mod stream;
mod trust;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use switchboard_core::port::{CallError, Delivery};
use switchboard_model::Clock;
use switchboard_wire::{Era, Revision, header};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use client::{Endpoint, shared};
pub(crate) use stream::{is_final, listen};

use self::answer::Answer;
use self::direct::Direct;
use crate::channel::{Channel, Related};
use crate::connect::Attempt;
use crate::transport::{Headers, Link, PROTOCOL_VERSION};

/// How long a call waits for a server that asks for rest, in all.
const REST: Duration = Duration::from_secs(30);
/// A server that wants no rest at all would be asked without end.
const SHORTEST_REST: Duration = Duration::from_millis(100);
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);
const SESSION_ID: HeaderName = HeaderName::from_static(header::SESSION_ID);

/// The way to one endpoint.
pub(crate) struct HttpLink {
    endpoint: Endpoint,
    session: OnceLock<HeaderValue>,
    revision: OnceLock<Revision>,
    tasks: TaskTracker,
    end: CancellationToken,
    fate: OnceLock<Fate>,
    /// How often it was asked whether the session is still known.
    doubts: AtomicU64,
}

/// Why a session cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The server no longer knows it.
    Forgotten,
    /// The server wants to know who calls.
    Unauthorized {
        /// What it said.
        detail: String,
        /// `WWW-Authenticate`, as it came.
        challenge: Option<String>,
    },
}

/// Makes the channel; nothing is sent yet.
pub(crate) fn open(attempt: &Attempt<'_>, endpoint: &Endpoint) -> Arc<Channel> {
    let (end, tasks) = (attempt.scope.child_token(), attempt.tasks);
    let link = HttpLink {
        endpoint: endpoint.clone(),
        session: OnceLock::new(),
        revision: OnceLock::new(),
        tasks: tasks.clone(),
        end: end.clone(),
        fate: OnceLock::new(),
        doubts: AtomicU64::new(0),
    };
    let channel = Channel::new(Link::Http(link), end, tasks.clone(), attempt.journal.clone());
    let leaving = channel.clone();
    tasks.spawn(async move {
        leaving.token().cancelled().await;
        if let Link::Http(link) = leaving.link() {
            link.say_goodbye().await;
        }
    });
    channel
}

/// Whether the request was refused in a way that a server of another era or transport would.
pub(crate) fn is_refusal(error: &CallError) -> bool {
    matches!(error, CallError::Http { status: 400 | 404 | 405 | 406 | 415 | 501, .. })
}

impl HttpLink {
    pub(crate) fn era(&self) -> Option<Era> {
        self.revision.get().map(|revision| revision.era())
    }

    pub(crate) fn settle(&self, revision: Revision) {
        let _ = self.revision.set(revision);
    }

    /// Sends a request; returns when its answer is in the table, or cannot come any more.
    pub(crate) async fn exchange(
        &self,
        channel: &Arc<Channel>,
        id: u64,
        message: Vec<u8>,
        headers: &Headers,
    ) -> Result<(), CallError> {
        let response = self.post(message, headers).await?;
        // Only the answer to `initialize` brings one.
        if self.revision.get().is_none()
            && let Some(session) = response.header(header::SESSION_ID)
            && let Ok(session) = HeaderValue::from_str(session)
        {
            let _ = self.session.set(session);
        }
        match content_type(&response) {
            Content::Json => {
                let body = body::whole(response).await?;
                channel.dispatch(&body, Related::To(id));
            }
            Content::Events => Box::pin(stream::answer(self, channel, id, response)).await?,
            Content::None if response.status() == StatusCode::ACCEPTED => {
                return Err(CallError::Malformed("202 is no answer to a request".to_owned()));
            }
            Content::None => {
                let kind = response.content_type();
                let text = format!("the content type is {}", kind.unwrap_or("not given"));
                return Err(CallError::Malformed(text));
            }
        }
        match channel.waits(id) {
            false => Ok(()),
            true => {
                Err(CallError::lost("the answer is missing from the response", Delivery::Perhaps))
            }
        }
    }

    /// Sends a message that has no answer.
    pub(crate) async fn send(&self, message: Vec<u8>, headers: &Headers) -> Result<(), CallError> {
        let response = self.post(message, headers).await?;
        // Read to its end, or the connection could not be used again.
        body::whole(response).await.map(drop)
    }

    /// Posts a message and returns a good response; everything else is an error.
    async fn post(&self, body: Vec<u8>, headers: &Headers) -> Result<Answer, CallError> {
        let first = match &self.endpoint.direct {
            Some(direct) => Some(self.post_directly(direct, &body, headers).await?),
            None => None,
        };
        match first {
            Some(answer) if answer.status().is_success() => Ok(Answer::Direct(answer)),
            // In a box, as all that is rare: a call that goes well would carry it along.
            first => Box::pin(self.insist(first, body.into(), headers)).await,
        }
    }

    /// Goes on where the first try brought no good response: the other client, or later.
    async fn insist(
        &self,
        first: Option<direct::Answer>,
        body: Bytes,
        headers: &Headers,
    ) -> Result<Answer, CallError> {
        let mut response = match first {
            Some(answer) if !answer.status().is_redirection() => Answer::Direct(answer),
            // Where to and whether at all is the other client's to know; nothing was done yet.
            Some(_) | None => self.post_shared(&body, headers).await?,
        };
        let mut rested = Duration::ZERO;
        loop {
            let status = response.status();
            if status.is_success() {
                return Ok(response);
            }
            let busy =
                matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
            match retry_after(&response, &*self.endpoint.clock).filter(|_| busy) {
                Some(rest) if rested.saturating_add(rest) <= REST => {
                    rested += rest;
                    tokio::time::sleep(rest).await;
                }
                Some(retry_after) => return Err(CallError::Throttled { retry_after }),
                None => return Err(self.refused(response).await),
            }
            response = self.post_once(&body, headers).await?;
        }
    }

    async fn post_once(&self, body: &Bytes, headers: &Headers) -> Result<Answer, CallError> {
        if let Some(direct) = &self.endpoint.direct {
            let answer = self.post_directly(direct, body, headers).await?;
            if !answer.status().is_redirection() {
                return Ok(Answer::Direct(answer));
            }
        }
        self.post_shared(body, headers).await
    }

    async fn post_directly(
        &self,
        direct: &Arc<Direct>,
        body: &[u8],
        headers: &Headers,
    ) -> Result<direct::Answer, CallError> {
        let request = {
            let own = self.marks();
            let own = own.iter().flatten().map(|(name, value)| (name, value));
            let own = own.filter(|(name, _)| !headers.has(name));
            direct.request(own.chain(headers.0.iter().map(|(name, value)| (name, value))), body)
        };
        Ok(direct.send(&request).await?)
    }

    async fn post_shared(&self, body: &Bytes, headers: &Headers) -> Result<Answer, CallError> {
        let request = self
            .endpoint
            .client
            .post(self.endpoint.url.clone())
            .headers(self.headers())
            .headers(headers.0.iter().cloned().collect())
            .header(CONTENT_TYPE, header::JSON)
            .header(ACCEPT, header::ACCEPT_BOTH)
            .body(body.clone());
        request.send().await.map(Answer::Shared).map_err(|error| unsent(&error))
    }

    /// Why the session cannot go on, if it cannot.
    pub(crate) fn fate(&self) -> Option<&Fate> {
        self.fate.get()
    }

    fn doom(&self, fate: Fate) {
        let _ = self.fate.set(fate);
        // Handshakes fail by themselves; a session that stood is ended by whoever keeps it.
        if self.revision.get().is_some() {
            self.end.cancel();
        }
    }

    /// What every request carries.
    fn headers(&self) -> HeaderMap {
        let mut headers = self.endpoint.headers.clone();
        for (name, value) in self.marks().into_iter().flatten() {
            headers.insert(name, value);
        }
        headers
    }

    /// The session, and what is spoken in it.
    fn marks(&self) -> [Option<(HeaderName, HeaderValue)>; 2] {
        let revision = self.revision.get().filter(|it| it.has_version_header());
        [
            self.session.get().map(|session| (SESSION_ID, session.clone())),
            revision.map(|it| (PROTOCOL_VERSION, HeaderValue::from_static(it.as_str()))),
        ]
    }

    async fn say_goodbye(&self) {
        if self.session.get().is_none() {
            return;
        }
        let request =
            self.endpoint.client.delete(self.endpoint.url.clone()).headers(self.headers());
        if let Err(error) = request.timeout(GOODBYE).send().await {
            tracing::debug!(error = %error.without_url(), "a session was not ended");
        }
    }
}

/// What a response holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Json,
    Events,
    None,
}

fn content_type(response: &Answer) -> Content {
    let kind = response.content_type();
    match kind.and_then(|kind| kind.split(';').next()).map(str::trim) {
        Some(kind) if kind.eq_ignore_ascii_case(header::JSON) => Content::Json,
        Some(kind) if kind.eq_ignore_ascii_case(switchboard_wire::sse::CONTENT_TYPE) => {
            Content::Events
        }
        _ => Content::None,
    }
}

/// Why a request could not be made, without the URL, which may carry a secret.
pub(crate) fn unsent(error: &reqwest::Error) -> CallError {
    let delivery = if error.is_connect() { Delivery::No } else { Delivery::Perhaps };
    let mut reason =
        if error.is_connect() { "no connection" } else { "the request failed" }.to_owned();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        reason = format!("{reason}: {error}");
        cause = error.source();
    }
    CallError::lost(reason, delivery)
}

/// How long the server wants rest: in seconds, or until a date, which is one of its own clock where
/// it says what that shows.
fn retry_after(response: &Answer, clock: &dyn Clock) -> Option<Duration> {
    let text = |name: HeaderName| response.header(name.as_str());
    let value = text(RETRY_AFTER)?.trim();
    let date = |value: &str| httpdate::parse_http_date(value).ok();
    let rest = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let now = text(DATE).and_then(date).unwrap_or_else(|| clock.now());
            date(value)?.duration_since(now).unwrap_or_default()
        }
    };
    Some(rest.max(SHORTEST_REST))
}
