//! How much of what callers sent is held: of messages that arrive, and of those whose calls are under way, each for as long
//! as anything of it is there. Only long ones count: how many short ones there can be is bounded elsewhere. Reads and
//! refuses nothing.

use axum::http::StatusCode;
use bytes::Bytes;
use switchboard_core::port::Who;

use crate::gate::Refused;
use crate::ledger::{Ledger, Share};
use crate::options::Limits;

/// Messages up to this are not counted.
pub(crate) const SHORT: usize = 16 * 1024;

/// What is held of everybody's messages.
pub(crate) struct Burden(Ledger);

/// What is held of one message.
#[derive(Debug)]
pub(crate) struct Load(Share);

/// A message that is counted until nobody has anything of it.
struct Counted {
    message: Bytes,
    _load: Load,
}

impl Burden {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self(Ledger::new(limits.taken, limits.taken_each))
    }

    /// A message of this caller's that arrives.
    pub(crate) fn begin(&self, who: &Who) -> Load {
        Load(self.0.begin(who))
    }

    /// A message that is there already, as it is counted from now on; `None` for one that is not.
    pub(crate) fn take(&self, who: &Who, message: &Bytes) -> Result<Option<Bytes>, Refused> {
        if message.len() <= SHORT {
            return Ok(None);
        }
        let mut load = self.begin(who);
        load.grow(message.len())?;
        Ok(Some(load.of(message.clone())))
    }
}

impl Load {
    /// So many bytes of it are there.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Refused> {
        if bytes <= SHORT || self.0.grow(bytes) { Ok(()) } else { Err(TOO_MUCH) }
    }

    /// The message, all of which is there.
    pub(crate) fn of(self, message: Bytes) -> Bytes {
        match self.0.bytes() {
            0 => message,
            _ => Bytes::from_owner(Counted { message, _load: self }),
        }
    }
}

const TOO_MUCH: Refused = Refused {
    status: StatusCode::TOO_MANY_REQUESTS,
    reason: "too many long messages are under way; wait for the answers to some of them",
};

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.message
    }
}

#[cfg(test)]
mod tests {
    use switchboard_model::AgentId;

    use super::*;

    #[test]
    fn long_messages_count_for_whom_they_are_of_as_long_as_anything_is_left() {
        let limits = Limits { taken: 250_000, taken_each: 100_000, ..Limits::default() };
        let burden = Burden::new(&limits);
        let [one, other, third] =
            ["one", "other", "third"].map(|id| Who::agent(AgentId::parse(id).unwrap(), None));
        let message = |bytes: usize| Bytes::from(vec![b'x'; bytes]);
        let take = |who: &Who, bytes: usize| burden.take(who, &message(bytes));
        let first = take(&one, 60_000).unwrap().unwrap();
        assert!(take(&one, 60_000).is_err());
        assert!(take(&one, SHORT).unwrap().is_none(), "short ones are always taken");
        let part = first.slice(10..20);
        drop(first);
        assert!(take(&one, 60_000).is_err(), "a part is left");
        drop(part);
        let kept = [take(&one, 90_000), take(&other, 90_000)].map(Result::unwrap);
        assert!(take(&third, 90_000).is_err(), "too much of all together");
        assert_eq!(burden.0.kept(), 180_000, "what is refused does not count");
        drop(kept);
        assert_eq!(burden.0.kept(), 0);
        assert!(take(&third, 90_000).is_ok());
        assert_eq!(burden.0.callers(), 1, "who holds nothing is forgotten");
    }

    #[test]
    fn what_arrives_counts_as_it_does() {
        let limits = Limits { taken_each: 100_000, ..Limits::default() };
        let burden = Burden::new(&limits);
        let who = Who::agent(AgentId::parse("one").unwrap(), None);
        let mut load = burden.begin(&who);
        for (bytes, kept) in [(SHORT, 0), (20_000, 20_000), (20_000, 20_000), (90_000, 90_000)] {
            load.grow(bytes).unwrap();
            assert_eq!(burden.0.kept(), kept);
        }
        assert!(load.grow(100_001).is_err());
        drop(load);
        assert_eq!(burden.0.kept(), 0);
    }
}
