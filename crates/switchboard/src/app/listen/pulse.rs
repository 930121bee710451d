//! What open connections are doing, noted as it happens and looked at now and then: heads of requests
//! that do not end, answers that nobody reads, and connections that nobody uses, are cut. Never looks into what is
//! sent.
//!
//! hyper's own limit for heads cannot tell one that has begun from a connection that waits for its
//! next request, and would need a timer for each. Here a request costs three stores, and one task
//! looks after all connections.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// How often the connections are looked at; what is said below is as exact as this.
    pub(super) tick: Duration,
    /// How many ticks the head of a request may take, and a new connection until its first one.
    pub(super) head: u32,
    /// For how many ticks a connection may be idle between two requests.
    pub(super) idle: u32,
    /// For how many ticks a client may read nothing of what is sent to it.
    pub(super) blocked: u32,
    /// How long requests that are under way, and their clients, may take at the end.
    pub(super) end: Duration,
}

impl Default for Patience {
    /// 30 seconds, 10 minutes, a minute; and 10 seconds.
    fn default() -> Self {
        let (tick, end) = (Duration::from_secs(2), Duration::from_secs(10));
        Self { tick, head: 15, idle: 300, blocked: 30, end }
    }
}

/// How many ticks a client that reads nothing is left alone where others need the room.
const PAUSE: u32 = 2;

/// All open connections. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Pulses(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// The time, in ticks: read with every request, so it is no clock.
    now: AtomicU32,
    /// Every connection is to end after the request that is under way.
    ending: AtomicBool,
    rows: Mutex<Rows>,
    /// The last connection is gone.
    empty: Notify,
}

#[derive(Default)]
struct Rows {
    last: u64,
    open: HashMap<u64, Arc<Pulse>>,
}

/// What one connection is doing.
pub(super) struct Pulse {
    all: Arc<Inner>,
    doing: AtomicU8,
    since: AtomicU32,
    /// Since when the client reads nothing of what is sent to it, counted from 1; 0 if it does.
    blocked: AtomicU32,
    cut: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// A connection's place; it leaves when this is dropped.
pub(super) struct Open {
    pub(super) pulse: Arc<Pulse>,
    number: u64,
}

/// A request that is being answered, until this is dropped.
pub(super) struct Busy(Arc<Pulse>);

/// Nothing: it waits for a request.
const IDLE: u8 = 0;
/// The head of a request has begun, or it is new.
const HEAD: u8 = 1;
/// A request is being answered.
const BUSY: u8 = 2;

impl Pulses {
    /// A new connection.
    pub(super) fn open(&self) -> Open {
        let pulse = Arc::new(Pulse {
            all: self.0.clone(),
            doing: AtomicU8::new(HEAD),
            since: AtomicU32::new(self.0.now.load(Ordering::Relaxed)),
            blocked: AtomicU32::new(0),
            cut: AtomicBool::new(false),
            waker: Mutex::default(),
        });
        let mut rows = self.0.lock();
        rows.last += 1;
        let number = rows.last;
        rows.open.insert(number, pulse.clone());
        Open { pulse, number }
    }

