//! What is taken for JSON, what is not, and what is read out of it.

mod suite;

use proptest::prelude::*;

use super::*;

pub(crate) fn json(text: &str) -> Json<'_> {
    Json::parse(text.as_bytes(), &Limits::DEFAULT).unwrap()
}

/// Any JSON text: any layout, any escapes, any numbers, repeated keys.
pub(crate) fn any_json() -> impl Strategy<Value = String> {
    let space = "[ \n\r\t]{0,2}";
    let string = r#""([ -!#-\[\]-~é日😀]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){0,12}""#;
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?";
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        number,
        string,
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        let item = (space, inner.clone(), space).prop_map(|(a, b, c)| format!("{a}{b}{c}"));
        let member = (space, string, space, space, inner, space)
            .prop_map(|(a, key, b, c, value, d)| format!("{a}{key}{b}:{c}{value}{d}"));
        prop_oneof![
            prop::collection::vec(item, 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..6)
                .prop_map(|items| format!("{{{}}}", items.join(","))),
            space.prop_map(|space| format!("{{{space}}}")),
        ]
    })
}

#[test]
fn bounds() {
    let check = |text: &str, limits: Limits, expected: Result<&str, Fault>| {
        let got = Json::parse(text.as_bytes(), &limits).map(Json::as_str);
        assert_eq!(got, expected, "{:.40}", text);
    };
    let limits = Limits { max_bytes: 10, max_depth: 3, ..Limits::DEFAULT };
    check(" [[[1]]]\n ", limits, Ok("[[[1]]]"));
    check("[[[1]],1]  ", limits, Err(Fault::TooLarge { size: 11, limit: 10 }));
    check("[[[[1]]]]", limits, Err(Fault::TooDeep { at: 3, limit: 3 }));
    check(r#"[{"":[{"#, limits, Err(Fault::TooDeep { at: 6, limit: 3 }));
    check("[[[]],[[", limits, Err(Fault::NotJson { at: 8 }));
    check("[[[]],[[[", limits, Err(Fault::TooDeep { at: 8, limit: 3 }));
    check("", limits, Err(Fault::NotJson { at: 0 }));
    check("[1] 2", limits, Err(Fault::NotJson { at: 4 }));
    // A limit above what can be kept track of is that.
    let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
    let unlimited = Limits { max_depth: usize::MAX, ..Limits::DEFAULT };
    check(&deep, unlimited, Ok(&deep));
    let deeper = format!("[{deep}]");
    check(&deeper, unlimited, Err(Fault::TooDeep { at: 128, limit: 128 }));
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        let text = open.repeat(100_000);
        let fault = Json::parse(text.as_bytes(), &unlimited).unwrap_err();
        assert!(matches!(fault, Fault::TooDeep { limit: 128, .. }), "{fault}");
    }
}

#[test]
fn not_utf8() {
    let check = |bytes: &[u8], at| {
        assert_eq!(Json::parse(bytes, &Limits::DEFAULT), Err(Fault::NotUtf8 { at }));
    };
    check(b"\"\xff\"", 1);
    check(b"\"ab\xed\xa0\x80\"", 3);
    check(b"\"\xc0\xaf\"", 1);
    check(b"\"cut\xe6\x97", 4);
}

