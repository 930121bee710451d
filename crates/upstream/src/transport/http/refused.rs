//! What a response without success means, for its request and for the session. Never makes a session
//! anew.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::WWW_AUTHENTICATE;
use switchboard_core::port::{CallError, Delivery, RpcError};
use switchboard_wire::{Era, Message, code, method, write};
use tokio::time::timeout;

use super::answer::Answer;
use super::{Fate, HttpLink, body};
use crate::channel::LIMITS;
use crate::transport::Headers;

/// How long a server may take to say whether it knows a session. One that takes longer is not taken for
/// one that does not.
const DOUBT: Duration = Duration::from_secs(5);

/// The first id of such a question.
const DOUBTS: u64 = 1 << 52;

impl HttpLink {
    /// The error that the request ends with. A session that cannot go on is doomed.
    pub(super) async fn refused(&self, response: Answer) -> CallError {
        let status = response.status();
        let challenge = response.header(WWW_AUTHENTICATE.as_str()).map(str::to_owned);
        if status == StatusCode::UNAUTHORIZED
            || (status == StatusCode::FORBIDDEN && challenge.is_some())
        {
            let detail = format!("HTTP {status}");
            self.doom(Fate::Unauthorized { detail: detail.clone(), challenge: challenge.clone() });
            return CallError::Unauthorized { detail, challenge };
        }
        if status == StatusCode::NOT_FOUND && self.session.get().is_some() {
            return self.forgotten();
        }
        let body = body::whole(response).await.unwrap_or_default();
        if is_doubtful(status) && self.era() == Some(Era::Session) && self.is_forgotten().await {
            return self.forgotten();
        }
        match error(status, &body) {
            Some(error) => error.into(),
            None => CallError::Http { status: status.as_u16(), detail: body::excerpt(&body) },
        }
    }

    fn forgotten(&self) -> CallError {
        self.doom(Fate::Forgotten);
        // The request did nothing: it can be made again in a new session.
        CallError::lost("the server has forgotten the session", Delivery::No)
    }

    /// Whether the server knows the session no more. A server that was started anew may refuse one of
    /// its predecessor's by the same status and code as a request that is wrong in itself, and so does
    /// one that speaks the other era now. What is never wrong in itself is a `ping`.
    async fn is_forgotten(&self) -> bool {
        if matches!(self.fate(), Some(Fate::Forgotten)) {
            return true;
        }
        let ping = ping(self.doubts.fetch_add(1, Ordering::Relaxed));
        let asked = async {
            let response = self.post_once(&ping, &Headers::default()).await?;
            let status = response.status();
            Ok::<_, CallError>((status, body::whole(response).await?))
        };
        let Ok(Ok((status, body))) = timeout(DOUBT, asked).await else { return false };
        // Some have no `ping`, and say so.
        let has_none = error(status, &body).is_some_and(|it| it.code == code::METHOD_NOT_FOUND);
        status == StatusCode::NOT_FOUND || (is_doubtful(status) && !has_none)
    }
}

/// Whether it may mean that the session is not known.
fn is_doubtful(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_REQUEST | StatusCode::GONE)
}

fn error(status: StatusCode, body: &[u8]) -> Option<RpcError> {
    match Message::parse(body, &LIMITS) {
        Ok(Message::Failure(failure)) if status.is_client_error() => {
            Some(RpcError::from(&failure.error))
        }
        _ => None,
    }
}

/// Under an id that no call will ever have, as those are counted up from one.
fn ping(nth: u64) -> Bytes {
    let mut message = Vec::with_capacity(64);
    write::request(&mut message, (DOUBTS + nth).into(), method::PING, None);
    message.into()
}
