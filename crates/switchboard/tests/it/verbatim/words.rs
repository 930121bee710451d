//! What servers and clients say to each other here: odd wherever the protocol leaves room for it. Never sends anything.

use crate::mirror::Words;

/// Unknown fields, numbers as they were written, order, spaces, escapes, and half of a surrogate pair.
pub(super) const ODD: &str =
    r#"{ "b":1.0,"a":9223372036854775809, "s":"\ud800 \u00e9 \/","é":[1e2,-0.0,1E+5],"b2":{} }"#;

/// What servers say.
pub(crate) fn words() -> Words {
    Words {
        tool,
        call: format!(
            r#"{{ "content":[{{"type":"text","text":"\udc00","x":{ODD}}}],"z" : {ODD},"structuredContent":{ODD}"#
        ),
        error: format!(
            r#"{{ "x":1.0,"message":"\udc00 \/", "data" : {ODD},"code":-32050,"y":{ODD} }}"#
        ),
        read: format!(
            r#"{{ "z" : {ODD},"contents":[{{"x":{ODD},"text":"\udc00","uri":"mirror:it","y":1.0}}]"#
        ),
        prompt: format!(
            r#"{{ "z" : {ODD},"messages":[{{"x":1.0,"role":"user","content":{{"x":{ODD},"text":"\udc00","type":"text"}}}}],"description":"\/""#
        ),
        progress: format!(
            r#" "total":1e2,"progress":1.0,"x":{ODD},"message":"\ud800 \/","y":9223372036854775809 "#
        ),
        log: format!(r#"{{ "data":{ODD},"level":"info","x":1.0,"logger":"\udc00 \/","y":{ODD} }}"#),
        question: format!(
            r#"{{ "x":{ODD},"message":"\udc00 \/","requestedSchema":{{"type":"object","properties":{{"name":{{"type":"string","x":1.0}}}}}} }}"#
        ),
    }
}

/// A tool as it is listed.
pub(super) fn tool(name: &str) -> String {
    format!(
        r#"{{ "z" : {ODD},"outputSchema":{{"x":1.0,"type":"object"}}, "inputSchema":{schema},"name":"{name}","y":9223372036854775809,"title":"\/","_meta":{ODD},"annotations":{{ "x":{ODD},"readOnlyHint":true,"title":"\udc00"}},"description":"\ud800 \u00e9 \/" }}"#,
        schema = schema(),
    )
}

/// What its arguments are said to be like.
pub(super) fn schema() -> String {
    format!(
        r#"{{ "x":{ODD},"properties":{{"s":{{"default":"\/ \ud800","type":"string"}},"b":{{"maximum":1.0,"minimum":-0.0,"type":"number"}},"a":{{"enum":[9223372036854775809,1E+5]}}}},"type":"object","additionalProperties" : true }}"#
    )
}

/// What a client answers to a question.
pub(super) fn reply() -> String {
    format!(r#"{{ "x":{ODD},"action":"accept","content":{{"name":"\ud800 \/","y":1.0}} }}"#)
}

/// A request: the method, what it is for by its server's word, and the params that stand before that.
pub(super) fn requests() -> [(&'static str, &'static str, String); 6] {
    let call = || format!(r#""x-own" : 1.50,"arguments":{ODD},"name":"#);
    let prompt = format!(r#""x-own" : {ODD},"arguments":{{"b":"\ud800 \/","a":"é"}},"name":"#);
    [
        ("tools/call", "say", call()),
        ("resources/read", "mirror:it", format!(r#""x-own" : 1.50,"x":{ODD},"uri":"#)),
        ("prompts/get", "tell", prompt),
        ("tools/call", "work", call()),
        ("tools/call", "ask", call()),
        ("tools/call", "fail", call()),
    ]
}
