//! Values that are made safe, headers that are compared, annotations that are read.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::json::Json;
use crate::json::tests::json;

#[test]
fn values() {
    let check = |text: &str, expected: &str| {
        assert_eq!(encode(text), expected, "{text:?}");
        assert_eq!(decode(expected).unwrap(), text, "{expected}");
    };
    check("us-west1", "us-west1");
    check("us west 1", "us west 1");
    check("", "");
    check("https://example.com/r?id=1", "https://example.com/r?id=1");
    check("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=");
    check(" padded ", "=?base64?IHBhZGRlZCA=?=");
    check("us-west1 ", "=?base64?dXMtd2VzdDEg?=");
    check("line1\nline2", "=?base64?bGluZTEKbGluZTI=?=");
    check("line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?=");
    check("\tindented", "=?base64?CWluZGVudGVk?=");
    check("a\tb", "=?base64?YQli?=");
    check("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
    check("=?base64?half", "=?base64?half");
}

#[test]
fn decoded() {
    let check = |value, expected: Option<&str>| {
        assert_eq!(decode(value).ok().as_deref(), expected, "{value}");
    };
    check("=?base64?SGVsbG8=?=", Some("Hello"));
    check("=?base64?SGVsbG8?=", None);
    check("=?base64?SGVs!!!bG8=?=", None);
    check("=?base64?/w==?=", None);
    check("=?base64??=", Some(""));
    check("SGVsbG8=", Some("SGVsbG8="));
    check("=?base64?SGVsbG8=", Some("=?base64?SGVsbG8="));
    check("=?BASE64?SGVsbG8=?=", Some("=?BASE64?SGVsbG8=?="));
    check("a\tb", Some("a\tb"));
    check("a\u{1}b", None);
    check("é", None);
}

/// The three headers, the body's method and params, and what is said of them.
type MirrorCase = ([Option<&'static str>; 3], (&'static str, &'static str), &'static str);

#[test]
fn mirrors() {
    let version = Some("2026-07-28");
    let tools_call = Some("tools/call");
    let call = ("tools/call", r#"{"name":"bär"}"#);
    let name = Some("=?base64?YsOkcg==?=");
    let cases: &[MirrorCase] = &[
        ([version, tools_call, name], call, ""),
        ([version, Some("tools/list"), None], ("tools/list", "{}"), ""),
        (
            [version, Some("resources/read"), Some("a:b")],
            ("resources/read", r#"{"uri":"a:b"}"#),
            "",
        ),
        ([version, tools_call, None], ("tools/call", "{}"), ""),
        ([None, tools_call, name], call, "the MCP-Protocol-Version header is missing"),
        (
            [Some("2025-11-25"), tools_call, name],
            call,
            "MCP-Protocol-Version header value '2025-11-25' does not match body value '2026-07-28'",
        ),
        ([version, None, name], call, "the Mcp-Method header is missing"),
        (
            [version, Some("TOOLS/CALL"), name],
            call,
            "Mcp-Method header value 'TOOLS/CALL' does not match body value 'tools/call'",
        ),
        ([version, tools_call, None], call, "the Mcp-Name header is missing"),
        (
            [version, tools_call, Some("=?base64?YsOkcg?=")],
            call,
            "the Mcp-Name header is malformed",
        ),
        (
            [version, tools_call, Some("foo")],
            call,
            "Mcp-Name header value 'foo' does not match body value 'bär'",
        ),
    ];
    mirrored(cases);
}

/// What is not text, what is encoded and what only looks so.
#[test]
fn mirrors_of_odd_names() {
    let version = Some("2026-07-28");
    let tools_call = Some("tools/call");
    let call = ("tools/call", r#"{"name":"bär"}"#);
    mirrored(&[
        ([version, tools_call, Some("bär")], call, "the Mcp-Name header is missing"),
        ([version, Some("bär"), None], ("bär", "{}"), "the Mcp-Method header is missing"),
        (
            [version, tools_call, Some("=?base64?Zm9v?=")],
            ("tools/call", r#"{"name":"=?base64?Zm9v?="}"#),
            "Mcp-Name header value 'foo' does not match body value '=?base64?Zm9v?='",
        ),
        (
            [version, tools_call, Some("=?base64?foo")],
            ("tools/call", r#"{"name":"=?base64?foo"}"#),
            "",
        ),
        (
            [version, tools_call, Some("a\u{1}")],
            ("tools/call", r#"{"name":"a\u0001"}"#),
            "the Mcp-Name header is malformed",
        ),
    ]);
}

fn mirrored(cases: &[MirrorCase]) {
    for &([version, method, name], (body_method, params), expected) in cases {
        let [version, method, name] = [version, method, name].map(|it| it.map(str::as_bytes));
        let mirror = Mirror { version, method, name };
        let got = check(&mirror, body_method, "2026-07-28", &json(params).into());
        assert!(got.as_ref().err().is_none_or(|mismatch| mismatch.code() == -32020));
        let got = got.err().map_or(String::new(), |mismatch| mismatch.to_string());
        assert_eq!(got.strip_prefix("Header mismatch: ").unwrap_or(&got), expected);
    }
}

#[test]
fn annotations() {
    let check = |properties: &str, expected: Result<&str, &str>| {
        let schema = format!(r#"{{"type":"object","properties":{properties}}}"#);
        let got = param_headers(json(&schema)).map(|found| {
            let show =
                |it: &ParamHeader| format!("{}={:?} {}", it.header, it.kind, it.path.join("/"));
            found.iter().map(show).collect::<Vec<_>>().join(", ")
        });
        let got = got.map_err(|bad| bad.to_string());
        assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned), "{properties}");
    };
    check("{}", Ok(""));
    check(r#"{"a":{"type":"string"}}"#, Ok(""));
    check(
        r#"{"b":{"type":"integer","x-mcp-header":"Method"},"a":{"properties":{"b":{"x-mcp-header":"A-b","type":"boolean"}}}}"#,
        Ok("mcp-param-a-b=Boolean a/b, mcp-param-method=Integer b"),
    );
    check(r#"{"a":{"type":"string","x\u002dmcp-header":"A"}}"#, Ok("mcp-param-a=String a"));
    // A property of that name, and data that looks like a schema, are no annotations.
    check(
        r#"{"x-mcp-header":{"type":"string"},"a":{"enum":[{"x-mcp-header":"A"}],"default":{"x-mcp-header":"A"}}}"#,
        Ok(""),
    );
    let bad = |at: &str, reason: &str| format!("x-mcp-header at `{at}` {reason}");
    let name = "is not a name";
    let character = "has characters that no header name may have";
    let kind = "is not on a string, integer or boolean";
    let place = "is not reached through `properties` alone";
    for (properties, expected) in [
        (r#"{"a":{"type":"string","x-mcp-header":""}}"#, bad("a", name)),
        (r#"{"a":{"type":"string","x-mcp-header":7}}"#, bad("a", name)),
        (r#"{"a":{"type":"string","x-mcp-header":"My Region"}}"#, bad("a", character)),
        (r#"{"a":{"type":"string","x-mcp-header":"Region:Primary"}}"#, bad("a", character)),
        (r#"{"a":{"type":"string","x-mcp-header":"Région"}}"#, bad("a", character)),
        (r#"{"a":{"type":"string","x-mcp-header":"Region\t1"}}"#, bad("a", character)),
        (r#"{"a":{"type":"number","x-mcp-header":"A"}}"#, bad("a", kind)),
        (r#"{"a":{"type":"object","x-mcp-header":"A"}}"#, bad("a", kind)),
        (r#"{"a":{"type":["string"],"x-mcp-header":"A"}}"#, bad("a", kind)),
        (r##"{"a":{"$ref":"#/$defs/x","x-mcp-header":"A"}}"##, bad("a", kind)),
        (r#"{"a":{"items":{"type":"string","x-mcp-header":"A"}}}"#, bad("a.items", place)),
        (r#"{"a":{"oneOf":[{},{"type":"string","x-mcp-header":"A"}]}}"#, bad("a.oneOf[1]", place)),
        (
            r#"{"a":{"then":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}}"#,
            bad("a.then.b", place),
        ),
        (r#"{"a":{"$defs":{"d":{"type":"string","x-mcp-header":"A"}}}}"#, bad("a.d", place)),
        (
            r#"{"a":{"type":"string","x-mcp-header":"R"},"b":{"type":"string","x-mcp-header":"R"}}"#,
            bad("a", "is there twice"),
        ),
        (
            r#"{"a":{"type":"string","x-mcp-header":"Region"},"b":{"type":"string","x-mcp-header":"REGION"}}"#,
            bad("a", "is there twice"),
        ),
    ] {
        check(properties, Err(&expected));
    }
    let root = param_headers(json(r#"{"type":"string","x-mcp-header":"A"}"#));
    assert_eq!(root.unwrap_err().reason, place);
}

#[test]
fn mirrored_arguments() {
    let schema = r#"{"properties":{"s":{"type":"string","x-mcp-header":"S"},"o":{"properties":{"i":{"type":"integer","x-mcp-header":"I"}}},"b":{"type":"boolean","x-mcp-header":"B"}}}"#;
    let wanted = param_headers(json(schema)).unwrap();
    let values = |arguments: &str| -> Vec<_> {
        wanted.iter().map(|it| it.value(json(arguments)).unwrap_or("-".into())).collect()
    };
    assert_eq!(values("{}"), ["-", "-", "-"]);
    assert_eq!(values(r#"{"s":null,"o":{"i":null},"b":null}"#), ["-", "-", "-"]);
    assert_eq!(values(r#"{"s":"","o":{"i":42},"b":false}"#), ["false", "42", ""]);
    assert_eq!(values(r#"{"s":"é","o":{"i":-7.0},"b":true}"#), ["true", "-7", "é"]);
    assert_eq!(values(r#"{"s":["a"],"o":{"i":9007199254740992},"b":1.5}"#), ["1.5", "-", "-"]);
    let check = |headers: &[(&str, &str)], arguments: &str, good: bool| {
        let headers: HashMap<_, _> = headers.iter().copied().collect();
        let got = check_params(&wanted, Some(json(arguments)), |name| headers.get(name).copied());
        assert_eq!(got.is_ok(), good, "{arguments}: {got:?}");
    };
    let all = r#"{"s":"x","o":{"i":42},"b":true}"#;
    let (s, i, b) = (("mcp-param-s", "x"), ("mcp-param-i", "42"), ("mcp-param-b", "true"));
    check(&[s, i, b], all, true);
    check(&[s, ("mcp-param-i", "42.0"), b], all, true);
    check(&[s, ("mcp-param-i", "4.2e1"), b], all, false);
    check(&[s, ("mcp-param-i", "43"), b], all, false);
    check(&[s, i], all, false);
    check(&[("mcp-param-s", "=?base64?eA==?="), i, b], all, true);
    check(&[("mcp-param-s", "=?base64?eA?="), i, b], all, false);
    check(&[("mcp-param-s", "X"), i, b], all, false);
    check(&[s], r#"{"b":null}"#, true);
    assert!(check_params(&wanted, None, |_| None).is_ok());
    assert!(check_params(&[], Some(Json::EMPTY), |_| None).is_ok());
}

proptest! {
    #[test]
    fn any_text_travels(text: String) {
        let value = encode(&text);
        prop_assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        prop_assert_eq!(value.trim(), &*value);
        prop_assert_eq!(decode(&value).unwrap(), text.as_str());
    }
}
