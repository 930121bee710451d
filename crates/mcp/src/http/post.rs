//! A POST that was read whole before it came here: what it asks for is begun at once, so that nothing of it has to
//! be kept but its message. Says the same as a request that comes in parts.

use std::sync::Arc;

use bytes::Bytes;

use super::{Entered, Place, Response, Start, Transport, place, read, refusal};
use crate::endpoint::Inner;
use crate::gate;
use crate::head::{Field, Head, Headers};

/// A POST as it lies in what was read.
#[derive(Clone, Copy, Debug)]
pub struct Post<'r> {
    /// What the request line names.
    pub path: &'r str,
    /// In the order in which they came.
    pub headers: &'r [Field<'r>],
    /// All of it.
    pub body: &'r Bytes,
}

impl Inner {
    /// Begins what a POST asks for; `None` if it has to be looked at more closely than is done here.
    pub(crate) fn post_whole(
        self: &Arc<Self>,
        post: Post<'_>,
    ) -> Option<impl Future<Output = Response> + use<>> {
        let begun = self.begun(plain_place(post.path)?, post);
        let inner = self.clone();
        Some(async move {
            match begun {
                Ok(entered) => inner.conclude(entered).await,
                Err(refused) => *refused,
            }
        })
    }

    fn begun(self: &Arc<Self>, place: Place, post: Post<'_>) -> Result<Entered, Box<Response>> {
        let head = Head::of(Headers::Fields(post.headers));
        let way = self.let_in(place.door, None, &head)?;
        let (guest, turn) = (way.principal.clone(), way.turn);
        let taken = gate::check_post(&head)
            .and_then(|()| read::fits(post.body.len(), &self.limits))
            .and_then(|()| self.burden.take(&way.principal.who, post.body));
        let start = match taken {
            Ok(counted) => {
                let body = counted.as_ref().unwrap_or(post.body);
                Start::Posted(self.exchange(way, &head, body))
            }
            Err(refused) => Start::Response(Box::new(refusal(&refused))),
        };
        Ok(Entered { start, guest, turn })
    }
}

/// Where a path leads that can be read in one way only.
fn plain_place(path: &str) -> Option<Place> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let place = path.bytes().all(plain).then(|| place(path))??;
    (place.transport == Transport::Streamable).then_some(place)
}
