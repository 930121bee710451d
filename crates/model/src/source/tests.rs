//! Lines, columns and masks, also where characters are wide.

use super::*;

#[test]
fn lines_and_columns() {
    let source = Source::new("f", "ab\nçd\r\n\nx", |_| Vec::new());
    for (at, place) in [
        (0, (1, 1)),
        (2, (1, 3)),
        (3, (2, 1)),
        (4, (2, 1)),
        (5, (2, 2)),
        (8, (3, 1)),
        (9, (4, 1)),
        (99, (4, 2)),
    ] {
        assert_eq!(source.line_column(at), place, "byte {at}");
    }
    assert_eq!(
        [source.line(1), source.line(2), source.line(3), source.line(9), source.line(0)],
        ["ab", "çd", "", "", ""]
    );
    assert_eq!(source.clamp(&(4..99)), 3..10);
}

#[test]
fn masks_keep_every_place() {
    let text = "k = \"hunter2\"\nt = \"ghp_0123456789abcdefghij\"\né = 'süß'";
    let at = text.find("hunter2").unwrap();
    let wide = text.find("süß").unwrap();
    let source = Source::new("f", text, move |_| vec![at..at + 7, wide..wide + 5]);
    assert_eq!(source.line(1), "k = \"*******\"");
    assert_eq!(source.line(2), "t = \"************************\"");
    assert_eq!(source.line(3), "é = '*****'");
    assert_eq!(source.text().len(), text.len());
    assert!(!format!("{source:?}").contains("k ="));
}
