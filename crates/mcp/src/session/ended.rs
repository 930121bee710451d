//! Sessions that were ended and must stay so, although their ids would still be good. Remembered for
//! as long as that, within a bound; elsewhere too, if somebody keeps them there.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::table::Tail;

/// Ids that are remembered.
const MOST: usize = 100_000;

/// Keeps beyond this process which sessions were ended.
pub trait Remember: Send + Sync {
    /// Those that were ended earlier, oldest first, and until when that matters.
    fn recall(&self) -> Vec<([u8; 16], SystemTime)>;

    /// One more. Must not wait.
    fn note(&self, id: [u8; 16], until: SystemTime);
}

/// Sessions that were ended.
pub(super) struct Ended {
    rows: Mutex<Rows>,
    elsewhere: Option<Arc<dyn Remember>>,
}

#[derive(Default)]
struct Rows {
    order: VecDeque<Tail>,
    known: HashSet<Tail>,
}

impl Ended {
    pub(super) fn new(elsewhere: Option<Arc<dyn Remember>>, now: SystemTime) -> Self {
        let mut rows = Rows::default();
        let earlier = elsewhere.as_ref().map(|elsewhere| elsewhere.recall()).unwrap_or_default();
        for (tail, _) in earlier.into_iter().filter(|(_, until)| *until > now) {
            rows.add(tail);
        }
        Self { rows: Mutex::new(rows), elsewhere }
    }

    /// One more; `until` says how long its id would be good.
    pub(super) fn add(&self, tail: Tail, until: SystemTime) {
        let news = self.lock().add(tail);
        if let (true, Some(elsewhere)) = (news, &self.elsewhere) {
            elsewhere.note(tail, until);
        }
    }

    pub(super) fn has(&self, tail: &Tail) -> bool {
        self.lock().known.contains(tail)
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    fn add(&mut self, tail: Tail) -> bool {
        if !self.known.insert(tail) {
            return false;
        }
        self.order.push_back(tail);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}
