//! Which bytes are a message, of which kind, and how the others are refused.

use proptest::prelude::*;

use super::*;
use crate::json::tests::any_json;

/// A message in one line: kind, id, method, payload.
fn show(message: &Message<'_>) -> String {
    let raw = |json: &Option<Json<'_>>| json.map_or("-", Json::as_str).to_owned();
    match message {
        Message::Request(it) => format!("request {} {} {}", it.id, it.method, raw(&it.params)),
        Message::Notification(it) => format!("notification {} {}", it.method, raw(&it.params)),
        Message::Response(it) => format!("response {} {}", it.id, it.result.as_str()),
        Message::Failure(it) => {
            let id = it.id.map_or("-".to_owned(), |id| id.to_string());
            let error = &it.error;
            format!("failure {id} {} {} {}", error.code, error.message, raw(&error.data))
        }
    }
}

fn show_refusal(refusal: &Refusal<'_>) -> String {
    let id = refusal.id.map_or("-".to_owned(), |id| id.to_string());
    format!("{} {id} {refusal}", refusal.fault.code())
}

fn read(text: &str) -> String {
    match Message::parse(text.as_bytes(), &Limits::DEFAULT) {
        Ok(message) => show(&message),
        Err(refusal) => show_refusal(&refusal),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(read(text), *expected, "{text}");
        // Alone it is the same whether batches are taken or not.
        let incoming = match Incoming::parse(text.as_bytes(), &Limits::DEFAULT) {
            Ok(Incoming::One(message)) => show(&message),
            Ok(Incoming::Batch(_)) => "batch".to_owned(),
            Err(refusal) => show_refusal(&refusal),
        };
        assert_eq!(incoming, *expected, "{text}");
    }
}

#[test]
fn taken() {
    check(TAKEN);
}

