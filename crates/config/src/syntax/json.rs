//! JSON with comments and trailing commas, into the common tree.

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use switchboard_model::Code;

use super::{Field, MAX_DEPTH, Node, SyntaxError, Tree, Value, too_deep};

/// What is allowed beyond JSON: what the clients' own files contain, and no more.
pub(super) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn parse(text: &str) -> Result<Tree, Vec<SyntaxError>> {
    // The reader recurses, so depth is judged before it sees the text.
    if let Some(at) = deeper_than(text, MAX_DEPTH) {
        return Err(vec![too_deep(at..at + 1)]);
    }
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let parsed = parse_to_ast(text, &collect, &OPTIONS).map_err(|error| {
        let range = error.range();
        vec![SyntaxError {
            code: Code::Syntax,
            span: range.start..range.end,
            message: error.kind().to_string(),
            remedy: None,
        }]
    })?;
    let Some(value) = parsed.value else {
        return Ok(Tree {
            root: Node { span: 0..0, value: Value::Map(Vec::new()) },
            complaints: Vec::new(),
        });
    };
    Ok(Tree { root: node(value), complaints: Vec::new() })
}

fn node(value: ast::Value<'_>) -> Node {
    let range = value.range();
    let value = match value {
        ast::Value::StringLit(text) => Value::String(text.value.into_owned()),
        ast::Value::NumberLit(number) => Value::Number(number.value.to_owned()),
        ast::Value::BooleanLit(flag) => Value::Bool(flag.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(array) => Value::List(array.elements.into_iter().map(node).collect()),
        ast::Value::Object(object) => {
            Value::Map(object.properties.into_iter().map(field).collect())
        }
    };
    Node { span: range.start..range.end, value }
}

fn field(property: ast::ObjectProp<'_>) -> Field {
    let range = property.name.range();
    let key = match property.name {
        ObjectPropName::String(text) => text.value.into_owned(),
        ObjectPropName::Word(word) => word.value.to_owned(),
    };
    Field { key, key_span: range.start..range.end, value: node(property.value) }
}

/// Where brackets open more than `max` deep, outside of strings and comments.
fn deeper_than(text: &str, max: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += text.as_bytes()[at..].iter().position(|b| *b == b'\n').unwrap_or(text.len());
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let rest = &bytes[at + 2..];
                at += 2 + rest.windows(2).position(|w| w == b"*/").map_or(rest.len(), |n| n + 1);
            }
            b'[' | b'{' => {
                depth += 1;
                if depth > max {
                    return Some(at);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}
