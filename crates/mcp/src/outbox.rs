//! Messages on their way to one stream: kept until they are read, or for a client that comes back.
//! Never waits, and never grows without bound: what can be missed gives way to what cannot.

mod account;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

pub(crate) use self::account::{Account, Accounts};

/// Notices that wait at once, whatever their size.
const NOTICES: usize = 256;

/// What becomes of messages that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// They are kept, up to so many bytes.
    ForReplay(usize),
    /// They go; notices wait up to so many bytes.
    UntilRead(usize),
}

/// Whether a message may give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Somebody waits for it.
    Needed,
    /// Nobody does.
    Notice,
}

/// The messages of one stream.
pub(crate) struct Outbox(Mutex<State>);

/// Whoever reads a stream; a newer one ends the older.
pub(crate) struct Reader {
    number: u64,
    next: u64,
}

struct State {
    messages: VecDeque<Message>,
    /// The number of the next message.
    next: u64,
    bytes: usize,
    keep: Keep,
    reader: u64,
    /// The first message that nobody has read.
    unread: u64,
    waker: Option<Waker>,
    /// Who waits until less is unread.
    drained: Option<Waker>,
    ended: bool,
    /// Where its bytes are counted, once it is a stream that is kept.
    account: Option<Arc<Account>>,
}

struct Message {
    number: u64,
    bytes: Bytes,
    weight: Weight,
}

impl Outbox {
    pub(crate) fn new(keep: Keep) -> Self {
        Self(Mutex::new(State {
            messages: VecDeque::new(),
            next: 1,
            bytes: 0,
            keep,
            reader: 0,
            unread: 1,
            waker: None,
            drained: None,
            ended: false,
            account: None,
        }))
    }

    /// Adds a message, unless the stream is over.
    pub(crate) fn push(&self, bytes: Bytes, weight: Weight) {
        let waker = {
            let mut state = self.lock();
            if state.ended {
                return;
            }
            let number = state.next;
            state.next += 1;
            state.grow(bytes.len());
            state.messages.push_back(Message { number, bytes, weight });
            state.make_room();
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes out what somebody waits for.
    pub(crate) fn take_needed(&self) -> Vec<Bytes> {
        let mut state = self.lock();
        let all = std::mem::take(&mut state.messages);
        let (needed, rest): (Vec<_>, _) =
            all.into_iter().partition(|message| message.weight == Weight::Needed);
        state.messages = rest.into();
        state.shrink(needed.iter().map(|message| message.bytes.len()).sum());
        needed.into_iter().map(|message| message.bytes).collect()
    }

    /// From now on what it keeps is counted there.
    pub(crate) fn charge(&self, account: &Arc<Account>) {
        let mut state = self.lock();
        if state.account.is_none() {
            account.add(state.bytes);
            state.account = Some(account.clone());
        }
    }

    /// Nobody can come back to it: what is read from now on goes.
    pub(crate) fn let_go(&self) {
        let mut state = self.lock();
        if let Keep::ForReplay(room) = state.keep {
            state.keep = Keep::UntilRead(room);
        }
    }

    /// Nothing comes any more; what is there can still be read.
    pub(crate) fn end(&self) {
        let waker = {
            let mut state = self.lock();
            state.ended = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.lock().ended
    }

    /// Whether everything was read.
    pub(crate) fn is_read(&self) -> bool {
        let state = self.lock();
        state.unread >= state.next
    }

    /// Bytes that are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Reads from a message on: the oldest that is kept, or the first after `last`.
    pub(crate) fn read(&self, last: Option<u64>) -> Reader {
        let (reader, waker) = {
            let mut state = self.lock();
            state.reader += 1;
            let next = last.map_or(state.unread, |last| last.saturating_add(1));
            (Reader { number: state.reader, next }, state.waker.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        reader
    }

    /// Ready when there is anything to read, or nothing will be.
    pub(crate) fn poll_ready(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if !state.messages.is_empty() || state.ended {
            return Poll::Ready(());
        }
        state.wait(context);
        Poll::Pending
    }

    /// Ready when at most so many bytes wait.
    pub(crate) fn poll_below(&self, bytes: usize, context: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.bytes <= bytes || state.ended {
            return Poll::Ready(());
        }
        match &mut state.drained {
            Some(waker) => waker.clone_from(context.waker()),
            None => state.drained = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// The next message and its number; `None` at the end, or when somebody else reads now.
    pub(crate) fn poll_next(
        &self,
        reader: &mut Reader,
        context: &Context<'_>,
    ) -> Poll<Option<(u64, Bytes)>> {
        let mut state = self.lock();
        if state.reader != reader.number {
            return Poll::Ready(None);
        }
        if let Some((number, bytes)) = state.take(reader.next) {
            reader.next = number + 1;
            state.unread = state.unread.max(reader.next);
            if let Some(drained) = state.drained.take() {
                drained.wake();
            }
            return Poll::Ready(Some((number, bytes)));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        state.wait(context);
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The first message from that number on.
    fn take(&mut self, from: u64) -> Option<(u64, Bytes)> {
        match self.keep {
            Keep::ForReplay(_) => {
                let at = self.messages.partition_point(|message| message.number < from);
                let message = self.messages.get(at)?;
                Some((message.number, message.bytes.clone()))
            }
            Keep::UntilRead(_) => {
                // What was read while it was still kept goes with the rest.
                loop {
                    let message = self.messages.pop_front()?;
                    self.shrink(message.bytes.len());
                    if message.number >= from {
                        return Some((message.number, message.bytes));
                    }
                }
            }
        }
    }

    fn wait(&mut self, context: &Context<'_>) {
        match &mut self.waker {
            Some(waker) => waker.clone_from(context.waker()),
            None => self.waker = Some(context.waker().clone()),
        }
    }

    /// What was read goes first, then the oldest notice.
    fn make_room(&mut self) {
        let (Keep::ForReplay(room) | Keep::UntilRead(room)) = self.keep;
        let full = self.account.as_deref().is_some_and(Account::is_full);
        let room = if full { 0 } else { room };
        while self.bytes > room || self.messages.len() > NOTICES {
            let unread = self.unread;
            let goes =
                |message: &Message| message.number < unread || message.weight == Weight::Notice;
            // The newest stays: it is what the room is made for.
            let last = self.messages.len().saturating_sub(1);
            let Some(at) = self.messages.iter().take(last).position(goes) else { return };
            if let Some(message) = self.messages.remove(at) {
                self.shrink(message.bytes.len());
            }
        }
    }

    fn grow(&mut self, bytes: usize) {
        self.bytes += bytes;
        if let Some(account) = &self.account {
            account.add(bytes);
        }
    }

    fn shrink(&mut self, bytes: usize) {
        self.bytes -= bytes;
        if let Some(account) = &self.account {
            account.subtract(bytes);
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}
