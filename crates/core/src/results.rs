//! Results that were too long to be given whole: kept for a time, within bounds, each for the one
//! who made the call.

mod answer;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use switchboard_model::{AgentId, Clock, UserId};

pub(crate) use answer::{FAMILY, URI, is_uri, uri};
pub use answer::{template, tool};

use crate::port::{Behind, Who};

/// How much is kept, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes in all.
    pub total: usize,
    /// Bytes for one caller.
    pub each: usize,
    /// For how long.
    pub time: Duration,
    /// Bytes on one page.
    pub page: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            total: 64 * 1024 * 1024,
            each: 16 * 1024 * 1024,
            time: Duration::from_secs(30 * 60),
            page: 50_000,
        }
    }
}

/// A part of a kept result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultPage {
    /// The text.
    pub text: String,
    /// The byte that it begins at.
    pub from: usize,
    /// The byte after its last.
    pub to: usize,
    /// Bytes in all.
    pub total: usize,
}

/// The kept results. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Results(Arc<Inner>);

struct Inner {
    clock: Arc<dyn Clock>,
    bounds: Bounds,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Oldest first.
    all: VecDeque<One>,
    total: usize,
    each: HashMap<Owner, usize>,
}

/// Who made the call, whatever the session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Owner(Option<AgentId>, Option<UserId>, Behind);

struct One {
    id: Arc<str>,
    owner: Owner,
    text: Arc<str>,
    until: Instant,
}

impl Results {
    /// Nothing is kept yet.
    pub fn new(clock: Arc<dyn Clock>, bounds: Bounds) -> Self {
        Self(Arc::new(Inner { clock, bounds, kept: Mutex::default() }))
    }

    /// Keeps a text for a caller; its id, or `None` if it is more than may be kept. What is too old
    /// goes, then the caller's oldest, then the oldest of all.
    pub fn keep(&self, who: &Who, text: String) -> Option<Arc<str>> {
        let Bounds { total, each, time, .. } = self.0.bounds;
        let size = text.len();
        if size > each.min(total) {
            return None;
        }
        let id = unguessable()?;
        let now = self.0.clock.monotonic();
        let owner = Owner::of(who);
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.drop_old(now);
        kept.make_room(each - size, Some(&owner));
        kept.make_room(total - size, None);
        kept.total += size;
        *kept.each.entry(owner.clone()).or_default() += size;
        let until = now + time;
        kept.all.push_back(One { id: id.clone(), owner, text: text.into(), until });
        Some(id)
    }

    /// The part of a kept text that begins at a byte, or a little before so as not to split a
    /// character; `None` if it is not, or no longer, kept for this caller.
    pub fn read(&self, who: &Who, id: &str, from: usize) -> Option<ResultPage> {
        let text = self.whole(who, id)?;
        let from = text.floor_char_boundary(from.min(text.len()));
        // A page has at least one character, or reading would never end.
        let end = text.floor_char_boundary((from + self.0.bounds.page).min(text.len()));
        let to = if end > from { end } else { text.ceil_char_boundary((from + 1).min(text.len())) };
        Some(ResultPage { text: text[from..to].to_owned(), from, to, total: text.len() })
    }

    /// All of a kept text.
    pub(crate) fn whole(&self, who: &Who, id: &str) -> Option<Arc<str>> {
        let owner = Owner::of(who);
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.drop_old(self.0.clock.monotonic());
        let one = kept.all.iter().find(|one| *one.id == *id && one.owner == owner)?;
        Some(one.text.clone())
    }

    /// Lets go of what is too old, also where nobody keeps or reads anything meanwhile.
    pub fn sweep(&self) {
        let now = self.0.clock.monotonic();
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).drop_old(now);
    }

    /// Bytes that are kept.
    pub fn bytes(&self) -> usize {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).total
    }

    /// For how long results are kept.
    pub(crate) fn minutes(&self) -> u64 {
        self.0.bounds.time.as_secs().div_ceil(60)
    }
}

impl Owner {
    fn of(who: &Who) -> Self {
        Self(who.agent.clone(), who.user.clone(), who.behind)
    }
}

/// An id that says nothing, not even of how many there are; `None` if there is no randomness.
fn unguessable() -> Option<Arc<str>> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_le_bytes(bytes)).into())
}

impl Kept {
    fn drop_old(&mut self, now: Instant) {
        while self.all.front().is_some_and(|one| one.until <= now) {
            self.remove(0);
        }
    }

    /// Removes the oldest, of one owner or of all, until at most `bound` bytes are left.
    fn make_room(&mut self, bound: usize, of: Option<&Owner>) {
        loop {
            let used = match of {
                Some(owner) => self.each.get(owner).copied().unwrap_or_default(),
                None => self.total,
            };
            if used <= bound {
                return;
            }
            let oldest = self.all.iter().position(|one| of.is_none_or(|of| one.owner == *of));
            match oldest {
                Some(at) => self.remove(at),
                None => return,
            }
        }
    }

    fn remove(&mut self, at: usize) {
        let Some(one) = self.all.remove(at) else { return };
        self.total -= one.text.len();
        if let Some(used) = self.each.get_mut(&one.owner) {
            *used -= one.text.len();
            if *used == 0 {
                self.each.remove(&one.owner);
            }
        }
    }
}
