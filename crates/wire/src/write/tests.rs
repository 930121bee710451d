//! What is written, to the byte, and that it can be read again.

use proptest::prelude::*;

use super::*;
use crate::json::tests::{any_json, json};
use crate::{Limits, Message};

fn check(write: impl Fn(&mut Vec<u8>), expected: &str) {
    let mut out = b"kept".to_vec();
    write(&mut out);
    assert_eq!(String::from_utf8(out).unwrap(), format!("kept{expected}"));
    assert!(Message::parse(expected.as_bytes(), &Limits::DEFAULT).is_ok(), "{expected}");
}

#[test]
fn messages() {
    let id = Id::parse(json("\"a\\u0062\"")).unwrap();
    check(
        |out| request(out, Id::from(7), "tools/list", None),
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#,
    );
    check(
        |out| request(out, id, "a\"b\n", Some(json("{ \"x\": 1.0 }"))),
        r#"{"jsonrpc":"2.0","id":"a\u0062","method":"a\"b\n","params":{ "x": 1.0 }}"#,
    );
    check(
        |out| notification(out, "n", Some(json("{}"))),
        r#"{"jsonrpc":"2.0","method":"n","params":{}}"#,
    );
    check(|out| notification(out, "n", None), r#"{"jsonrpc":"2.0","method":"n"}"#);
    check(
        |out| result(out, id, json("[1e2]")),
        r#"{"jsonrpc":"2.0","id":"a\u0062","result":[1e2]}"#,
    );
    check(
        |out| error(out, Some(id), -32602, "no \u{1} \\ é", Some(json("[1]"))),
        r#"{"jsonrpc":"2.0","id":"a\u0062","error":{"code":-32602,"message":"no \u0001 \\ é","data":[1]}}"#,
    );
    check(
        |out| error(out, None, 7, "", None),
        r#"{"jsonrpc":"2.0","error":{"code":7,"message":""}}"#,
    );
    check(
        |out| error_raw(out, Some(Id::from(1)), json(r#"{"code": 1, "x":2}"#)),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code": 1, "x":2}}"#,
    );
}

#[test]
fn written_in_place() {
    let good = |out: &mut Vec<u8>| {
        out.extend_from_slice(b"{}");
        Ok::<(), ()>(())
    };
    check(
        |out| request_with(out, Id::from(1), "m", good).unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#,
    );
    check(
        |out| notification_with(out, "m", good).unwrap(),
        r#"{"jsonrpc":"2.0","method":"m","params":{}}"#,
    );
    check(
        |out| result_with(out, Id::from(1), good).unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    );
    let mut out = b"kept".to_vec();
    let bad = |out: &mut Vec<u8>| {
        out.push(b'{');
        Err("broken")
    };
    assert_eq!(request_with(&mut out, Id::from(1), "m", bad), Err("broken"));
    assert_eq!(notification_with(&mut out, "m", bad), Err("broken"));
    assert_eq!(result_with(&mut out, Id::from(1), bad), Err("broken"));
    assert_eq!(out, b"kept");
}

#[test]
fn objects() {
    let written = object(|it| {
        it.text("t", "a\tb");
        it.integer("min", i64::MIN);
        it.integer("zero", 0);
        it.boolean("yes", true);
        it.raw("raw", json("[ 1 ]"));
        it.object("inner", |inner| inner.boolean("no", false));
        it.object("empty", |_| {});
        it.texts("names", ["a", "\""]);
        it.raws("list", [json("1"), json("{}")]);
        it.texts("none", []);
    });
    assert_eq!(
        written.as_json().as_str(),
        r#"{"t":"a\tb","min":-9223372036854775808,"zero":0,"yes":true,"raw":[ 1 ],"inner":{"no":false},"empty":{},"names":["a","\""],"list":[1,{}],"none":[]}"#
    );
    assert!(Json::parse(written.as_json().as_bytes(), &Limits::DEFAULT).is_ok());
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(payload in any_json(), method: String, number: u64) {
        let params = format!(r#"{{"p":{payload}}}"#);
        let mut out = Vec::new();
        request(&mut out, Id::from(number), &method, Some(json(&params)));
        let Ok(Message::Request(read)) = Message::parse(&out, &Limits::DEFAULT) else {
            panic!("not a request")
        };
        prop_assert_eq!(read.params.unwrap().as_str(), params.as_str());
        prop_assert_eq!(&*read.method, method.as_str());
        prop_assert_eq!(read.id.key(), Id::from(number).key());
        out.clear();
        result(&mut out, Id::from(number), json(&payload));
        let Ok(Message::Response(read)) = Message::parse(&out, &Limits::DEFAULT) else {
            panic!("not a response")
        };
        prop_assert_eq!(read.result, json(&payload));
    }
}
