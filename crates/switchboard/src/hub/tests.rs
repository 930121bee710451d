//! The names that everything relies on.

use super::*;

#[test]
fn constant_names_are_names() {
    assert_eq!(local_agent().as_str(), "local");
    assert_eq!(house_key().to_string(), "switchboard");
}
