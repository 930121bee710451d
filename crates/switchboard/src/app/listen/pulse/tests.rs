//! What is cut, by stories of connections in ticks; and who makes room.

use super::*;

const PATIENCE: Patience =
    Patience { tick: Duration::from_secs(1), head: 2, idle: 5, blocked: 3, end: Duration::ZERO };

/// What happens in each tick: `h` bytes come, `b` a request begins, `e` it is answered; `w` what is sent is not
/// read, `t` some of it is.
fn check(story: &[&str], cut: bool) {
    let pulses = Pulses::default();
    let open = pulses.open();
    let mut busy = None;
    for acts in story {
        for act in acts.chars() {
            match act {
                'h' => open.pulse.heard(),
                'b' => busy = Some(open.pulse.begin()),
                'w' => open.pulse.wrote(&Poll::<()>::Pending),
                't' => open.pulse.wrote(&Poll::Ready(())),
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
    check(&["hbw", "w", "w"], false);
    check(&["hbw", "w", "", "w"], true);
    check(&["hbw", "w", "tw", "w", "w"], false);
    check(&["hbw", "", "", "te", "", "", ""], false);
}

#[test]
fn whoever_reads_nothing_makes_room_when_nobody_is_idle() {
    let pulses = Pulses::default();
    let [reads, blocks, idle] = std::array::from_fn(|_| pulses.open());
    let (_one, _other) = (reads.pulse.begin(), blocks.pulse.begin());
    drop(idle.pulse.begin());
    blocks.pulse.wrote(&Poll::<()>::Pending);
    assert!(pulses.make_room() && idle.pulse.is_cut());
    assert!(!pulses.make_room(), "a moment is nothing");
    (0..PAUSE).for_each(|_| pulses.tick(PATIENCE));
    assert!(pulses.make_room() && blocks.pulse.is_cut());
    assert!(!pulses.make_room() && !reads.pulse.is_cut());
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
