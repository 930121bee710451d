//! That what is looked for is found, and nothing else changes.

use proptest::prelude::*;

use super::*;
use crate::json::tests::{any_json, json};
use crate::types::entry::Entry;
use crate::types::{Capabilities, Page, ResourceEntry, ToolEntry};
use crate::{Edit, Json, JsonBuf, Limits, meta, rewrite, write};

fn other(hit: Hit<'_>) -> Option<String> {
    match hit {
        Hit::Uri("keep") => None,
        Hit::Uri(uri) => Some(format!("U{uri}")),
        Hit::Task(id) => Some(format!("T{id}")),
    }
}

#[test]
fn what_a_request_is_about() {
    let check = |method: &str, params: &str, expected: Aim<'_>, sent: &str| {
        let params = json(params);
        let aimed = aim(method, params.into()).unwrap();
        assert_eq!(aimed.aim, expected);
        assert_eq!(aimed.at("new").buf().as_json().as_str(), sent);
    };
    let name = r#"{"name":"old","uri":"u"}"#;
    let named = r#"{"name":"new","uri":"u"}"#;
    check("tools/call", name, Aim::Tool("old".into()), named);
    check("prompts/get", name, Aim::Prompt("old".into()), named);
    let uri = r#"{"name":"old","uri":"new"}"#;
    check("resources/read", name, Aim::Resource("u".into()), uri);
    check("resources/subscribe", name, Aim::Resource("u".into()), uri);
    let task = r#"{"taskId":"1" }"#;
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result"] {
        check(method, task, Aim::Task("1".into()), r#"{"taskId":"new" }"#);
    }
    check(
        "completion/complete",
        r#"{"ref":{"name":"p","type":"ref/prompt"}}"#,
        Aim::Prompt("p".into()),
        r#"{"ref":{"name":"new","type":"ref/prompt"}}"#,
    );
    check(
        "completion/complete",
        r#"{"ref":{"type":"ref/resource","uri":"u"}}"#,
        Aim::Family("u".into()),
        r#"{"ref":{"type":"ref/resource","uri":"new"}}"#,
    );
    check("tools/list", name, Aim::Nothing, name);
    let lacks = |method: &str, params: &str, key| {
        assert_eq!(aim(method, json(params).into()).unwrap().aim, Aim::Lacking(key));
    };
    lacks("tools/call", r#"{"name":1}"#, "name");
    lacks("completion/complete", "{}", "ref");
    assert!(aim("tools/call", json(r#"{"name":"a","n\u0061me":"b"}"#).into()).is_err());
    assert!(
        aim(
            "completion/complete",
            json(r#"{"ref":{"type":"ref/prompt","name":"a","name":"b"}}"#).into()
        )
        .is_err()
    );
}

#[test]
fn uris_and_tasks() {
    let check = |place: Place, from: &str, expected: &str| {
        let got = rewritten(json(from), place, &other);
        let got = got.as_ref().map_or(from, |got| got.as_json().as_str());
        assert_eq!(got, expected);
        assert!(Json::parse(got.as_bytes(), &Limits::DEFAULT).is_ok());
    };
    let block = r#"{"type":"resource_link","uri":"a","u\u0072i":"b","x":[{"uri":"c"}]}"#;
    let changed = r#"{"type":"resource_link","uri":"Ua","u\u0072i":"Ub","x":[{"uri":"c"}]}"#;
    let with = |block: &str| {
        format!(r#"{{"content":[1,{block},{{"type":"text","uri":"a"}}],"uri":"a","taskId":"1"}}"#)
    };
    check(Place::Result, &with(block), &with(changed));
    check(
        Place::Result,
        &with(r#"{"type":"resource_link","uri":"keep"}"#),
        &with(r#"{"type":"resource_link","uri":"keep"}"#),
    );
    check(
        Place::Result,
        &with(r#"{"type":"resource_link","uri":"\ud800"}"#),
        &with(r#"{"type":"resource_link","uri":"\ud800"}"#),
    );
    check(
        Place::Result,
        r#"{"content":{"uri":"a"},"contents":"x","messages":1}"#,
        r#"{"content":{"uri":"a"},"contents":"x","messages":1}"#,
    );
    check(
        Place::Result,
        r#"{"taskId":"1","resultType":"task"}"#,
        r#"{"taskId":"T1","resultType":"task"}"#,
    );
    check(
        Place::Task,
        r#"{"taskId":"1","tasks":[{"taskId":"2"}],"result":{"taskId":"3","contents":[{"uri":"a"}]}}"#,
        r#"{"taskId":"T1","tasks":[{"taskId":"T2"}],"result":{"taskId":"3","contents":[{"uri":"Ua"}]}}"#,
    );
    check(
        Place::Entry,
        r#"{"uri":"a","_meta":{"ui":{"resourceUri":"a"},"ui/resourceUri":"b","uri":"c"}}"#,
        r#"{"uri":"a","_meta":{"ui":{"resourceUri":"Ua"},"ui/resourceUri":"Ub","uri":"c"}}"#,
    );
    check(
        Place::Notice,
        r#"{"uri":"a","taskId":"1","data":{"uri":"b"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}"#,
        r#"{"uri":"Ua","taskId":"T1","data":{"uri":"b"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"T1"}}}"#,
    );
}

#[test]
fn errors() {
    let check = |result: &str, expected| assert_eq!(is_error(json(result)), expected, "{result}");
    check("{}", false);
    check(r#"{"isError":false,"x":true}"#, false);
    check(r#"{"isError" : true}"#, true);
    check(r#"{"is\u0045rror":true}"#, true);
    check(r#"{"content":[{"isError":true}]}"#, false);
}

#[test]
fn entries() {
    let raw = r#"{ "inputSchema":{"name":"x"},"name" : "old" }"#;
    let none = |_: &str| None;
    let got = listed::<ToolEntry>(json(raw), Some("new\""), &none).unwrap();
    assert_eq!(got.as_json().as_str(), r#"{ "inputSchema":{"name":"x"},"name" : "new\"" }"#);
    assert_eq!(listed::<ToolEntry>(json(raw), None, &none), None);
    let got = listed::<ResourceEntry>(json(r#"{"uri":"a"}"#), Some("b"), &none).unwrap();
    assert_eq!(got.as_json().as_str(), r#"{"uri":"b"}"#);
    let mut list = List::default();
    assert_eq!(List::default().end().as_json().as_str(), "[]");
    list.push(json("1"));
    list.push(json("[ ]"));
    assert_eq!(list.end().as_json().as_str(), "[1,[ ]]");
    let tool = reading_tool("t", "d", json(r#"{"type":"object"}"#));
    let page = format!(r#"{{"tools":[{}]}}"#, tool.as_json().as_str());
    let page = Page::<ToolEntry>::read(&JsonBuf::from(json(&page))).unwrap();
    assert_eq!((page.entries.len(), page.entries[0].annotations.read_only), (1, Some(true)));
}

/// What a session reads of a tool and of its result.
#[test]
fn narrow() {
    let tool = |schema: &str, wide: Option<&str>| {
        let raw = format!(r#"{{"name":"t","outputSchema":{schema}, "inputSchema":{{}}}}"#);
        let tool = ToolEntry::read(json(&raw).into()).unwrap();
        let got = tool.is_wide.then(|| narrow_tool(tool.raw()).unwrap());
        assert_eq!(got.as_ref().map(|got| got.as_json().as_str()), wide, "{schema}");
    };
    tool(r#"{"type":"object"}"#, None);
    tool(r#"{"properties":{},"type":"ob\u006aect"}"#, None);
    let without = Some(r#"{"name":"t", "inputSchema":{}}"#);
    for wide in [r#"{"type":"array"}"#, r#"{"type":["object"]}"#, "{}", "true", "null"] {
        tool(wide, without);
    }
    let twice = r#"{"name":"t","inputSchema":{},"outputSchema":{},"outputSchema":{}}"#;
    assert!(ToolEntry::read(json(twice).into()).is_err());
    let result = |result: &str, expected: Option<&str>| {
        let got = narrow_result(json(result));
        assert_eq!(got.as_ref().map(|got| got.as_json().as_str()), expected, "{result}");
    };
    result("{}", None);
    result(r#"{"content":[],"structuredContent":{"a":[1]}}"#, None);
    result(r#"{"content":[{"type":"text","text":"structuredContent"}]}"#, None);
    result(r#"{"content":[{"structuredContent":1}]}"#, None);
    result(
        r#"{"content":[{"type":"text","text":"[1,2]"}], "structuredContent":[1,2],"n":1.0}"#,
        Some(r#"{"content":[{"type":"text","text":"[1,2]"}],"n":1.0}"#),
    );
    result(
        r#"{"structuredContent":["\"",1e2],"content":[{"type":"image"}]}"#,
        Some(r#"{"content":[{"type":"image"},{"type":"text","text":"[\"\\\"\",1e2]"}]}"#),
    );
    result(
        r#"{"structuredConten\u0074":null}"#,
        Some(r#"{"content":[{"type":"text","text":"null"}]}"#),
    );
    let twice = r#"{"structuredContent":{},"structuredContent":1}"#;
    assert!(is_error(narrow_result(json(twice)).unwrap().as_json()));
}

#[test]
fn sizes() {
    let check = |result: &str, text: usize, structured: usize| {
        assert_eq!(measure(json(result)), Size { text, structured }, "{result}");
    };
    check("{}", 0, 0);
    check(r#"{"content":[]}"#, 0, 0);
    check(r#"{"content":[{"type":"text","text":""}]}"#, 0, 0);
    check(r#"{"content":[{"type":"text","text":"aé\n\u00e9\ud83d\ude00\ud83d"}]}"#, 13, 0);
    check(
        r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"},1,{"type":"image","data":"ccc"}]}"#,
        3,
        0,
    );
    check(r#"{"content":[{"type":"resource","resource":{"text":"abc","blob":"dddd"}}]}"#, 3, 0);
    check(r#"{"structuredContent":{"a":1},"content":[{"type":"text","text":1}]}"#, 0, 7);
    check(r#"{"structuredContent":null}"#, 0, 0);
}

#[test]
fn together() {
    let check = |all: &[&str], expected: &str| {
        let all: Vec<Capabilities> =
            all.iter().map(|one| Capabilities::read(Some(json(one)))).collect();
        assert_eq!(united(&all).raw().as_str(), expected);
    };
    check(&[], "{}");
    check(
        &[r#"{"logging":{}}"#, r#"{"completions":{},"logging":{}}"#],
        r#"{"logging":{},"completions":{}}"#,
    );
    check(
        &[
            r#"{"resources":{"subscribe":false},"tools":null}"#,
            r#"{"resources":{"subscribe":true,"listChanged":false}}"#,
        ],
        r#"{"resources":{"subscribe":true,"listChanged":true}}"#,
    );
    check(
        &[r#"{"extensions":{"a":{"v":1}}}"#, r#"{"extensions":{"a":{"v":2,"w":3},"b":{}}}"#],
        r#"{"extensions":{"a":{"v":1,"w":3},"b":{}}}"#,
    );
    check(&[r#"{"tools":true}"#, r#"{"tools":{}}"#], r#"{"tools":{"listChanged":true}}"#);
    check(&[r#"{"tasks":{"list":{},"cancel":{}}}"#], r#"{"tasks":{"cancel":{}}}"#);
}

proptest! {
    /// Nothing is found in what is none of ours, and what is changed stays JSON.
    #[test]
    fn still_json(value in any_json()) {
        let wrapped = format!(r#"{{"content":[{value}],"contents":[{value}],"messages":[{{"content":{value}}}],"_meta":{value}}}"#);
        for place in [Place::Entry, Place::Result, Place::Task, Place::Notice] {
            if let Some(got) = rewritten(json(&wrapped), place, &other) {
                prop_assert!(Json::parse(got.as_json().as_bytes(), &Limits::DEFAULT).is_ok());
            }
            prop_assert_eq!(rewritten(json(&wrapped), place, &|_| None), None);
        }
    }

    /// What is kept of a cut result is the beginning of all of it, and as long as may be.
    #[test]
    fn a_beginning(texts in prop::collection::vec(r"([a-c é日😀]|\\n|\\u00e9|\\ud83d|\\ud83d\\ude00){0,9}", 0..4), limit in 0_usize..40) {
        let blocks: Vec<String> = texts.iter().map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#)).collect();
        let result = format!(r#"{{"content":[{}],"z":1.0}}"#, blocks.join(","));
        let result = json(&result);
        let size = measure(result);
        let full = full_text(result, size);
        prop_assert_eq!(full.len(), size.text);
        let mut kept = 0;
        let got = cut(result, limit, |bytes| { kept = bytes; "note".to_owned() }).unwrap();
        prop_assert!(Json::parse(got.as_json().as_bytes(), &Limits::DEFAULT).is_ok());
        prop_assert!(kept <= limit && limit.min(full.len()) - kept <= 4);
        let shown = full_text(got.as_json(), measure(got.as_json()));
        let shown = shown.strip_suffix("note").unwrap();
        let expected = format!("{}\n", &full[..kept]);
        prop_assert!(shown == expected || (shown.is_empty() && kept == 0));
        let ends_well = got.as_json().as_str().ends_with(r#","z":1.0}"#);
        prop_assert!(ends_well);
    }
}

proptest! {
    /// A result that is given is what an edit would make of it.
    #[test]
    fn what_is_given_is_what_an_edit_makes(
        inner in any_json(),
        keys in prop::collection::vec(
            prop::sample::select(vec!["resultType", "_meta", "content", "_met\\u0061", "x"]), 0..4,
        ),
        space in prop::sample::select(vec!["", " "]),
        first in prop::option::of(Just("\"resultType\":\"complete\"".to_owned())),
    ) {
        let members = keys.iter().map(|key| format!("\"{key}\":{inner}{space}"));
        let members: Vec<String> = first.into_iter().chain(members).collect();
        let text = format!("{{{space}{}}}", members.join(","));
        let info = write::object(|info| info.text("name", "hub"));
        let mut given = Vec::new();
        let outcome = Giver::new(info.clone()).give(&mut given, json(&text));
        let inside = [Edit::set(meta::SERVER_INFO, info.as_json())];
        let edits = [
            Edit::default("resultType", json("\"complete\"")),
            Edit::inside(meta::META, &inside),
        ];
        match rewrite::edited(json(&text), &edits) {
            Ok(expected) => {
                prop_assert_eq!(outcome, Ok(()));
                prop_assert_eq!(String::from_utf8(given).unwrap(), expected.as_json().as_str());
            }
            Err(repeated) => prop_assert_eq!(outcome, Err(repeated)),
        }
    }
}
