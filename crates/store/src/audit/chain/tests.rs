//! What is hashed: every field counts, and the hash never changes.

use super::{Fields, Link};

fn full() -> Fields {
    Fields {
        at: 1,
        action: "mcp_tool_call".to_owned(),
        source: "mcp:github".to_owned(),
        words: std::array::from_fn(|n| Some(format!("w{n}"))),
        numbers: [Some(1), Some(2), Some(3)],
        texts: [Some("t".to_owned()), Some("d".to_owned())],
    }
}

#[test]
fn a_hash_is_the_same_in_every_version() {
    let hash = Link::BEGINNING.next(&full()).hash;
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "1e0b035c7955e612ab3d2f3af0e2840eb125c814d8491db44c4a4956dcad3419");
}

#[test]
fn every_field_counts() {
    let right = Link::BEGINNING.next(&full());
    let mut edits: Vec<Fields> = Vec::new();
    edits.push(Fields { at: 2, ..full() });
    edits.push(Fields {
        action: "mcp_tool_cal".to_owned(),
        source: "lmcp:github".to_owned(),
        ..full()
    });
    edits.push(Fields { source: "mcp:gitlab".to_owned(), ..full() });
    for n in 0..7 {
        for value in [None, Some(String::new()), Some("other".to_owned())] {
            let mut edit = full();
            edit.words[n] = value;
            edits.push(edit);
        }
    }
    for n in 0..3 {
        let mut edit = full();
        edit.numbers[n] = None;
        edits.push(edit);
    }
    for n in 0..2 {
        let mut edit = full();
        edit.texts[n] = None;
        edits.push(edit);
    }
    for edit in edits {
        assert_ne!(Link::BEGINNING.next(&edit), right, "{edit:?}");
    }
    assert_ne!(right.next(&full()).hash, Link { seq: 5, ..right }.next(&full()).hash);
}
