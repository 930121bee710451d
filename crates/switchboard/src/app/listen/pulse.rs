//! What open connections are doing, noted as it happens and looked at now and then: heads of requests
//! that do not end, and connections that nobody uses, are cut. Never looks into what is sent.
//!
//! hyper's own limit for heads cannot tell one that has begun from a connection that waits for its
//! next request, and would need a timer for each. Here a request costs three stores, and one task
//! looks after all connections.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

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
}

impl Default for Patience {
    /// 30 seconds, and 10 minutes.
    fn default() -> Self {
        Self { tick: Duration::from_secs(2), head: 15, idle: 300 }
    }
}

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
            cut: AtomicBool::new(false),
            waker: Mutex::default(),
        });
        let mut rows = self.0.lock();
        rows.last += 1;
        let number = rows.last;
        rows.open.insert(number, pulse.clone());
        Open { pulse, number }
    }

    /// Cuts whatever takes too long, until the end, of which it tells all.
    pub(super) async fn watch(self, patience: Patience, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(patience.tick) => {}
                () = stop.cancelled() => return self.end(),
            }
            self.tick(patience);
        }
    }

    fn end(&self) {
        self.0.ending.store(true, Ordering::SeqCst);
        let open: Vec<_> = self.0.lock().open.values().cloned().collect();
        for pulse in open {
            pulse.wake();
        }
    }

    fn tick(&self, patience: Patience) {
        let now = self.0.now.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let late = |pulse: &&Arc<Pulse>| {
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

    /// Cuts the connection that was idle longest; `false` if none is idle.
    pub(super) fn make_room(&self) -> bool {
        let now = self.0.now.load(Ordering::Relaxed);
        let idle = {
            let rows = self.0.lock();
            let idle = rows
                .open
                .values()
                .filter(|pulse| pulse.doing.load(Ordering::Relaxed) == IDLE && !pulse.is_cut());
            idle.max_by_key(|pulse| now.wrapping_sub(pulse.since.load(Ordering::Relaxed))).cloned()
        };
        idle.inspect(|pulse| pulse.cut()).is_some()
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.pulse.all.lock().open.remove(&self.number);
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
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience { tick: Duration::from_secs(1), head: 2, idle: 5 };

    /// What happens in each tick: `h` bytes come, `b` a request begins, `e` it is answered.
    fn check(story: &[&str], cut: bool) {
        let pulses = Pulses::default();
        let open = pulses.open();
        let mut busy = None;
        for acts in story {
            for act in acts.chars() {
                match act {
                    'h' => open.pulse.heard(),
                    'b' => busy = Some(open.pulse.begin()),
                    _ => busy = None,
                }
            }
            pulses.tick(PATIENCE);
        }
        assert_eq!(open.pulse.is_cut(), cut, "{story:?}");
        drop(busy);
    }

    #[test]
    fn heads_and_idleness_have_limits() {
        check(&["h", "h"], false);
        check(&["h", "h", "h"], true);
        check(&["", "", ""], true);
        check(&["hb", "", "", "", "", "", "", "", ""], false);
        check(&["hbe", "", "", "", ""], false);
        check(&["hbe", "", "", "", "", "", ""], true);
        check(&["hbe", "", "", "h", "h"], false);
        check(&["hbe", "", "", "h", "h", "h"], true);
        check(&["hbe", "", "", "h", "hbe", "", "", "", "h", "hbe"], false);
        check(&["hb", "h", "h", "h", "h"], false);
    }

    #[test]
    fn the_longest_idle_one_makes_room() {
        let pulses = Pulses::default();
        let [busy, new, old, older] = std::array::from_fn(|_| pulses.open());
        let _answering = busy.pulse.begin();
        drop(older.pulse.begin());
        pulses.tick(PATIENCE);
        drop(old.pulse.begin());
        assert!(pulses.make_room() && older.pulse.is_cut());
        assert!(pulses.make_room() && old.pulse.is_cut());
        assert!(!pulses.make_room());
        assert!(!busy.pulse.is_cut() && !new.pulse.is_cut());
        drop((old, older));
        assert_eq!(pulses.0.lock().open.len(), 2);
    }
}
