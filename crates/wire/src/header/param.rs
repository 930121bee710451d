//! Arguments of tools that a server wants mirrored into headers: `x-mcp-header` in an input schema.
//! Never resolves a `$ref`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::header::check::different;
use crate::header::{Mismatch, PARAM_PREFIX, decode};
use crate::json::Json;

const ANNOTATION: &str = "x-mcp-header";

/// Integers beyond ±(2^53 − 1) are not the same number to everybody.
const SAFE: i64 = 9_007_199_254_740_991;

/// An argument that is mirrored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamHeader {
    /// The header's name in lower case, prefix included.
    pub header: Box<str>,
    /// The keys that lead to the value in `arguments`.
    pub path: Vec<Box<str>>,
    /// The declared type.
    pub kind: ParamKind,
}

/// The types that may be mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// `string`
    String,
    /// `integer`
    Integer,
    /// `boolean`
    Boolean,
}

/// Why a tool with such a schema is not to be offered over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("x-mcp-header at `{path}` {reason}")]
pub struct BadAnnotation {
    /// Where in the schema.
    pub path: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl ParamHeader {
    /// The value to mirror, before [`encode`](crate::header::encode); `None` where the specification
    /// wants no header: no value, `null`, or something that cannot be one.
    pub fn value(&self, arguments: Json<'_>) -> Option<String> {
        let found = self.find(arguments)?;
        if let Some(text) = found.string() {
            return Some(text.into_owned());
        }
        if let Some(flag) = found.boolean() {
            return Some(flag.to_string());
        }
        match found.integer() {
            Some(number) => (number.abs_diff(0) <= SAFE.unsigned_abs()).then(|| number.to_string()),
            None => found.number().map(|_| found.as_str().to_owned()),
        }
    }

    fn find<'a>(&self, arguments: Json<'a>) -> Option<Json<'a>> {
        self.path.iter().try_fold(arguments, |value, key| value.get(key))
    }
}

/// The arguments that a tool's input schema wants mirrored. An annotation that breaks the rules, or
/// stands where `properties` alone do not lead, spoils the tool.
pub fn param_headers(schema: Json<'_>) -> Result<Vec<ParamHeader>, BadAnnotation> {
    static FINDERS: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| [Finder::new(ANNOTATION), Finder::new("\\u")]);
    // Nearly no schema has any; one with escapes could hide it.
    if FINDERS.iter().all(|finder| finder.find(schema.as_bytes()).is_none()) {
        return Ok(Vec::new());
    }
    let mut found: Vec<ParamHeader> = Vec::new();
    let mut todo = vec![Place { schema, path: Vec::new(), reach: Reach::Properties }];
    while let Some(place) = todo.pop() {
        if let Some(annotation) = place.schema.get(ANNOTATION) {
            let header = place.read(annotation)?;
            if found.iter().any(|other| other.header == header.header) {
                return Err(place.bad("is there twice"));
            }
            found.push(header);
        }
        place.push_inner(&mut todo);
    }
    found.sort_by(|a, b| a.header.cmp(&b.header));
    Ok(found)
}

/// Compares the mirrored headers with the arguments; `header` finds one by its lower-case name.
pub fn check_params<'h>(
    wanted: &[ParamHeader],
    arguments: Option<Json<'_>>,
    header: impl Fn(&str) -> Option<&'h str>,
) -> Result<(), Mismatch> {
    for param in wanted {
        let Some(body) = arguments.and_then(|arguments| param.value(arguments)) else { continue };
        let name = &*param.header;
        let sent = header(name).ok_or_else(|| Mismatch::Missing(name.into()))?;
        let sent = decode(sent).map_err(|_| Mismatch::Malformed(name.into()))?;
        let same = match param.kind {
            ParamKind::Integer => same_number(&sent, &body),
            ParamKind::String | ParamKind::Boolean => sent == body,
        };
        if !same {
            return Err(different(name, &sent, &body));
        }
    }
    Ok(())
}

/// `42.0` is `42`; forms that only some parsers know (`0x2a`, ` 42 `, `1e3`) are not.
fn same_number(sent: &str, body: &str) -> bool {
    let decimal = sent.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.'));
    match (decimal, sent.parse::<f64>(), body.parse::<f64>()) {
        (true, Ok(sent), Ok(body)) => sent == body,
        _ => sent == body,
    }
}

/// A schema inside of the schema.
struct Place<'a> {
    schema: Json<'a>,
    path: Vec<Box<str>>,
    reach: Reach,
}

/// How a place is reached from the root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Through `properties` alone: its value has one place in the arguments.
    Properties,
    /// In any other way.
    Otherwise,
}

impl<'a> Place<'a> {
    fn read(&self, annotation: Json<'a>) -> Result<ParamHeader, BadAnnotation> {
        if self.reach != Reach::Properties || self.path.is_empty() {
            return Err(self.bad("is not reached through `properties` alone"));
        }
        let name = annotation.string().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| self.bad("is not a name"))?;
        if !name.bytes().all(is_token) {
            return Err(self.bad("has characters that no header name may have"));
        }
        let kind = match self.schema.get("type").and_then(Json::string).as_deref() {
            Some("string") => ParamKind::String,
            Some("integer") => ParamKind::Integer,
            Some("boolean") => ParamKind::Boolean,
            _ => return Err(self.bad("is not on a string, integer or boolean")),
        };
        let header = format!("{PARAM_PREFIX}{}", name.to_ascii_lowercase()).into();
        Ok(ParamHeader { header, path: self.path.clone(), kind })
    }

    fn push_inner(&self, todo: &mut Vec<Place<'a>>) {
        for member in self.schema.members() {
            let Some(key) = member.key.text() else { continue };
            match &*key {
                "properties" => self.push_named(todo, member.value, self.reach),
                "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
                    self.push_named(todo, member.value, Reach::Otherwise);
                }
                "items"
                | "prefixItems"
                | "additionalItems"
                | "unevaluatedItems"
                | "contains"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames"
                | "oneOf"
                | "anyOf"
                | "allOf"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contentSchema" => {
                    self.push(todo, &key, member.value, Reach::Otherwise);
                    for (nth, element) in member.value.elements().enumerate() {
                        self.push(todo, &format!("{key}[{nth}]"), element, Reach::Otherwise);
                    }
                }
                // Everything else holds no schema: an `enum` may contain what looks like one.
                _ => {}
            }
        }
    }

    fn push_named(&self, todo: &mut Vec<Place<'a>>, schemas: Json<'a>, reach: Reach) {
        for member in schemas.members() {
            let Some(key) = member.key.text() else { continue };
            self.push(todo, &key, member.value, reach);
        }
    }

    fn push(&self, todo: &mut Vec<Place<'a>>, key: &str, schema: Json<'a>, reach: Reach) {
        let mut path = self.path.clone();
        path.push(key.into());
        todo.push(Place { schema, path, reach });
    }

    fn bad(&self, reason: &'static str) -> BadAnnotation {
        BadAnnotation { path: self.path.join("."), reason }
    }
}

/// RFC 9110's `tchar`.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
