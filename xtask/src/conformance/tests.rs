//! What counts as wrong, and how the suite is read.

use super::*;

#[test]
fn only_the_expected_may_fail_and_it_must() {
    let verdicts: Vec<Verdict> = [("a", true), ("b", true), ("c", false), ("d", false)]
        .map(|(name, passed)| Verdict {
            scenario: name.to_owned(),
            passed,
            skipped: BTreeSet::new(),
        })
        .into();
    let check = |listed: &[&str], expected: usize, wrong: &[&str]| {
        let failing = listed.iter().map(|name| (*name).to_owned()).collect();
        let listed = Listed { failing, ..Listed::default() };
        let outcome = compare(&verdicts, &listed);
        assert_eq!((outcome.passed, outcome.expected), (2, expected), "{listed:?}");
        let names: Vec<_> =
            outcome.wrong.iter().filter_map(|what| what.split(':').next()).collect();
        assert_eq!(names, wrong, "{listed:?}");
    };
    check(&["c", "d"], 2, &[]);
    check(&["c"], 1, &["d"]);
    check(&["b", "c", "d"], 2, &["b"]);
    check(&["c", "d", "e"], 2, &["e"]);
    check(&[], 0, &["c", "d"]);
}

#[test]
fn what_is_skipped_has_to_be_listed() {
    let verdict = |name: &str, passed, skipped: &[&str]| {
        let skipped = skipped.iter().map(|check| (*check).to_owned()).collect();
        Verdict { scenario: name.to_owned(), passed, skipped }
    };
    let verdicts =
        [verdict("a", true, &["x", "y"]), verdict("b", true, &[]), verdict("c", false, &["z"])];
    let check = |text: &str, passed: usize, wrong: &[&str]| {
        let listed = listed(&format!("server:\n  - c\nskipped:\n{text}")).unwrap();
        let outcome = compare(&verdicts, &listed);
        assert_eq!(outcome.passed, passed, "{text}");
        assert_eq!(outcome.wrong, wrong, "{text}");
    };
    check("  - a x # why\n  - a y # why\n", 2, &[]);
    check("  - a x # why\n", 1, &["a: skips y, and is not listed"]);
    let both = ["a: skips x, and is not listed", "a: skips y, and is not listed"];
    check("", 1, &both);
    let made = "b: does not skip x, so take it from the list";
    check("  - a x # why\n  - a y # why\n  - b x # why\n", 2, &[made]);
}

#[test]
fn lists_are_read_as_the_suite_writes_them() {
    let file = "# - why\nclient:\n  - auth/basic-cimd # comes later\n  - sse-retry\n";
    let all = listed(file).unwrap();
    assert_eq!(all.failing.into_iter().collect::<Vec<_>>(), ["auth/basic-cimd", "sse-retry"]);
    assert_eq!(all.skipped, BTreeSet::new());
    for bad in ["  - a", "  - a b", "  - a b #", "  - a # why"] {
        assert!(listed(&format!("skipped:\n{bad}\n")).is_err(), "{bad}");
    }
    let listing = "Required:\n\nServer scenarios (test against a server):\n  - ping\n\n\
                   Client scenarios (test against a client):\n  - initialize\n  - auth/var1\n\n\
                   Run and reported, but never scored:\n  extension (1):\n    - auth/dpop [client]\n";
    assert_eq!(required(listing, Side::Client), ["initialize", "auth/var1"]);
    assert_eq!(required(listing, Side::Server), ["ping"]);
}
