//! What counts as wrong, and how the suite is read.

use super::*;

#[test]
fn only_the_expected_may_fail_and_it_must() {
    let verdicts: Vec<Verdict> = [("a", true), ("b", true), ("c", false), ("d", false)]
        .map(|(name, passed)| Verdict { scenario: name.to_owned(), passed })
        .into();
    let check = |listed: &[&str], expected: usize, wrong: &[&str]| {
        let listed = listed.iter().map(|name| (*name).to_owned()).collect();
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
fn lists_are_read_as_the_suite_writes_them() {
    let file = "# - why\nclient:\n  - auth/basic-cimd # comes later\n  - sse-retry\n";
    assert_eq!(listed(file).into_iter().collect::<Vec<_>>(), ["auth/basic-cimd", "sse-retry"]);
    let listing = "Required:\n\nServer scenarios (test against a server):\n  - ping\n\n\
                   Client scenarios (test against a client):\n  - initialize\n  - auth/var1\n\n\
                   Run and reported, but never scored:\n  extension (1):\n    - auth/dpop [client]\n";
    assert_eq!(required(listing), ["initialize", "auth/var1"]);
}

#[test]
fn a_suite_without_a_verdict_is_an_error() {
    let cases = [
        (Some(0), "✅ OVERALL: PASSED", Some(true)),
        (Some(1), "❌ OVERALL: FAILED", Some(false)),
        (Some(1), "no such scenario", None),
        (Some(0), "", None),
        (Some(1), "✅ OVERALL: PASSED", None),
        (None, "❌ OVERALL: FAILED", None),
    ];
    for (code, said, expected) in cases {
        assert_eq!(verdict(code, said).ok(), expected, "{code:?} {said}");
    }
}

#[test]
fn the_committed_lists_hold_only_authorization() {
    for (revision, _) in REVISIONS {
        let file = environment::root().join(EXPECTED).join(format!("{revision}.yml"));
        let names = listed(&fs::read_to_string(file).expect("it is committed"));
        assert!(names.iter().all(|name| name.starts_with("auth/")), "{revision}: {names:?}");
    }
}
