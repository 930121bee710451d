//! Reading a body: within its size and time, without copying what is long and came in one piece.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use axum::http::StatusCode;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use super::Incoming;
use crate::burden::{Load, SHORT};
use crate::gate::Refused;
use crate::options::Limits;

/// Bodies up to this are copied out of what they were read into.
const COPIED: usize = 2 * 1024;

/// The whole of a body, which counts as that load while it arrives and as long as it is there.
pub(super) async fn whole(
    body: impl Incoming,
    limits: &Limits,
    begin: impl FnOnce() -> Load,
) -> Result<Bytes, Refused> {
    let most = limits.message.max_bytes;
    fits(usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX), limits)?;
    let mut collecting = pin!(collect(body, most, begin));
    // Nearly always it came together with its head: then nobody needs a clock.
    if let Poll::Ready(read) =
        poll_fn(|context| Poll::Ready(collecting.as_mut().poll(context))).await
    {
        return read;
    }
    match Box::pin(timeout(limits.read, collecting)).await {
        Ok(read) => read,
        Err(_) => {
            let reason = "the body took too long to arrive";
            Err(Refused { status: StatusCode::REQUEST_TIMEOUT, reason })
        }
    }
}

/// Whether a body of that length may be read at all.
pub(super) fn fits(length: usize, limits: &Limits) -> Result<(), Refused> {
    if length > limits.message.max_bytes { Err(too_large()) } else { Ok(()) }
}

async fn collect(
    mut body: impl Incoming,
    most: usize,
    begin: impl FnOnce() -> Load,
) -> Result<Bytes, Refused> {
    let (mut load, mut begin) = (None, Some(begin));
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let broken =
            |_: _| Refused { status: StatusCode::BAD_REQUEST, reason: "the body broke off" };
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        if rest.is_empty() && first.is_empty() {
            // A call holds its message to its end. What it was read into is wanted for the next one before that.
            first = if data.len() <= COPIED { Bytes::copy_from_slice(&data) } else { data };
        } else {
            if rest.is_empty() {
                rest.extend_from_slice(&first);
            }
            rest.extend_from_slice(&data);
        }
        let size = first.len().max(rest.len());
        if size > most {
            return Err(too_large());
        }
        if size > SHORT {
            load = load.or_else(|| begin.take().map(|begin| begin()));
        }
        if let Some(load) = &mut load {
            load.grow(size)?;
        }
    }
    let body = if rest.is_empty() { first } else { rest.freeze() };
    Ok(match load {
        Some(load) => load.of(body),
        None => body,
    })
}

const fn too_large() -> Refused {
    Refused { status: StatusCode::PAYLOAD_TOO_LARGE, reason: "the message is too large" }
}