const TAKEN: &[(&str, &str)] = &[
    (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping -"),
    (
        r#" { "method" : "tools/call" , "params" : { "b" : 1.0, "a":[ ] } , "id" : "x" , "jsonrpc" : "2.0" } "#,
        r#"request "x" tools/call { "b" : 1.0, "a":[ ] }"#,
    ),
    (
        r#"{"jsonrpc":"2.0","id":9223372036854775809,"method":"m","params":{"n":9223372036854775809,"s":"\ud800"}}"#,
        r#"request 9223372036854775809 m {"n":9223372036854775809,"s":"\ud800"}"#,
    ),
    (r#"{"jsonrpc":"2.0","id":1.50,"method":"m"}"#, "request 1.50 m -"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"a\u002fb","params":null}"#, "request 1 a/b -"),
    (r#"{"json\u0072pc":"2.0","\u0069d":1,"m\u0065thod":"m"}"#, "request 1 m -"),
    (r#"{"jsonrpc":"2.\u0030","method":"n","params":{}}"#, "notification n {}"),
    (r#"{"jsonrpc":"2.0","method":"","extra":[{"id":2}],"x":null}"#, "notification  -"),
    (r#"{"jsonrpc":"2.0","id":1,"result":{"a": 1}}"#, r#"response 1 {"a": 1}"#),
    (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "response 1 null"),
    (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#, "response 1 {}"),
    (
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":[1]}}"#,
        "failure 1 -32601 no [1]",
    ),
    (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{}}"#, "failure 1 0  -"),
    (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1e0}}"#, "failure - 1  -"),
    (r#"{"jsonrpc":"2.0","error":{"message":7}}"#, "failure - 0  -"),
];

#[test]
fn refused() {
    check(REFUSED);
}

const REFUSED: &[(&str, &str)] = &[
    ("", "-32700 - the message is not JSON at byte 0"),
    ("hello", "-32700 - the message is not JSON at byte 0"),
    (r#"{"jsonrpc":"2.0","id":1"#, "-32700 - the message is not JSON at byte 23"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"m"}}"#, "-32700 - the message is not JSON at byte 37"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"m",}"#, "-32700 - the message is not JSON at byte 37"),
    (r#"{"id":1}}"#, "-32700 - the message is not JSON at byte 8"),
    ("7", "-32600 - not a JSON-RPC message: it is not an object"),
    ("null", "-32600 - not a JSON-RPC message: it is not an object"),
    (r#"{"id":1,"method":"m"}"#, "-32600 1 not a JSON-RPC message: `jsonrpc` is not \"2.0\""),
    (
        r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#,
        "-32600 1 not a JSON-RPC message: `jsonrpc` is not \"2.0\"",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1}"#,
        "-32600 1 not a JSON-RPC message: it has neither a `method` nor an answer",
    ),
    (
        r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
        "-32600 - not a JSON-RPC message: `id` is not a short string or a number",
    ),
    (
        r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#,
        "-32600 - not a JSON-RPC message: `id` is not a short string or a number",
    ),
    (
        r#"{"jsonrpc":"2.0","result":{}}"#,
        "-32600 - not a JSON-RPC message: `id` is not a short string or a number",
    ),
    (
        r#"{"jsonrpc":"2.0","id":{},"error":{}}"#,
        "-32600 - not a JSON-RPC message: `id` is not a short string or a number",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        "-32600 1 not a JSON-RPC message: `method` is not a string",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#,
        "-32600 1 not a JSON-RPC message: `params` is not an object",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
        "-32600 1 not a JSON-RPC message: it has a `method` and an answer",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        "-32600 1 not a JSON-RPC message: it has a `result` and an `error`",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#,
        "-32600 1 not a JSON-RPC message: `error` is not an object",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"b"}"#,
        "-32600 1 not a JSON-RPC message: `method` is there twice",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"a","id":2}"#,
        "-32600 - not a JSON-RPC message: `id` is there twice",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}"#,
        "-32600 1 not a JSON-RPC message: `params` is there twice",
    ),
];

#[test]
fn bounded() {
    let check = |bytes: &[u8], limits: Limits, expected: Fault| {
        let refusal = Message::parse(bytes, &limits).unwrap_err();
        assert_eq!((refusal.fault, refusal.id), (expected, None));
    };
    let message = br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[]}}"#;
    let limits = Limits { max_depth: 3, max_bytes: message.len(), ..Limits::DEFAULT };
    assert!(Message::parse(message, &limits).is_ok());
    check(message, Limits { max_depth: 2, ..limits }, Fault::TooDeep { at: 51, limit: 2 });
    check(message, Limits { max_bytes: 54, ..limits }, Fault::TooLarge { size: 55, limit: 54 });
    check(b"{\"a\":\"\xff\"}", limits, Fault::NotUtf8 { at: 6 });
    let head = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":"#;
    for open in ["[", "{\"a\":"] {
        let deep = format!("{head}{}", open.repeat(100_000));
        let refusal = Message::parse(deep.as_bytes(), &Limits::DEFAULT).unwrap_err();
        assert!(matches!(refusal.fault, Fault::TooDeep { limit: 128, .. }), "{refusal}");
    }
}

#[test]
fn batches() {
    let limits = Limits { max_batch: 3, ..Limits::DEFAULT };
    let check = |text: &str, expected: Result<&[&str], Fault>| {
        let got = Incoming::parse(text.as_bytes(), &limits);
        let got = got.map_err(|refusal| refusal.fault).map(|incoming| match incoming {
            Incoming::One(_) => panic!("one message: {text}"),
            Incoming::Batch(messages) => messages
                .iter()
                .map(|message| message.as_ref().map_or_else(show_refusal, show))
                .collect::<Vec<_>>(),
        });
        let expected = expected.map(|lines| lines.iter().map(|&line| line.to_owned()).collect());
        assert_eq!(got, expected, "{text}");
    };
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    check("[]", Err(Fault::EmptyBatch));
    check(" [ \n] ", Err(Fault::EmptyBatch));
    check(&format!("[{ping}]"), Ok(&["request 1 ping -"]));
    check(
        &format!(" [ {ping} , 7 ,\n{{\"id\":2}} ]"),
        Ok(&[
            "request 1 ping -",
            "-32600 - not a JSON-RPC message: it is not an object",
            "-32600 2 not a JSON-RPC message: `jsonrpc` is not \"2.0\"",
        ]),
    );
    check(&format!("[{ping},{ping},{ping},{ping}]"), Err(Fault::BatchTooLarge { limit: 3 }));
    check(&format!("[{ping},]"), Err(Fault::NotJson { at: 42 }));
    check(&format!("[{ping}"), Err(Fault::NotJson { at: 41 }));
    check(&format!("[{ping}]]"), Err(Fault::NotJson { at: 42 }));
    check(&format!("[[{ping}]]"), Ok(&["-32600 - not a JSON-RPC message: it is not an object"]));
    let one = Message::parse(b" []", &limits).unwrap_err();
    assert_eq!(one.fault, Fault::UnexpectedBatch);
}

proptest! {
    #[test]
    fn payloads_stay_byte_for_byte(payload in any_json(), id in -5_i64..i64::MAX) {
        let params = format!(r#"{{ "p" :{payload}}}"#);
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{params}}}"#);
        let expected = format!("request {id} m {params}");
        prop_assert_eq!(read(&request), expected);
        let response = format!(r#"{{"jsonrpc":"2.0","result": {payload} ,"id":{id}}}"#);
        let expected = format!("response {id} {}", payload.trim());
        prop_assert_eq!(read(&response), expected);
    }

    #[test]
    fn no_bytes_are_too_much(bytes: Vec<u8>) {
        let _ = Incoming::parse(&bytes, &Limits::DEFAULT);
    }

    #[test]
    fn no_damage_is_too_much(payload in any_json(), cut in any::<prop::sample::Index>(), byte: u8) {
        let text = format!(r#"[{{"jsonrpc":"2.0","id":1,"method":"m","params":{payload}}}]"#);
        let mut bytes = text.into_bytes();
        let at = cut.index(bytes.len());
        let _ = Incoming::parse(&bytes[..at], &Limits::DEFAULT);
        bytes[at] = byte;
        let _ = Incoming::parse(&bytes, &Limits::DEFAULT);
    }
}
