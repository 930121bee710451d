//! Collects threads and lets them through last first.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use super::world::{held, now};

#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: usize,
    /// The ticket whose turn it is, while the gate is open.
    turn: Option<usize>,
}

impl Gate {
    /// Waits for so many threads, or so long, and then does this in its turn.
    pub(super) fn reversed(&self, count: u32, ms: u64, act: impl FnOnce()) {
        let deadline = now() + Duration::from_millis(ms);
        let mut state = held(&self.state);
        while state.turn.is_some() {
            state = wait(&self.changed, state);
        }
        let ticket = state.waiting;
        state.waiting += 1;
        while state.turn != Some(ticket) {
            let full = state.waiting >= count as usize || now() >= deadline;
            if state.turn.is_none() && full {
                state.turn = Some(state.waiting - 1);
                self.changed.notify_all();
                continue;
            }
            state = wait(&self.changed, state);
        }
        drop(state);
        act();
        let mut state = held(&self.state);
        state.turn = ticket.checked_sub(1);
        if ticket == 0 {
            state.waiting = 0;
        }
        self.changed.notify_all();
    }
}

fn wait<'a>(
    changed: &Condvar,
    state: std::sync::MutexGuard<'a, State>,
) -> std::sync::MutexGuard<'a, State> {
    let waited = changed.wait_timeout(state, Duration::from_millis(10));
    waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
}
