//! That what is found while checking is what is there, and that what is made of it is what an edit makes.

use proptest::prelude::*;

use super::*;
use crate::json::tests::{any_json, json};
use crate::{Edit, Limits, Message, rewrite};

/// Params with many of the members that are noted, in any order, some of them twice.
fn any_params() -> impl Strategy<Value = String> {
    let value = || {
        let known = ["\"text\"", "null", VERSION, CAPABILITIES].map(str::to_owned);
        prop_oneof![any_json(), prop::sample::select(known.to_vec())]
    };
    let inner = prop::sample::select(
        IN_META.into_iter().chain(["other", "progressToke\\u006e"]).collect::<Vec<_>>(),
    );
    let inner = object(prop::collection::vec((inner, value()), 0..5));
    let plain =
        prop::sample::select(IN_PARAMS[1..].iter().copied().chain(["x"]).collect::<Vec<_>>());
    let member = prop_oneof![
        3 => (plain, value()).prop_map(|(key, value)| (key, value)),
        2 => inner.prop_map(|value| (meta::META, value)),
        1 => value().prop_map(|value| ("_m\\u0065ta", value)),
    ];
    object(prop::collection::vec(member, 0..5))
}

fn object(
    members: impl Strategy<Value = Vec<(&'static str, String)>>,
) -> impl Strategy<Value = String> {
    (members, prop::sample::select(vec!["", " "])).prop_map(|(members, space)| {
        let members: Vec<String> =
            members.iter().map(|(key, value)| format!("\"{key}\"{space}:{value}{space}")).collect();
        format!("{{{space}{}}}", members.join(","))
    })
}

fn read(message: &str) -> Option<Params<'_>> {
    match Message::parse(message.as_bytes(), &Limits::DEFAULT) {
        Ok(Message::Request(request)) => Some(request.outlined()),
        _ => None,
    }
}

/// What the stamps of these tests say, which params may say already.
const VERSION: &str = r#""2026-07-28""#;
const CAPABILITIES: &str = r#"{"roots":{}}"#;

fn stamps() -> [Stamp<'static>; 4] {
    let about = About {
        version: VERSION.trim_matches('"'),
        capabilities: json(CAPABILITIES),
        info: json(r#"{"name":"hub"}"#),
    };
    [None, Some(7)]
        .map(|progress| [None, Some(about)].map(|about| Stamp { progress, about }))
        .concat()
        .try_into()
        .unwrap()
}

proptest! {
    #[test]
    fn what_is_found_is_what_is_there(params in any_params()) {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{params}}}"#);
        // The second time its `_meta` is known.
        for _ in 0..2 {
            let found = read(&message).unwrap();
            prop_assert_eq!(found.json().as_str(), &params);
            let there = Params::from(json(&params));
            prop_assert_eq!(found.outline.repeated.is_some(), there.outline.repeated.is_some());
            if there.once().is_ok() {
                prop_assert_eq!(found.outline, there.outline);
            }
        }
    }

    #[test]
    fn what_is_stamped_is_what_an_edit_makes(params in any_params()) {
        let params = Params::from(json(&params));
        prop_assume!(params.once().is_ok());
        for stamp in stamps() {
            let (mut fast, mut slow) = (b"before".to_vec(), b"before".to_vec());
            params.stamped(&mut fast, &stamp).unwrap();
            params.edited(&mut slow, &stamp).unwrap();
            prop_assert_eq!(String::from_utf8(fast).unwrap(), String::from_utf8(slow).unwrap());
        }
    }

    #[test]
    fn another_subject_moves_the_rest(params in any_params(), to in any::<String>()) {
        let params = Params::from(json(&params));
        prop_assume!(params.once().is_ok());
        for key in ["name", "uri", "taskId"] {
            let about = params.about(key, &to);
            let expected = match params.subject(key) {
                Some(_) => rewrite::edited(params.json(), &[Edit::text(key, &to)]).unwrap(),
                None => params.json().into(),
            };
            prop_assert_eq!(about.buf(), &expected);
            prop_assert_eq!(about.outline, Outline::of(expected.as_json()));
        }
    }
}

#[test]
fn what_is_there_twice() {
    for (params, key) in [
        (r#"{"name":"a","name":"b"}"#, "name"),
        (r#"{"n\u0061me":"a","name":"b"}"#, "name"),
        (r#"{"_meta":{},"_meta":{}}"#, "_meta"),
        (r#"{"_meta":{"progressToken":1,"progressToken":2}}"#, "progressToken"),
        (r#"{"requestState":1,"requestState":2}"#, "requestState"),
    ] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{params}}}"#);
        for _ in 0..2 {
            assert_eq!(read(&message).unwrap().once(), Err(Repeated(key)), "{params}");
        }
        assert_eq!(Params::from(json(params)).once(), Err(Repeated(key)), "{params}");
    }
}

/// What is said already stays where it is, as an edit would leave it.
#[test]
fn what_is_said_already() {
    let [version, capabilities, info] =
        [meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES, meta::CLIENT_INFO];
    let whole = format!(
        r#"{{"x":1,"_meta":{{"{version}":{VERSION},"{info}":{{"name":"a"}},"{capabilities}":{CAPABILITIES} }} }}"#
    );
    for (from, to) in [
        ("", ""),
        ("2026-07-28", "2026-07-29"),
        ("2026-07-28", r"2026-07-2\u0038"),
        (CAPABILITIES, "{}"),
        (CAPABILITIES, r#"{"roots":{} }"#),
        (capabilities, "other"),
        (version, "other"),
        (info, "other"),
        (info, "progressToken"),
    ] {
        let params = whole.replacen(from, to, 1);
        let params = Params::from(json(&params));
        for stamp in stamps() {
            let (mut fast, mut slow) = (Vec::new(), Vec::new());
            params.stamped(&mut fast, &stamp).unwrap();
            params.edited(&mut slow, &stamp).unwrap();
            assert_eq!(String::from_utf8(fast).unwrap(), String::from_utf8(slow).unwrap());
        }
    }
}

/// What was good with more room is looked at again where there is less.
#[test]
fn what_is_known_may_still_be_too_deep() {
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"a":[[[[[[0]]]]]]}}}"#;
    let limits = |max_depth| Limits { max_depth, ..Limits::DEFAULT };
    let good = |depth| Message::parse(message.as_bytes(), &limits(depth)).is_ok();
    assert!(good(128));
    assert!(good(9));
    assert!(!good(8));
    assert!(good(9));
    assert!(!good(8));
}

/// What begins like something that is known is not that.
#[test]
fn what_begins_alike() {
    let of = |meta: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"_meta":{meta}}}}}"#)
    };
    let good = of(r#"{"progressToken":1}"#);
    assert!(read(&good).is_some());
    for meta in [r#"{"progressToken":1}}"#, r#"{"progressToken":1}x"#, r#"{"progressToken":12}x"#] {
        assert!(read(&of(meta)).is_none(), "{meta}");
    }
    let other = of(r#"{"progressToken":12}"#);
    assert_eq!(read(&other).unwrap().progress_token().unwrap().as_str(), "12");
}