#[test]
fn strings() {
    let check = |text: &str, strict: Option<&str>, lossy: Option<&str>| {
        assert_eq!(json(text).string().as_deref(), strict, "{text}");
        assert_eq!(json(text).string_lossy().as_deref(), lossy, "{text}");
    };
    let both = |text, expected| check(text, Some(expected), Some(expected));
    both(r#""""#, "");
    both(r#""plain é""#, "plain é");
    both(r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t");
    both(r#""\u0041\u00e9\u65e5x""#, "Aé日x");
    both(r#""\ud83d\ude00!""#, "😀!");
    both(r#""\u0000""#, "\0");
    check(r#""a\ud83d""#, None, Some("a\u{fffd}"));
    check(r#""\ude00z""#, None, Some("\u{fffd}z"));
    check(r#""\ud83d\u0041""#, None, Some("\u{fffd}A"));
    check(r#""\ud83d\ud83d\ude00""#, None, Some("\u{fffd}😀"));
    check("7", None, None);
    check("[\"a\"]", None, None);
}

#[test]
fn numbers() {
    let check = |text, number, integer| {
        assert_eq!((json(text).number(), json(text).integer()), (number, integer), "{text}");
    };
    check("0", Some(0.0), Some(0));
    check("-7", Some(-7.0), Some(-7));
    check("1.0", Some(1.0), Some(1));
    check("1e3", Some(1000.0), Some(1000));
    check("1.5", Some(1.5), None);
    check("9223372036854775807", Some(9_223_372_036_854_775_807.0), Some(i64::MAX));
    check("9223372036854775809", Some(9_223_372_036_854_775_809.0), None);
    check("1e400", Some(f64::INFINITY), None);
    check("\"1\"", None, None);
    check("null", None, None);
}

#[test]
fn members() {
    let check = |text: &str, expected: &[(&str, &str)]| {
        let object = json(text);
        let got: Vec<_> = object
            .members()
            .map(|member| {
                assert_eq!(&object.as_bytes()[member.value_range()], member.value.as_bytes());
                (member.key.text().unwrap().into_owned(), member.value.as_str())
            })
            .collect();
        let got: Vec<_> = got.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        assert_eq!(got, expected, "{text}");
    };
    check("{}", &[]);
    check("{ \n }", &[]);
    check("[1]", &[]);
    check("\"{}\"", &[]);
    check(
        " { \"a\" : { \"b\" : [ 1 , \"}\\\"]\" ] } ,\"na\\u006de\":\"x\",\"a\":null, \"\":-1.5e+3 } ",
        &[
            ("a", "{ \"b\" : [ 1 , \"}\\\"]\" ] }"),
            ("name", "\"x\""),
            ("a", "null"),
            ("", "-1.5e+3"),
        ],
    );
    let object = json(r#"{"na\u006de":1,"b":2,"b":3,"\ud800":4}"#);
    assert_eq!(object.get("name").map(Json::as_str), Some("1"));
    assert_eq!(object.get("b").map(Json::as_str), Some("3"));
    assert_eq!(object.get("c"), None);
    assert_eq!(object.get(""), None);
    assert_eq!(object.pick(["b"]), Err(crate::Repeated("b")));
    let [name, none] = object.pick(["name", "none"]).unwrap();
    assert_eq!((name.map(Json::as_str), none), (Some("1"), None));
    assert_eq!(json(r#"{"a":1,"\u0061":2}"#).pick(["a"]), Err(crate::Repeated("a")));
}

#[test]
fn elements() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(json(text).elements().map(Json::as_str).collect::<Vec<_>>(), expected);
    };
    check("[]", &[]);
    check("{\"a\":1}", &[]);
    check(
        "[ 1,\"a]\" , [2,[3]] ,{\"b\":[]},true , null]",
        &["1", "\"a]\"", "[2,[3]]", "{\"b\":[]}", "true", "null"],
    );
}

#[test]
fn shared_bytes() {
    let whole = Bytes::from_static(br#" {"a":[1,2],"b":"c"} "#);
    let value = JsonBuf::parse(whole.clone(), &Limits::DEFAULT).unwrap();
    let part = value.part(value.as_json().get("a").unwrap());
    assert_eq!(part.as_json().as_str(), "[1,2]");
    assert!(whole.as_ptr_range().contains(&part.as_json().as_bytes().as_ptr()));
    let foreign = value.part(Json::EMPTY);
    assert_eq!(foreign.as_json().as_str(), "{}");
}

#[test]
fn nothing_of_a_payload_is_in_its_debug_form() {
    assert_eq!(format!("{:?}", json(r#"{"token":"abc"}"#)), "Json(Object, 15 bytes)");
}

proptest! {
    #[test]
    fn any_json_is_taken_and_stays(text in any_json()) {
        prop_assert_eq!(json(&text).as_str(), text.as_str());
    }

    #[test]
    fn agrees_with_serde_json_on_any_text(text in "[\\[\\]{}:,\" \\\\tfn0-9eE.+au-]{0,24}") {
        agree(text.as_bytes())?;
    }

    #[test]
    fn agrees_with_serde_json_on_damaged_json(
        text in any_json(),
        at in any::<prop::sample::Index>(),
        byte: u8,
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        agree(&bytes)?;
    }

    #[test]
    fn text_survives_both_ways(text: String) {
        let mut out = Vec::new();
        push_string(&mut out, &text);
        let written = Json::parse(&out, &Limits::DEFAULT).unwrap();
        prop_assert_eq!(written.string().unwrap(), text.as_str());
        prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
    }

    #[test]
    fn members_and_elements_are_what_serde_json_sees(text in any_json()) {
        use serde_json::value::RawValue;
        if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(&text) {
            let list: Vec<_> = list.iter().map(|raw| raw.get()).collect();
            prop_assert_eq!(json(&text).elements().map(Json::as_str).collect::<Vec<_>>(), list);
        }
    }
}

/// Raw values are the measure: like ours, they take numbers and surrogates that no type holds.
fn agree(bytes: &[u8]) -> Result<(), TestCaseError> {
    let theirs = serde_json::from_slice::<&serde_json::value::RawValue>(bytes);
    let ours = Json::parse(bytes, &Limits::DEFAULT);
    prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?}: {:?}", bytes.escape_ascii(), ours);
    Ok(())
}

#[test]
fn the_beginning_of_a_string() {
    for (text, limit, expected) in [
        (r#""short""#, 5, Some(("short", 0))),
        (r#""longer""#, 4, Some(("long", 2))),
        (r#""aé""#, 2, Some(("a", 2))),
        (r#""aé""#, 3, Some(("aé", 0))),
        (r#""a\nb""#, 2, Some(("a", 3))),
        (r#""a\nb""#, 3, Some(("a\n", 1))),
        (r#""\u0041\u0042""#, 11, Some(("A", 6))),
        (r#""\\\\x""#, 3, Some(("\\", 3))),
        (r#""""#, 0, Some(("", 0))),
        ("7", 5, None),
    ] {
        let found = json(text).string_start(limit);
        let found = found.as_ref().map(|(start, left)| (start.as_ref(), *left));
        assert_eq!(found, expected, "{text} {limit}");
    }
}
