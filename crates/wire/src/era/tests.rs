//! Which revisions there are and which one is spoken.

use super::*;

#[test]
fn names() {
    for revision in Revision::SUPPORTED {
        assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        assert_eq!(revision.to_string(), revision.as_str());
    }
    for unknown in ["", "2025-11-26", "draft", "2024-11-05 ", "1900-01-01"] {
        assert_eq!(Revision::parse(unknown), None);
    }
    assert!(Revision::SUPPORTED.is_sorted_by(|a, b| a > b), "newest first");
    assert!(Revision::supported().is_sorted_by(|a, b| a > b), "and their names too");
    assert!(V2024_11_05.era() == Era::Session && V2026_07_28.era() == Era::Stateless);
}

#[test]
fn answered_to_initialize() {
    let check = |asked, expected| assert_eq!(Revision::answer(asked), expected, "{asked}");
    check("2024-11-05", V2024_11_05);
    check("2025-11-25", V2025_11_25);
    check("2026-07-28", V2025_11_25);
    check("2099-01-01", V2025_11_25);
    check("", V2025_11_25);
}

#[test]
fn chosen_from_an_offer() {
    let check = |offer: &[&str], expected| {
        assert_eq!(Revision::choose(offer.iter().copied()), expected, "{offer:?}");
    };
    check(&[], None);
    check(&["2099-01-01"], None);
    check(&["2025-06-18", "2099-01-01", "2024-11-05"], Some(V2025_06_18));
    check(&["2025-11-25", "2026-07-28"], Some(V2026_07_28));
}

#[test]
fn peculiarities() {
    let batches: Vec<_> = Revision::SUPPORTED.into_iter().filter(|it| it.has_batches()).collect();
    assert_eq!(batches, [V2025_03_26]);
    assert!(!V2025_03_26.has_version_header() && V2025_06_18.has_version_header());
}
