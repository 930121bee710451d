//! An answer over HTTP, whichever client made the request.

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use switchboard_core::port::CallError;

use super::direct;
use super::unsent;

/// An answer of which the head is there.
pub(super) enum Answer {
    /// Of the client for plain connections.
    Direct(direct::Answer),
    /// Of the client for everything.
    Shared(reqwest::Response),
}

impl Answer {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Direct(answer) => answer.status(),
            Self::Shared(response) => response.status(),
        }
    }

    /// The first header of that name, if it is text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        match self {
            Self::Direct(answer) => answer.header(name),
            Self::Shared(response) => response.headers().get(name)?.to_str().ok(),
        }
    }

    pub(super) fn content_type(&self) -> Option<&str> {
        match self {
            Self::Direct(answer) => answer.content_type(),
            Self::Shared(response) => response.headers().get(CONTENT_TYPE)?.to_str().ok(),
        }
    }

    /// The next part of the body; nothing at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, CallError> {
        match self {
            Self::Direct(answer) => Ok(answer.chunk().await?),
            Self::Shared(response) => response.chunk().await.map_err(|error| unsent(&error)),
        }
    }
}
