//! That results are kept for their time, within their bounds, and for nobody else.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::kit::{agent, user};
use crate::port::Behind;
use switchboard_testkit::clock::ManualClock;

fn who(id: &str) -> Who {
    Who::agent(agent(id), Some(user("ann")))
}

fn results(bounds: Bounds) -> (Results, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new());
    (Results::new(clock.clone(), bounds), clock)
}

#[test]
fn nobody_elses() {
    let (results, _) = results(Bounds::default());
    let id = results.keep(&who("one"), "secret".into()).unwrap();
    assert_eq!(results.read(&who("one"), &id, 2).unwrap().text, "cret");
    let other_session = Who { session: Some("s".into()), ..who("one") };
    assert!(results.read(&other_session, &id, 0).is_some());
    let others = [
        who("two"),
        Who::agent(agent("one"), None),
        Who::agent(agent("one"), Some(user("bob"))),
        Who::user(user("ann")),
        Who { behind: Behind::Administrator, ..who("one") },
        Who::default(),
    ];
    for other in others {
        assert_eq!(results.read(&other, &id, 0), None, "{other:?}");
    }
    assert_eq!(results.read(&who("one"), "0-9", 0), None);
}

#[test]
fn ids_say_nothing() {
    let (results, _) = results(Bounds::default());
    let ids: Vec<_> = (0..100).map(|_| results.keep(&who("one"), "x".into()).unwrap()).collect();
    assert!(ids.iter().all(|id| id.len() == 32), "{ids:?}");
    let mut sorted = ids.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), 100);
    assert_ne!(sorted, ids, "they do not even tell which came first");
}

#[test]
fn what_nobody_asks_for_goes_by_itself() {
    let (results, clock) = results(Bounds { time: Duration::from_secs(60), ..Bounds::default() });
    results.keep(&who("one"), "old".into()).unwrap();
    clock.advance(Duration::from_secs(59));
    results.sweep();
    assert_eq!(results.bytes(), 3);
    clock.advance(Duration::from_secs(1));
    results.sweep();
    assert_eq!(results.bytes(), 0);
    assert!(results.0.kept.lock().unwrap().each.is_empty());
}

#[test]
fn for_a_time() {
    let (results, clock) = results(Bounds { time: Duration::from_secs(60), ..Bounds::default() });
    let old = results.keep(&who("one"), "old".into()).unwrap();
    clock.advance(Duration::from_secs(40));
    let new = results.keep(&who("one"), "new".into()).unwrap();
    assert!(results.read(&who("one"), &old, 0).is_some());
    clock.advance(Duration::from_secs(20));
    assert!(results.read(&who("one"), &old, 0).is_none());
    assert!(results.read(&who("one"), &new, 0).is_some());
    clock.advance(Duration::from_secs(40));
    assert!(results.read(&who("one"), &new, 0).is_none());
    assert_eq!(results.0.kept.lock().unwrap().total, 0);
    assert!(results.0.kept.lock().unwrap().each.is_empty());
}

#[test]
fn within_bounds() {
    let (results, _) = results(Bounds { total: 100, each: 60, ..Bounds::default() });
    let keep = |id: &str, size: usize| results.keep(&who(id), "x".repeat(size));
    let has = |id: &str, kept: &Arc<str>| results.read(&who(id), kept, 0).is_some();
    assert_eq!(keep("one", 61), None);
    let first = keep("one", 30).unwrap();
    let second = keep("one", 30).unwrap();
    let other = keep("two", 40).unwrap();
    assert!(has("one", &first) && has("one", &second) && has("two", &other));
    // The caller's own oldest goes first, then the oldest of all.
    let third = keep("one", 30).unwrap();
    assert!(!has("one", &first) && has("one", &second) && has("two", &other));
    let more = keep("two", 20).unwrap();
    assert!(!has("one", &second) && has("one", &third) && has("two", &other) && has("two", &more));
    assert!(results.0.kept.lock().unwrap().total <= 100);
}

#[test]
fn pages() {
    let (results, _) = results(Bounds { page: 4, ..Bounds::default() });
    let id = results.keep(&who("one"), "aé日😀!".into()).unwrap();
    let check = |from, expected: (&str, usize, usize)| {
        let page = results.read(&who("one"), &id, from).unwrap();
        assert_eq!((page.text.as_str(), page.from, page.to), expected, "{from}");
        assert_eq!(page.total, 11);
    };
    check(0, ("aé", 0, 3));
    check(3, ("日", 3, 6));
    check(5, ("日", 3, 6));
    check(6, ("😀", 6, 10));
    check(10, ("!", 10, 11));
    check(11, ("", 11, 11));
    check(usize::MAX, ("", 11, 11));
}
