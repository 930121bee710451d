//! What is hashed: every byte counts, and the hash never changes.

use super::{Chain, Link};
use crate::audit::words::Words;

fn words(of: &[Option<&str>]) -> Words {
    let mut words = Words::default();
    of.iter().for_each(|word| words.put_if(*word));
    words
}

fn hash(before: Link, words: &Words, lines: &str) -> [u8; 32] {
    let mut chain = Chain::after(before);
    chain.subject(words.bytes());
    chain.lines(lines.as_bytes());
    chain.hash()
}

#[test]
fn a_hash_is_the_same_in_every_version() {
    let hash = hash(Link::BEGINNING, &words(&[Some("a"), None, Some("")]), "[1,2]\n");
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "3ef2098e1046e1ae137852df8ab917566b4aec3624b7aa55a7065d74559a0967");
}

#[test]
fn everything_counts() {
    let right = words(&[Some("ab"), Some("c"), None]);
    let line = "[1,2,3]\n";
    let mut seen = std::collections::BTreeSet::from([hash(Link::BEGINNING, &right, line)]);
    let others = [
        &[Some("a"), Some("bc"), None][..],
        &[Some("ab"), None, Some("c")],
        &[Some("ab"), Some("c"), Some("")],
        &[Some("ab"), Some("c")],
    ];
    for other in others {
        assert!(seen.insert(hash(Link::BEGINNING, &words(other), line)), "{other:?}");
    }
    for line in ["[1,2,4]\n", "[1,2,3]\n[1,2,3]\n", "[1,2,3]"] {
        assert!(seen.insert(hash(Link::BEGINNING, &right, line)), "{line}");
    }
    let before = Link { seq: 1, ..Link::BEGINNING };
    assert!(seen.insert(hash(before, &right, line)));
    let before = Link { hash: [1; 32], ..Link::BEGINNING };
    assert!(seen.insert(hash(before, &right, line)));
}

/// However it was hashed in pieces.
#[test]
fn pieces_do_not_count() {
    let mut chain = Chain::after(Link::BEGINNING);
    chain.subject(words(&[Some("a")]).bytes());
    for line in ["[1", ",2]\n", "", "[3]\n"] {
        chain.lines(line.as_bytes());
    }
    assert_eq!(chain.hash(), hash(Link::BEGINNING, &words(&[Some("a")]), "[1,2]\n[3]\n"));
}
