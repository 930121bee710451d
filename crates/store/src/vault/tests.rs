//! The cipher: what is sealed opens only where it belongs.

use super::Slot;
use super::cipher::Key;

#[test]
fn a_value_opens_only_where_it_was_sealed() {
    let (key, other) = (Key::random().unwrap(), Key::random().unwrap());
    let here = Slot { owner: "servers", id: "a", field: "secrets" };
    let sealed = key.seal(b"canary", &here.bound_to(1)).unwrap();
    assert_eq!(&**key.open(&sealed, &here.bound_to(1)).unwrap(), b"canary");
    let elsewhere = [
        Slot { owner: "server", id: "sa", field: "secrets" },
        Slot { owner: "credentials", ..here },
        Slot { id: "b", ..here },
        Slot { field: "value", ..here },
    ];
    for slot in elsewhere {
        assert!(key.open(&sealed, &slot.bound_to(1)).is_none(), "{slot:?}");
    }
    assert!(key.open(&sealed, &here.bound_to(2)).is_none());
    assert!(other.open(&sealed, &here.bound_to(1)).is_none());
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert!(key.open(&changed, &here.bound_to(1)).is_none(), "byte {at}");
        assert!(key.open(&sealed[..at], &here.bound_to(1)).is_none(), "cut at {at}");
    }
    assert_ne!(sealed, key.seal(b"canary", &here.bound_to(1)).unwrap());
}
