//! The shape of arguments: names and types, no values. Pure.

use switchboard_core::redact::Redactor;
use switchboard_store::Shape;
use switchboard_wire::{Json, Kind, write};

/// How deep it is told.
const DEPTH: usize = 4;
/// How many members of one object are told.
const MEMBERS: usize = 64;

/// Bytes of it after which no further member is told.
const LONGEST: usize = 4096;

/// How names are told.
#[derive(Clone, Copy)]
pub(super) enum Names<'r> {
    /// As they are, for comparing.
    Plain,
    /// As they may be written down: some take what is secret for a name.
    Redacted(&'r Redactor),
}

/// The shape as it may be written down.
pub(super) fn told(json: Json<'_>, redactor: &Redactor) -> Option<Shape> {
    let mut told = Vec::new();
    write(&mut told, json, Names::Redacted(redactor));
    Shape::parse(std::str::from_utf8(&told).ok()?)
}

/// Appends the shape, as JSON.
pub(super) fn write(out: &mut Vec<u8>, json: Json<'_>, names: Names<'_>) {
    within(out, json, names, DEPTH);
}

fn within(out: &mut Vec<u8>, json: Json<'_>, names: Names<'_>, depth: usize) {
    let word: &[u8] = match json.kind() {
        Kind::Object if depth > 0 => {
            out.push(b'{');
            for (nth, member) in json.members().take(MEMBERS).enumerate() {
                if out.len() > LONGEST {
                    break;
                }
                if nth > 0 {
                    out.push(b',');
                }
                // What is no text in there is told as nothing.
                let name = member.key.text().unwrap_or_default();
                match names {
                    Names::Plain => write::string(out, &name),
                    Names::Redacted(redactor) => write::string(out, &redactor.name(&name)),
                }
                out.push(b':');
                within(out, member.value, names, depth - 1);
            }
            b"}"
        }
        Kind::Array if depth > 0 => {
            out.push(b'[');
            if let Some(first) = json.elements().next() {
                within(out, first, names, depth - 1);
            }
            b"]"
        }
        Kind::Object => b"\"object\"",
        Kind::Array => b"\"array\"",
        Kind::String => b"\"string\"",
        Kind::Number => b"\"number\"",
        Kind::Boolean => b"\"boolean\"",
        Kind::Null => b"\"null\"",
    };
    out.extend_from_slice(word);
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    #[test]
    fn names_and_types() {
        for (json, told) in [
            (r#"{}"#, r#"{}"#),
            (
                r#"{"path":"/secret","n":1,"none":null}"#,
                r#"{"path":"string","n":"number","none":"null"}"#,
            ),
            (r#"{"deep":{"a":{"b":{"c":{"d":1}}}}}"#, r#"{"deep":{"a":{"b":{"c":"object"}}}}"#),
            (r#"{"list":[{"x":true},2],"empty":[]}"#, r#"{"list":[{"x":"boolean"}],"empty":[]}"#),
            (r#"{"a\"\u000ab":1,"\ud800":2}"#, r#"{"a\"\nb":"number","":"number"}"#),
            (r#"{"ghp_0123456789abcdefghij":1}"#, r#"{"[redacted]":"number"}"#),
            (r#"[[[[[1]]]]]"#, r#"[[[["array"]]]]"#),
        ] {
            let mut out = Vec::new();
            let parsed = Json::parse(json.as_bytes(), &Limits::DEFAULT).unwrap();
            write(&mut out, parsed, Names::Redacted(&Redactor::default()));
            assert_eq!(String::from_utf8(out).unwrap(), told, "{json}");
        }
    }

    #[test]
    fn wide_arguments_are_not_told_to_their_end() {
        let many = |inner: &str| {
            let members: Vec<String> = (0..MEMBERS).map(|n| format!(r#""{n}":{inner}"#)).collect();
            format!("{{{}}}", members.join(","))
        };
        let json = (0..3).fold("1".to_owned(), |inner, _| many(&inner));
        let parsed = Json::parse(json.as_bytes(), &Limits::DEFAULT).unwrap();
        for names in [Names::Plain, Names::Redacted(&Redactor::default())] {
            let mut out = Vec::new();
            write(&mut out, parsed, names);
            assert!(out.len() < 2 * LONGEST, "{} bytes of {}", out.len(), json.len());
            assert!(serde_json::from_slice::<serde_json::Value>(&out).is_ok());
        }
    }
}
