//! What a server has to say, before anybody has decided how it is framed.

/// One thing to say.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A message, after which more comes.
    Message(Vec<u8>),
    /// The answer to the request that the outlet belongs to.
    Answer {
        body: Vec<u8>,
        /// Of an answer as JSON over HTTP.
        status: u16,
    },
    /// Something that is no message, in the place of one.
    Garbage(Vec<u8>),
    /// The first half of an answer, and never the second.
    Half { body: Vec<u8>, then: Then },
    /// An answer too large to be kept.
    Huge { head: Vec<u8>, bytes: u64, tail: Vec<u8> },
}

/// What follows half of an answer.
#[derive(Clone, Debug)]
pub(super) enum Then {
    Stall,
    Exit { code: i32, stderr: String },
}

/// Where messages go.
pub(super) trait Outlet: Send + Sync {
    fn put(&self, item: Item);

    /// Whether whoever asked has left, which in the stateless era means to give up.
    fn is_gone(&self) -> bool {
        false
    }
}

/// A piece of filler; a huge answer is made of these.
static FILLER: [u8; 64 * 1024] = [b'x'; 64 * 1024];

/// Pieces of filler, that many bytes in all.
pub(super) fn filler(bytes: u64) -> impl Iterator<Item = &'static [u8]> {
    let mut left = bytes;
    std::iter::from_fn(move || {
        let piece = left.min(FILLER.len() as u64);
        left -= piece;
        (piece > 0).then(|| &FILLER[..piece as usize])
    })
}
