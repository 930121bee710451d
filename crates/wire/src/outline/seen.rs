//! What clients of the stateless era say of themselves with every request is the same bytes each time. The last few that
//! were checked are kept, a set for each thread: the same bytes are as good the second time.

use std::cell::RefCell;

use super::find::Inner;
use super::{IN_META, META, Span};
use crate::json::{Checker, Step};

/// How many are kept, and how long one may be.
const KEPT: usize = 4;
const LONGEST: usize = 1024;

thread_local! {
    static SEEN: RefCell<Seen> = const { RefCell::new(Seen { next: 0, all: [const { None }; KEPT] }) };
}

struct Seen {
    next: usize,
    all: [Option<Known>; KEPT],
}

/// A `_meta` that was checked, and where its members are.
struct Known {
    bytes: Box<[u8]>,
    /// How deep it may have been: it is good wherever there is as much room.
    room: usize,
    members: [Span; IN_META.len()],
}

/// Passes the `_meta` that begins at `at`.
pub(super) fn pass(checker: &mut Checker<'_>, at: usize, mut inner: Inner<'_>) -> Step {
    let shift = u32::try_from(at - inner.base).unwrap_or(u32::MAX);
    let known = SEEN.with_borrow(|seen| {
        let found = seen.all.iter().flatten().find(|one| one.is_at(checker, at))?;
        Some((found.bytes.len(), found.members))
    });
    if let Some((length, members)) = known {
        for (place, span) in members.into_iter().enumerate() {
            if span.is_there() {
                inner.outline.note_meta(place, span.shifted(shift));
            }
        }
        return Ok(at + length);
    }
    let end = checker.pass_object(at, &mut inner)?;
    // Of a second one, the outline has members of the first.
    let is_first = !inner.outline.params[META].is_there();
    if is_first && end - at <= LONGEST && inner.outline.repeated.is_none() {
        keep(checker, at, end, inner.outline.meta.map(|span| span.back(shift)));
    }
    Ok(end)
}

#[cold]
fn keep(checker: &Checker<'_>, at: usize, end: usize, members: [Span; IN_META.len()]) {
    let bytes = checker.rest(at).get(..end - at).unwrap_or_default().into();
    SEEN.with_borrow_mut(|seen| {
        let next = seen.next;
        seen.all[next] = Some(Known { bytes, room: checker.room(), members });
        seen.next = (next + 1) % KEPT;
    });
}

impl Known {
    /// An object ends where its brackets match, so what begins with it is it.
    fn is_at(&self, checker: &Checker<'_>, at: usize) -> bool {
        checker.room() >= self.room && checker.rest(at).starts_with(&self.bytes)
    }
}

impl Span {
    fn back(self, by: u32) -> Self {
        match self.is_there() {
            true => Self { start: self.start - by, end: self.end - by },
            false => self,
        }
    }
}
