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
    assert_eq!(required(listing, Side::Client), ["initialize", "auth/var1"]);
    assert_eq!(required(listing, Side::Server), ["ping"]);
}
