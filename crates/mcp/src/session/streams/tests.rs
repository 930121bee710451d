//! Which streams of calls that are over are kept.

use std::sync::Arc;

use bytes::Bytes;

use super::{EventId, Streams};
use crate::outbox::{Account, Keep, Outbox, Weight};

/// The stream of a call that said so much and is over.
fn finished(streams: &mut Streams, size: usize, room: usize) -> EventId {
    let out = Arc::new(Outbox::new(Keep::ForReplay(room)));
    let stream = streams.add(out.clone());
    out.push(Bytes::from(vec![b'x'; size]), Weight::Needed);
    out.end();
    streams.finish(stream, room);
    EventId { life: streams.life(), stream, message: 0 }
}

#[test]
fn what_nobody_read_is_kept_within_the_room() {
    for (what, sizes, kept) in [
        ("one that fits", &[100][..], &[true][..]),
        ("one that does not", &[1_001], &[false]),
        ("the last ones", &[600, 300, 600], &[false, true, true]),
    ] {
        let mut streams = Streams::default();
        let ids: Vec<_> = sizes.iter().map(|size| finished(&mut streams, *size, 1_000)).collect();
        let found: Vec<_> = ids.iter().map(|id| streams.find(*id).is_some()).collect();
        assert_eq!(found, kept, "{what}");
    }
}

#[test]
fn a_caller_that_keeps_too_much_keeps_no_more() {
    let (all, mut sessions) = (Account::of_all(10_000), Vec::new());
    let account = Account::of_one(&all, 2_000);
    for _ in 0..100 {
        let mut streams = Streams::default();
        streams.charge(account.clone());
        finished(&mut streams, 900, 1_000);
        sessions.push(streams);
        assert!(account.kept() <= 2_000, "{} bytes", account.kept());
    }
    assert_eq!(account.kept(), 1_800);
    drop(sessions);
    assert_eq!(account.kept(), 0);
}
