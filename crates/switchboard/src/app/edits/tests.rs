//! What is told of changed files, as data.

use super::*;

fn seen(version: &str, parts: &[(&str, &str, &str)]) -> Seen {
    let part = |(name, file, digest): &(&str, &str, &str)| {
        (name.to_string(), Part { file: Some(PathBuf::from(file)), digest: digest.to_string() })
    };
    Seen { version: version.to_owned(), parts: parts.iter().map(part).collect() }
}

#[test]
fn what_came_went_and_changed_is_told_by_name() {
    let before =
        seen("1", &[("server a", "x", "1"), ("server b", "x", "1"), ("agent c", "y", "1")]);
    let now = seen("1", &[("server a", "x", "2"), ("server d", "z", "1"), ("agent c", "y", "1")]);
    let told = between(&before, &now, &BTreeSet::new()).told("running");
    assert_eq!(
        told,
        json!({"found": "running", "files": ["x", "z"], "added": ["server d"],
            "removed": ["server b"], "changed": ["server a"]})
    );
    assert_eq!(between(&now, &now, &BTreeSet::new()), Difference::default());
}

#[test]
fn another_version_is_no_change_of_a_file() {
    let before = seen("1", &[("server a", "x", "1"), ("server b", "x", "1")]);
    let now = seen("2", &[("server a", "x", "other words"), ("server b", "moved", "1")]);
    assert_eq!(between(&before, &now, &BTreeSet::new()).changed, ["server b"]);
}

#[test]
fn what_only_a_secret_says_otherwise_is_a_change_too() {
    let same = seen("1", &[("server a", "x", "1")]);
    let exactly = BTreeSet::from(["server a".to_owned()]);
    assert_eq!(between(&same, &same, &exactly).changed, ["server a"]);
}
