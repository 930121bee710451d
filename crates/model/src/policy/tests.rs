//! Globs over names, and the order of strictness.

use super::*;

#[test]
fn patterns() {
    for (glob, name, matches) in [
        ("delete_*", "delete_repo", true),
        ("delete_*", "undelete_repo", false),
        ("*", "a/b.c", true),
        ("get_[ab]", "get_b", true),
        ("{get,list}_*", "list_x", true),
        ("Get*", "get_x", false),
    ] {
        assert_eq!(Pattern::parse(glob).unwrap().matches(name), matches, "{glob} {name}");
    }
    for bad in ["[a", "{a", "a\\", &"*".repeat(257)] {
        assert!(Pattern::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_strictest_is_the_max() {
    let judged = [Decision::Allow, Decision::Deny, Decision::Ask];
    assert_eq!(judged.into_iter().max(), Some(Decision::Deny));
}

/// `parse` lets a glob without brackets through unread, so every such one must compile.
#[test]
fn every_glob_without_brackets_is_one() {
    let letters = ["*", "?", "a", "/", ".", "!", "-", "^", ",", "ü", " "];
    for first in letters {
        for second in letters {
            for third in letters {
                let glob = format!("{first}{second}{third}");
                assert!(Glob::new(&glob).is_ok(), "{glob}");
                assert!(Pattern::parse(&glob).is_ok(), "{glob}");
            }
        }
    }
    assert!(Pattern::parse("[").is_err() && Pattern::parse("{a").is_err());
}
