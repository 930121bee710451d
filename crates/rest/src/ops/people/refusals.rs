//! Sign-ins that were refused, written into the audit log: the first few of a minute each by itself, the
//! rest as a count, so that nobody can flood the log. Never knows a password, nor a name that is nobody's.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_model::{CallOrigin, Outcome, UserId};
use switchboard_store::{Actor, Entry};

use crate::api::Api;

/// So many have a row of their own within the time.
const ROWS: u32 = 5;
/// The time.
const WINDOW: Duration = Duration::from_secs(60);

/// Refusals, for each person that was tried, and together for everybody who does not exist.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<HashMap<Option<UserId>, Counted>>);

struct Counted {
    since: Instant,
    /// Rows that were written since.
    rows: u32,
    /// Refusals that are in no row yet.
    more: u64,
    /// Whether somebody will write them.
    awaited: bool,
}

/// What is to be written.
#[derive(Debug, Default, PartialEq, Eq)]
struct Due {
    /// A row that stands for so many of an earlier minute.
    earlier: u64,
    /// A row for this one.
    row: bool,
    /// A row for what comes, later.
    later: bool,
}

/// A sign-in was refused; `tried` is the name that was given, if it can be one.
pub(super) fn note(api: &Api, way: &'static str, tried: Option<&UserId>) {
    let known = tried.and_then(|id| api.store().access().user(id)).map(|user| user.id.clone());
    let due = api.refusals().count(known.as_ref(), api.clock().monotonic());
    let api = api.clone();
    // Behind the answer, which takes as long whether there is such a person or not.
    api.tasks().clone().spawn(async move {
        if due.earlier > 0 {
            write(&api, known.as_ref(), way, Some(due.earlier)).await;
        }
        if due.row {
            write(&api, known.as_ref(), way, None).await;
        }
        if due.later {
            tokio::select! {
                () = tokio::time::sleep(WINDOW) => {}
                () = api.end().cancelled() => {}
            }
            let rest = api.refusals().rest(known.as_ref());
            if rest > 0 {
                write(&api, known.as_ref(), way, Some(rest)).await;
            }
        }
    });
}

async fn write(api: &Api, user: Option<&UserId>, way: &str, count: Option<u64>) {
    let by = Actor { user: user.cloned(), origin: Some(CallOrigin::Page), ..Actor::default() };
    let mut entry = Entry::act(api.clock().now(), &by, "user.sign_in_refused");
    entry.outcome = Some(Outcome::Refused);
    let mut detail = json!({"way": way});
    if let Some(user) = user {
        detail["user"] = json!(user.as_str());
    }
    if let Some(count) = count {
        detail["count"] = json!(count);
    }
    entry.detail = Some(detail);
    if let Err(error) = api.store().audit().append(entry).await {
        tracing::warn!(%error, "a sign-in that was refused is not in the audit log");
    }
}

impl Refusals {
    fn count(&self, user: Option<&UserId>, now: Instant) -> Due {
        let mut all = self.lock();
        let fresh = Counted { since: now, rows: 0, more: 0, awaited: false };
        let counted = all.entry(user.cloned()).or_insert(fresh);
        let mut due = Due::default();
        if now >= counted.since + WINDOW {
            due.earlier = std::mem::take(&mut counted.more);
            (counted.since, counted.rows) = (now, 0);
        }
        if counted.rows < ROWS {
            counted.rows += 1;
            due.row = true;
        } else {
            counted.more += 1;
            due.later = !std::mem::replace(&mut counted.awaited, true);
        }
        due
    }

    /// What is in no row yet; whoever asks writes it.
    fn rest(&self, user: Option<&UserId>) -> u64 {
        let mut all = self.lock();
        let Some(counted) = all.get_mut(&user.cloned()) else { return 0 };
        counted.awaited = false;
        std::mem::take(&mut counted.more)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<UserId>, Counted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use switchboard_model::{Clock as _, SystemClock};

    use super::*;

    #[test]
    fn a_flood_is_a_few_rows_and_a_count() {
        let (refusals, now) = (Refusals::default(), SystemClock.monotonic());
        let rows = (0..1000).map(|_| refusals.count(None, now)).collect::<Vec<_>>();
        assert_eq!(rows.iter().filter(|due| due.row).count(), 5);
        assert_eq!(rows.iter().filter(|due| due.later).count(), 1);
        let bob = UserId::parse("bob").unwrap();
        assert!(refusals.count(Some(&bob), now).row, "everybody is counted by themselves");
        let next = refusals.count(None, now + WINDOW);
        assert_eq!(next, Due { earlier: 995, row: true, later: false });
        assert_eq!(refusals.rest(None), 0, "each is counted once");
    }
}
