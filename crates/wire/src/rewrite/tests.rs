//! That edits do what they say, and nothing else.

use proptest::prelude::*;

use super::*;
use crate::Limits;
use crate::json::tests::{any_json, json};

fn check(object: &str, edits: &[Edit<'_>], expected: &str) {
    let got = edited(json(object), edits).unwrap();
    assert_eq!(got.as_json().as_str(), expected, "{object}");
    assert!(Json::parse(got.as_json().as_bytes(), &Limits::DEFAULT).is_ok(), "{expected}");
}

#[test]
fn replaced() {
    let name = &[Edit::text("name", "a\"b")];
    check(r#"{"name":"x"}"#, name, r#"{"name":"a\"b"}"#);
    check(
        r#"{ "arguments" : {"name":"x", "n": 1.0} , "na\u006de" : "up__x" ,"z":1}"#,
        name,
        r#"{ "arguments" : {"name":"x", "n": 1.0} , "na\u006de" : "a\"b" ,"z":1}"#,
    );
    check("{}", name, r#"{"name":"a\"b"}"#);
    check("{ }", name, r#"{"name":"a\"b" }"#);
    check(r#"{"a":1 }"#, name, r#"{"a":1,"name":"a\"b" }"#);
    check("null", name, r#"{"name":"a\"b"}"#);
    check(r#"{"n":1}"#, &[Edit::number("n", u64::MAX)], r#"{"n":18446744073709551615}"#);
    check(
        r#"{"b":1,"a":2}"#,
        &[Edit::set("a", json("[ ]")), Edit::set("c", Json::NULL)],
        r#"{"b":1,"a":[ ],"c":null}"#,
    );
    check(
        r#"{"a":null}"#,
        &[Edit::default("a", Json::EMPTY), Edit::default("b", Json::EMPTY)],
        r#"{"a":null,"b":{}}"#,
    );
}

#[test]
fn removed() {
    let gone = &[Edit::remove("x")];
    check("{}", gone, "{}");
    check(r#"{"x":1}"#, gone, "{}");
    check(r#"{ "x" : 1 }"#, gone, "{ }");
    check(r#"{"x":1,"a":2}"#, gone, r#"{"a":2}"#);
    check(r#"{"a":2,"x":1}"#, gone, r#"{"a":2}"#);
    check(r#"{ "a":2 , "x":1 , "b":3 }"#, gone, r#"{ "a":2 , "b":3 }"#);
    let both = &[Edit::remove("x"), Edit::remove("y"), Edit::text("z", "")];
    check(r#"{"x":1,"y":2}"#, both, r#"{"z":""}"#);
    check(r#"{"x":1,"a":0,"y":2}"#, both, r#"{"a":0,"z":""}"#);
    check(r#"{"a":0,"x":1,"y":2,"b":0}"#, both, r#"{"a":0,"b":0,"z":""}"#);
}

#[test]
fn inside() {
    let five = [Edit::number("progressToken", 5)];
    let token = &[Edit::inside("_meta", &five)];
    check(r#"{"name":"x"}"#, token, r#"{"name":"x","_meta":{"progressToken":5}}"#);
    check(
        r#"{"_meta":{"progressToken":"a" , "traceparent":"00"},"name":"x"}"#,
        token,
        r#"{"_meta":{"progressToken":5 , "traceparent":"00"},"name":"x"}"#,
    );
    check(r#"{"_meta":null}"#, token, r#"{"_meta":{"progressToken":5}}"#);
    check("{}", token, r#"{"_meta":{"progressToken":5}}"#);
    let none = [Edit::remove("progressToken")];
    let gone = &[Edit::inside("_meta", &none)];
    check(r#"{"a":1}"#, gone, r#"{"a":1}"#);
    check(r#"{"_meta":7}"#, gone, r#"{"_meta":7}"#);
    check(r#"{"_meta":{"progressToken":1}}"#, gone, r#"{"_meta":{}}"#);
}

#[test]
fn repeated_is_refused() {
    let check = |object: &str, edits: &[Edit<'_>], key| {
        assert_eq!(edited(json(object), edits), Err(Repeated(key)), "{object}");
    };
    check(r#"{"name":"a","name":"b"}"#, &[Edit::text("name", "x")], "name");
    check(r#"{"name":"a","n\u0061me":"b"}"#, &[Edit::text("name", "x")], "name");
    check(r#"{"x":1,"x":1}"#, &[Edit::remove("x")], "x");
    check(r#"{"_meta":{},"_meta":{}}"#, &[Edit::inside("_meta", &[])], "_meta");
    let inner = [Edit::remove("t")];
    check(r#"{"_meta":{"t":1,"t":2}}"#, &[Edit::inside("_meta", &inner)], "t");
    // What is not edited may be there as often as it likes.
    assert!(edited(json(r#"{"a":1,"a":2}"#), &[Edit::remove("x")]).is_ok());
}

proptest! {
    #[test]
    fn all_else_stays(before in any_json(), after in any_json(), name: String) {
        let object = format!(r#"{{"before":{before}, "name" :"old","after":{after}}}"#);
        let got = edited(json(&object), &[Edit::text("name", &name)]).unwrap();
        let written = serde_json::to_string(&name).unwrap();
        let got = got.as_json();
        prop_assert_eq!(got.get("name").unwrap().string().unwrap(), name.as_str());
        let (head, rest) = got.as_str().split_at(before.len() + 21);
        prop_assert_eq!(head, &object[..before.len() + 21]);
        let tail = format!(r#","after":{after}}}"#);
        prop_assert!(rest.ends_with(&tail), "{} {}", rest, written);
    }

    #[test]
    fn no_edit_is_no_change(object in any_json()) {
        let got = edited(json(&object), &[]).unwrap();
        let expected = if object.starts_with('{') { object.as_str() } else { "{}" };
        prop_assert_eq!(got.as_json().as_str(), expected);
    }

    #[test]
    fn what_is_added_can_be_taken_away(object in any_json()) {
        let added = edited(json(&object), &[Edit::number("\u{1}new", 1)]).unwrap();
        let gone = edited(added.as_json(), &[Edit::remove("\u{1}new")]).unwrap();
        let plain = edited(json(&object), &[]).unwrap();
        prop_assert_eq!(gone, plain);
    }
}
