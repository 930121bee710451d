//! The streams of a session: its own, and those of calls, kept for a while for a client that lost
//! the connection. Never reads one.

use std::fmt;
use std::sync::Arc;

use crate::outbox::{Accounts, Keep, Outbox};
use crate::seal;

/// Streams of calls that are over and may be asked for again.
const FINISHED: usize = 8;
/// For how many sweeps one is kept that was read to its end.
const READ: u8 = 4;
/// For how many sweeps one is kept whose answer nobody has.
const UNREAD: u8 = 20;

/// The streams of a session.
pub(crate) struct Streams {
    /// Tells these streams from those of an earlier life of the session.
    life: u32,
    last: u64,
    own: Option<Arc<Outbox>>,
    calls: Vec<(u64, Arc<Outbox>)>,
    /// Oldest first.
    finished: Vec<Finished>,
    /// Where what they keep is counted.
    accounts: Option<Accounts>,
}

/// The stream of a call that is over.
struct Finished {
    stream: u64,
    outbox: Arc<Outbox>,
    /// In sweeps.
    age: u8,
}

/// Which message of which stream: what clients give back as `Last-Event-ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventId {
    pub(crate) life: u32,
    pub(crate) stream: u64,
    pub(crate) message: u64,
}

impl Default for Streams {
    fn default() -> Self {
        let life = seal::random() as u32;
        let (calls, finished) = (Vec::new(), Vec::new());
        Self { life, last: 0, own: None, calls, finished, accounts: None }
    }
}

impl Streams {
    /// From now on what its streams keep is counted there.
    pub(crate) fn charge(&mut self, accounts: Accounts) {
        self.accounts = Some(accounts);
    }

    /// Whether there is none that somebody could come back to.
    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_none() && self.calls.is_empty() && self.finished.is_empty()
    }

    /// The stream of what belongs to no call; its number is 0. One that was ended begins anew.
    pub(crate) fn own(&mut self, room: usize) -> Arc<Outbox> {
        self.own.take_if(|own| own.is_ended());
        if let Some(own) = &self.own {
            return own.clone();
        }
        let own = Arc::new(Outbox::new(Keep::ForReplay(room)));
        self.count(&own);
        self.own = Some(own.clone());
        own
    }

    /// The same, if it was ever opened.
    pub(crate) fn opened(&self) -> Option<&Arc<Outbox>> {
        self.own.as_ref()
    }

    /// The same, if somebody reads it.
    pub(crate) fn heard(&self) -> Option<Arc<Outbox>> {
        let own = self.own.as_ref()?;
        (Arc::strong_count(own) > 1 && !own.is_ended()).then(|| own.clone())
    }

    /// Puts another in its place: that of a channel which has only one.
    pub(crate) fn set_own(&mut self, outbox: Arc<Outbox>) {
        if let Some(accounts) = &self.accounts {
            outbox.charge(&accounts.waiting);
        }
        self.own = Some(outbox);
    }

    /// The number of a call's new stream.
    pub(crate) fn add(&mut self, outbox: Arc<Outbox>) -> u64 {
        self.last += 1;
        self.count(&outbox);
        self.calls.push((self.last, outbox));
        self.last
    }

    /// The call is over. Its stream is kept, the last ones within `room` bytes, and any that was
    /// not read to its end before those that were; none where the caller keeps too much already.
    /// Whoever reads one that goes still reads it to its end.
    pub(crate) fn finish(&mut self, stream: u64, room: usize) {
        let Some(at) = self.calls.iter().position(|(number, _)| *number == stream) else { return };
        let (stream, outbox) = self.calls.swap_remove(at);
        self.finished.push(Finished { stream, outbox, age: 0 });
        while self.finished.len() > FINISHED || self.kept() > room || self.has_no_room() {
            if self.finished.is_empty() {
                return;
            }
            let read = self.finished.iter().position(|one| one.outbox.is_read());
            self.finished.remove(read.unwrap_or(0)).outbox.let_go();
        }
    }

    /// Time passes: what nobody came back for goes.
    pub(crate) fn age(&mut self) {
        self.finished.retain_mut(|one| {
            one.age = one.age.saturating_add(1);
            one.age <= if one.outbox.is_read() { READ } else { UNREAD }
        });
    }

    fn count(&self, outbox: &Outbox) {
        if let Some(accounts) = &self.accounts {
            outbox.charge(&accounts.kept);
        }
    }

    /// Whether nothing more is kept for clients that come back.
    fn has_no_room(&self) -> bool {
        self.accounts.as_ref().is_some_and(|accounts| accounts.kept.is_full())
    }

    /// Whether the caller keeps as much as it may, with what it has not read.
    pub(crate) fn is_full(&self) -> bool {
        self.accounts.as_ref().is_some_and(Accounts::is_full)
    }

    /// Whether so much waits for the caller that nothing more should be taken from it.
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.accounts.as_ref().is_some_and(Accounts::is_overdrawn)
    }

    fn kept(&self) -> usize {
        self.finished.iter().map(|one| one.outbox.bytes()).sum()
    }

    /// The stream of an event, if it is still there.
    pub(crate) fn find(&self, event: EventId) -> Option<Arc<Outbox>> {
        if event.life != self.life {
            return None;
        }
        if event.stream == 0 {
            return self.own.clone();
        }
        let calls = self.calls.iter().map(|(stream, outbox)| (*stream, outbox));
        let finished = self.finished.iter().map(|one| (one.stream, &one.outbox));
        let mut all = calls.chain(finished);
        all.find(|(stream, _)| *stream == event.stream).map(|(_, outbox)| outbox.clone())
    }

    /// Which life of the session this is.
    pub(crate) fn life(&self) -> u32 {
        self.life
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.calls.is_empty() || self.heard().is_some()
    }

    /// The session's own stream ends; those of calls end behind their answers, by whoever makes these.
    pub(crate) fn end(self) {
        if let Some(own) = self.own {
            own.end();
        }
    }
}

impl EventId {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let life = u32::from_str_radix(parts.next()?, 16).ok()?;
        let mut number = || u64::from_str_radix(parts.next()?, 16).ok();
        let (stream, message) = (number()?, number()?);
        parts.next().is_none().then_some(Self { life, stream, message })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}-{:x}", self.life, self.stream, self.message)
    }
}

#[cfg(test)]
mod tests;
