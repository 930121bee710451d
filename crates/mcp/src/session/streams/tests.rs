//! Which streams of calls that are over are kept.

use std::sync::Arc;

use bytes::Bytes;

use super::{EventId, Streams};
use crate::outbox::{Account, Accounts, Keep, Outbox, Weight};

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
    let accounts = Accounts::of_one(&all, 2_000);
    for _ in 0..100 {
        let mut streams = Streams::default();
        streams.charge(accounts.clone());
        finished(&mut streams, 900, 1_000);
        sessions.push(streams);
        assert!(accounts.bytes() <= 2_000, "{} bytes", accounts.bytes());
    }
    assert_eq!(accounts.bytes(), 1_800);
    drop(sessions);
    assert_eq!(accounts.bytes(), 0);
}

/// What somebody does not read counts for them, and for nobody else.
#[test]
fn what_waits_on_channels_takes_no_room_from_others() {
    let all = Account::of_all(10_000);
    let [one, other] = [(); 2].map(|()| Accounts::of_one(&all, 2_000));
    let mut channel = Streams::default();
    channel.charge(one.clone());
    let out = Arc::new(Outbox::new(Keep::UntilRead(0)));
    channel.set_own(out.clone());
    for (bytes, full, overdrawn) in
        [(2_000, false, false), (1_000, true, false), (20_000, true, true)]
    {
        out.push(vec![b'x'; bytes].into(), Weight::Needed);
        assert_eq!((channel.is_full(), channel.is_overdrawn()), (full, overdrawn), "{bytes}");
        assert!(!all.is_full() && !other.is_full(), "{bytes}");
    }
    drop((channel, out));
    assert_eq!(one.bytes(), 0);
}
