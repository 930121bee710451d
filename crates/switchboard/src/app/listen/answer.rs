//! The body of an answer, with which the connection is busy until it is over. Changes nothing of it.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body as Page;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use switchboard_mcp::Outgoing;

use super::pulse::Busy;

/// The body of an answer.
pub(super) struct Answer {
    kind: Kind,
    _busy: Busy,
}

enum Kind {
    Endpoint(Outgoing),
    Page(Page),
}

impl Answer {
    pub(super) fn endpoint(body: Outgoing, busy: Busy) -> Self {
        Self { kind: Kind::Endpoint(body), _busy: busy }
    }

    pub(super) fn page(body: Page, busy: Busy) -> Self {
        Self { kind: Kind::Page(body), _busy: busy }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match &mut self.kind {
            Kind::Endpoint(body) => Pin::new(body)
                .poll_frame(context)
                .map(|frame| frame.map(|frame| frame.map_err(|never| match never {}))),
            Kind::Page(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Endpoint(body) => body.is_end_stream(),
            Kind::Page(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Endpoint(body) => body.size_hint(),
            Kind::Page(body) => body.size_hint(),
        }
    }
}
