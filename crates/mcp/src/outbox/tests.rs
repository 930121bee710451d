//! That messages come in order and once, that what is needed outlives what is not, and that a
//! newer reader ends the older.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::{Account, Keep, Outbox, Reader, Weight};

fn next(outbox: &Outbox, reader: &mut Reader) -> Option<Option<(u64, Bytes)>> {
    match outbox.poll_next(reader, &Context::from_waker(Waker::noop())) {
        Poll::Ready(message) => Some(message),
        Poll::Pending => None,
    }
}

fn rest(outbox: &Outbox, reader: &mut Reader) -> Vec<u64> {
    std::iter::from_fn(|| next(outbox, reader)?.map(|(number, _)| number)).collect()
}

fn push(outbox: &Outbox, size: usize, weight: Weight) {
    outbox.push(vec![b'x'; size].into(), weight);
}

#[test]
fn what_was_read_can_be_read_again() {
    let outbox = Outbox::new(Keep::ForReplay(1000));
    for _ in 0..3 {
        push(&outbox, 10, Weight::Notice);
    }
    let mut first = outbox.read(None);
    assert_eq!(rest(&outbox, &mut first), [1, 2, 3]);
    let mut again = outbox.read(Some(1));
    assert_eq!(rest(&outbox, &mut again), [2, 3]);
    assert_eq!(next(&outbox, &mut first), Some(None), "the older reader is over");
    outbox.end();
    push(&outbox, 10, Weight::Needed);
    assert_eq!(next(&outbox, &mut again), Some(None));
    assert!(outbox.is_read());
}

#[test]
fn without_replay_nothing_is_kept() {
    let outbox = Outbox::new(Keep::UntilRead(1000));
    push(&outbox, 10, Weight::Needed);
    let mut reader = outbox.read(None);
    assert_eq!(rest(&outbox, &mut reader), [1]);
    assert_eq!(outbox.bytes(), 0);
}

#[test]
fn notices_give_way() {
    for keep in [Keep::ForReplay(100), Keep::UntilRead(100)] {
        let outbox = Outbox::new(keep);
        push(&outbox, 60, Weight::Needed);
        for _ in 0..5_000 {
            push(&outbox, 30, Weight::Notice);
        }
        push(&outbox, 60, Weight::Needed);
        let mut reader = outbox.read(None);
        assert_eq!(rest(&outbox, &mut reader), [1, 5_002], "{keep:?}");
    }
}

#[test]
fn small_notices_are_bounded_too() {
    let outbox = Outbox::new(Keep::ForReplay(1_000_000));
    for _ in 0..5_000 {
        push(&outbox, 1, Weight::Notice);
    }
    let mut reader = outbox.read(None);
    assert_eq!(rest(&outbox, &mut reader).len(), super::NOTICES);
}

#[test]
fn what_is_kept_is_counted_and_bounded() {
    let all = Account::of_all(1_000);
    let (one, other) = (Account::of_one(&all, 100), Account::of_one(&all, 10_000));
    let outbox = Outbox::new(Keep::ForReplay(1_000));
    push(&outbox, 60, Weight::Needed);
    outbox.charge(&one);
    outbox.charge(&one);
    assert_eq!((one.kept(), all.kept()), (60, 60));
    for _ in 0..10 {
        push(&outbox, 30, Weight::Notice);
    }
    assert_eq!(one.kept(), 90, "notices give way when the caller keeps too much");
    assert_eq!(all.kept(), 90);
    push(&outbox, 5_000, Weight::Needed);
    assert!(one.is_full() && !all.is_full() && !other.is_full(), "it takes nobody else's room");
    assert_eq!((one.kept(), all.kept()), (5_060, 100));
    let second = Outbox::new(Keep::ForReplay(10_000));
    second.charge(&other);
    push(&second, 2_000, Weight::Needed);
    assert!(one.is_full() && other.is_full(), "all together is too much");
    drop(outbox);
    drop(second);
    assert!(!one.is_full());
    assert_eq!((one.kept(), all.kept()), (0, 0));
}

#[test]
fn what_is_let_go_is_read_once() {
    let outbox = Outbox::new(Keep::ForReplay(1_000));
    for _ in 0..4 {
        push(&outbox, 10, Weight::Needed);
    }
    let mut reader = outbox.read(None);
    assert_eq!(next(&outbox, &mut reader).flatten().map(|(number, _)| number), Some(1));
    outbox.let_go();
    assert_eq!(rest(&outbox, &mut reader), [2, 3, 4]);
    assert_eq!(outbox.bytes(), 0);
}
