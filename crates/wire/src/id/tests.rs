//! Which ids are taken, what they are echoed as and which are the same.

use super::*;
use crate::json::tests::json;

#[test]
fn ids() {
    let check = |text: &str, expected: Option<IdKey>| {
        let id = Id::parse(json(text));
        assert_eq!(id.map(Id::key), expected, "{text}");
        if let Some(id) = id {
            assert_eq!(id.to_string(), text);
            assert_eq!(id.to_buf().as_json().as_str(), text);
            assert_eq!(id.to_buf().as_id().key(), id.key());
        }
    };
    let number = |number| Some(IdKey::Number(number));
    let text = |text: &str| Some(IdKey::Text(text.into()));
    let other = |text: &str| Some(IdKey::Other(text.into()));
    check("1", number(1));
    check("-1", number(-1));
    check("1.0", number(1));
    check("1e0", number(1));
    check("9223372036854775807", number(i64::MAX));
    check("9223372036854775808", other("9223372036854775808"));
    check("1.5", other("1.5"));
    check("\"1\"", text("1"));
    check(r#""\u0061""#, text("a"));
    check("\"a\"", text("a"));
    check("\"\"", text(""));
    check(r#""\ud800""#, other(r#""\ud800""#));
    check("null", None);
    check("true", None);
    check("[1]", None);
    check("{}", None);
    check(&format!("\"{}\"", "x".repeat(1022)), text(&"x".repeat(1022)));
    check(&format!("\"{}\"", "x".repeat(1023)), None);
}

#[test]
fn ours() {
    let check = |number: u64, written: &str| {
        let id = Id::from(number);
        assert_eq!(id.to_string(), written);
        assert_eq!(id.to_buf().as_json().as_str(), written);
        assert_eq!(Id::parse(json(written)).unwrap().key(), id.key());
    };
    check(0, "0");
    check(7, "7");
    check(1_234_567_890, "1234567890");
    check(u64::MAX, "18446744073709551615");
}
