//! That there are never more turns than the limit, whatever is lent and resized.

use tokio_util::task::TaskTracker;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Act {
    Take,
    GiveBack,
    Lend,
    Reclaim,
    Resize(u32),
}

/// Does all of it in order; says how many turns are left.
#[track_caller]
fn check(limit: u32, acts: &[Act], left: usize) {
    let turns = Turns::new(limit);
    let (mut taken, mut lent, mut limit) = (Vec::new(), Vec::new(), limit);
    for act in acts {
        match act {
            Act::Take => {
                turns.free.try_acquire().unwrap().forget();
                taken.push(Turn(&turns));
            }
            Act::GiveBack => drop(taken.pop()),
            Act::Lend => lent.push(turns.lent()),
            Act::Reclaim => drop(lent.pop()),
            Act::Resize(new) => {
                turns.resize(limit, *new);
                limit = *new;
            }
        }
    }
    assert_eq!(turns.free.available_permits(), left, "{acts:?}");
    drop((taken, lent));
    assert_eq!(turns.free.available_permits(), limit as usize, "in the end: {acts:?}");
}

#[test]
fn turns_are_lent_and_taken_back() {
    use Act::{GiveBack, Lend, Reclaim, Resize, Take};
    check(2, &[Take], 1);
    check(1, &[Take, Lend], 1);
    check(1, &[Take, Lend, Reclaim], 0);
    // The call goes on although another has its turn; the next but one waits for both.
    check(1, &[Take, Lend, Take, Reclaim], 0);
    check(1, &[Take, Lend, Take, Reclaim, GiveBack], 0);
    check(1, &[Take, Lend, Take, Reclaim, GiveBack, GiveBack], 1);
    check(2, &[Take, Take, Resize(1)], 0);
    check(2, &[Take, Take, Resize(1), GiveBack], 0);
    check(2, &[Take, Take, Resize(1), Lend], 0);
    check(2, &[Take, Take, Resize(1), Resize(3)], 1);
}

#[tokio::test]
async fn who_waited_begins_after_all_that_is_ready() {
    let (turns, order) = (Turns::new(1), Arc::new(std::sync::Mutex::new(Vec::new())));
    let note = |what| {
        let order = order.clone();
        move || order.lock().unwrap().push(what)
    };
    let (tasks, held) = (TaskTracker::new(), turns.try_take().unwrap());
    let (waits, begun, done) = (turns.clone(), note("begun"), note("done"));
    let waiting = tasks.spawn(async move {
        let _turn = waits.take().await.unwrap();
        begun();
    });
    yield_now().await;
    drop(held);
    // Ready later than the one whose turn it is.
    let ready = tasks.spawn(async move { done() });
    ready.await.unwrap();
    waiting.await.unwrap();
    assert_eq!(*order.lock().unwrap(), ["done", "begun"]);
    assert_eq!(turns.free.available_permits(), 1);
}
