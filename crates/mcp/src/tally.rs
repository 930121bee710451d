//! The answers to one batch, counted together: a few bytes of questions must not make megabytes of answers
//! that nobody reads. Never sends one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use switchboard_wire::{Id, code};

use crate::reply::Reply;
use crate::session::Session;

/// How much room is left for the answers to one batch.
pub(crate) struct Tally(AtomicUsize);

impl Tally {
    /// For so many bytes.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(most)))
    }

    /// The answer as it is sent: an error in its place if there is no room for it, or if the caller has more
    /// to read than is kept.
    pub(crate) fn take(&self, session: &Session, id: Option<Id<'_>>, reply: Reply) -> Bytes {
        let bytes = reply.body.len();
        let less = |left: usize| left.checked_sub(bytes);
        let fits = !session.keeps_too_much()
            && self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        if fits { reply.body.joined() } else { too_much(id) }
    }
}

fn too_much(id: Option<Id<'_>>) -> Bytes {
    let text = "the answers to this batch are too large; ask for less at once";
    Reply::refused(id, code::INTERNAL_ERROR, text, None).body.joined()
}
