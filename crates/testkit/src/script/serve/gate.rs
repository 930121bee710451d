//! Collects answers and lets them through in the reverse order of their ids. Never looks into one.

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
    /// The ids of the answers that wait, in no order.
    waiting: Vec<u64>,
    /// Whether they go through, the highest first; nobody joins them then.
    open: bool,
}

impl Gate {
    /// Waits for so many answers, or so long, and then does this in its turn.
    pub(super) fn reversed(&self, id: u64, count: u32, ms: u64, act: impl FnOnce()) {
        let deadline = now() + Duration::from_millis(ms);
        let mut state = held(&self.state);
        while state.open {
            state = wait(&self.changed, state);
        }
        state.waiting.push(id);
        loop {
            state.open |= state.waiting.len() >= count as usize || now() >= deadline;
            if state.open && state.waiting.iter().all(|other| *other <= id) {
                break;
            }
            state = wait(&self.changed, state);
        }
        drop(state);
        act();
        let mut state = held(&self.state);
        if let Some(at) = state.waiting.iter().position(|other| *other == id) {
            state.waiting.swap_remove(at);
        }
        state.open = !state.waiting.is_empty();
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
