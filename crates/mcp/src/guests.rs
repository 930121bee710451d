//! Who is here: streams that are open, each with the token by which it was opened, so that they end
//! when the token does. Calls that end at once are only compared by a number.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::auth::Principal;
use crate::door::Door;

/// Everybody who has a stream open. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Guests(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// How often it was looked whether they are still welcome.
    turn: AtomicU64,
    rows: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    last: u64,
    here: HashMap<u64, (Arc<Principal>, Arc<Farewell>)>,
}

/// Tells a stream that it is over.
#[derive(Default)]
struct Farewell {
    said: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// By whose token a request of the stateless era came and by which door, and the turn before that was
/// looked up.
#[derive(Clone)]
pub(crate) struct Pass {
    pub(crate) principal: Arc<Principal>,
    pub(crate) door: Door,
    pub(crate) turn: u64,
}

/// A guest's place, for as long as their stream is open.
pub(crate) struct Stay {
    guests: Guests,
    number: u64,
    farewell: Arc<Farewell>,
}

impl Guests {
    /// A number that changes whenever somebody may have had to leave.
    pub(crate) fn turn(&self) -> u64 {
        self.0.turn.load(Ordering::SeqCst)
    }

    /// Somebody opens a stream.
    pub(crate) fn enter(&self, principal: Arc<Principal>) -> Stay {
        let farewell = Arc::new(Farewell::default());
        let mut rows = self.lock();
        rows.last += 1;
        let number = rows.last;
        rows.here.insert(number, (principal, farewell.clone()));
        Stay { guests: self.clone(), number, farewell }
    }

    /// Calls that are under way look again from here on, whoever they are of.
    pub(crate) fn turn_over(&self) {
        self.0.turn.fetch_add(1, Ordering::SeqCst);
    }

    /// Whoever is not welcome any more has to leave.
    pub(crate) fn see_off(&self, welcome: &dyn Fn(&Principal) -> bool) {
        let leaving: Vec<_> = {
            let rows = self.lock();
            let leaving = rows.here.values().filter(|(principal, _)| !welcome(principal));
            leaving.map(|(_, farewell)| farewell.clone()).collect()
        };
        for farewell in leaving {
            farewell.say();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.0.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stay {
    /// Ready when the stream has to end.
    pub(crate) fn poll_over(&self, context: &Context<'_>) -> Poll<()> {
        let mut waker = self.farewell.waker.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *waker {
            Some(waker) => waker.clone_from(context.waker()),
            None => *waker = Some(context.waker().clone()),
        }
        drop(waker);
        if self.farewell.said.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.guests.lock().here.remove(&self.number);
    }
}

impl Farewell {
    fn say(&self) {
        self.said.store(true, Ordering::SeqCst);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
