//! Bodies within a bound.

use bytes::{Bytes, BytesMut};
use switchboard_core::port::CallError;

use super::answer::Answer;
use crate::channel::LIMITS;

/// How much of an error page is shown.
const EXCERPT: usize = 200;

/// The whole body, within the bound of a message.
pub(super) async fn whole(mut response: Answer) -> Result<Bytes, CallError> {
    let mut first: Option<Bytes> = None;
    let mut all = BytesMut::new();
    let mut size = 0;
    while let Some(chunk) = response.chunk().await? {
        size += chunk.len();
        if size > LIMITS.max_bytes {
            return Err(CallError::Malformed(format!(
                "the body is over {} bytes",
                LIMITS.max_bytes
            )));
        }
        match first.take() {
            None if all.is_empty() => first = Some(chunk),
            None => all.extend_from_slice(&chunk),
            Some(before) => {
                all.extend_from_slice(&before);
                all.extend_from_slice(&chunk);
            }
        }
    }
    Ok(first.unwrap_or_else(|| all.freeze()))
}

/// The beginning of a body as one line for a person.
pub(super) fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(EXCERPT)]);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