    /// Cuts whatever takes too long, until the end, of which it tells all; whoever has not ended soon after that is
    /// cut as well, as nobody may keep the hub from ending.
    pub(super) async fn watch(self, patience: Patience, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(patience.tick) => {}
                () = stop.cancelled() => break,
            }
            self.tick(patience);
        }
        self.0.ending.store(true, Ordering::SeqCst);
        self.each(|pulse| pulse.wake());
        let _ = tokio::time::timeout(patience.end, self.emptied()).await;
        self.each(Pulse::cut);
    }

    /// Returns when no connection is open.
    async fn emptied(&self) {
        loop {
            let empty = self.0.empty.notified();
            if self.0.lock().open.is_empty() {
                return;
            }
            empty.await;
        }
    }

    fn each(&self, act: impl Fn(&Pulse)) {
        let open: Vec<_> = self.0.lock().open.values().cloned().collect();
        for pulse in open {
            act(&pulse);
        }
    }

    fn tick(&self, patience: Patience) {
        let now = self.0.now.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let late = |pulse: &&Arc<Pulse>| {
            if pulse.blocked_for(now).is_some_and(|ticks| ticks > patience.blocked) {
                return true;
            }
            let most = match pulse.doing.load(Ordering::Relaxed) {
                HEAD => patience.head,
                IDLE => patience.idle,
                _ => return false,
            };
            // One tick more, as the first was under way already.
            now.wrapping_sub(pulse.since.load(Ordering::Relaxed)) > most
        };
        let late: Vec<_> = self.0.lock().open.values().filter(late).cloned().collect();
        for pulse in late {
            pulse.cut();
        }
    }

    /// Cuts the connection that was idle longest, or whose client has read nothing for longest; `false` if there is
    /// none.
    pub(super) fn make_room(&self) -> bool {
        let now = self.0.now.load(Ordering::Relaxed);
        let useless = {
            let rows = self.0.lock();
            let open = rows.open.values().filter(|pulse| !pulse.is_cut());
            let useless = open.filter_map(|pulse| Some((pulse.useless_for(now)?, pulse)));
            useless.max_by_key(|(useless, _)| *useless).map(|(_, pulse)| pulse.clone())
        };
        useless.inspect(|pulse| pulse.cut()).is_some()
    }

    /// Returns when somebody may have become idle.
    pub(super) async fn pause() {
        tokio::time::sleep(Patience::default().tick).await;
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut rows = self.pulse.all.lock();
        rows.open.remove(&self.number);
        if rows.open.is_empty() {
            self.pulse.all.empty.notify_waiters();
        }
    }
}

impl Pulse {
    /// Bytes came. While a request is answered they are its body, which has a limit of its own.
    pub(super) fn heard(&self) {
        if self.doing.load(Ordering::Relaxed) == IDLE {
            self.note(HEAD);
        }
    }

    /// The head of a request has ended.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.doing.store(BUSY, Ordering::Relaxed);
        Busy(self.clone())
    }

    /// What became of a write: the client takes what is sent to it, or it reads nothing.
    pub(super) fn wrote<T>(&self, written: &Poll<T>) {
        let known = self.blocked.load(Ordering::Relaxed);
        match written {
            Poll::Ready(_) if known != 0 => self.blocked.store(0, Ordering::Relaxed),
            Poll::Pending if known == 0 => {
                let now = self.all.now.load(Ordering::Relaxed).wrapping_add(1);
                self.blocked.store(now.max(1), Ordering::Relaxed);
            }
            Poll::Ready(_) | Poll::Pending => {}
        }
    }

    /// For how many ticks the client has read nothing of what is sent to it.
    fn blocked_for(&self, now: u32) -> Option<u32> {
        let since = self.blocked.load(Ordering::Relaxed).checked_sub(1)?;
        Some(now.wrapping_sub(since))
    }

    /// For how many ticks nobody has had anything of the connection; `None` if somebody has.
    fn useless_for(&self, now: u32) -> Option<u32> {
        match self.doing.load(Ordering::Relaxed) {
            IDLE => Some(now.wrapping_sub(self.since.load(Ordering::Relaxed))),
            _ => self.blocked_for(now).filter(|ticks| *ticks >= PAUSE),
        }
    }

    /// The connection's task, which is woken whenever the connection is to end.
    pub(super) fn listen(&self, waker: &Waker) {
        let mut known = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(waker.clone());
    }

    /// Whether the connection is to end at once.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst)
    }

    /// Whether it is to end after the request that is under way.
    pub(super) fn is_ending(&self) -> bool {
        self.all.ending.load(Ordering::SeqCst)
    }

    fn note(&self, doing: u8) {
        self.since.store(self.all.now.load(Ordering::Relaxed), Ordering::Relaxed);
        self.doing.store(doing, Ordering::Relaxed);
    }

    fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
        self.wake();
    }

    fn wake(&self) {
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.note(IDLE);
    }
}

#[cfg(test)]
mod tests;
