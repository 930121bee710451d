//! TOML into the common tree.

use std::borrow::Cow;

use switchboard_model::Code;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Field, MAX_DEPTH, Node, SyntaxError, Tree, Value, too_deep};

pub(super) fn parse(text: &str) -> Result<Tree, Vec<SyntaxError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut complaints: Vec<SyntaxError> = errors.iter().map(complaint).collect();
    complaints.sort_by_key(|complaint| complaint.span.start);
    // A name that stands twice spoils nothing else; the first one counts.
    if complaints.iter().any(|c| c.code != Code::DuplicateName) {
        return Err(complaints);
    }
    let span = table.span();
    let fields = map(table.into_inner(), 0).map_err(|error| vec![error])?;
    Ok(Tree { root: Node { span, value: Value::Map(fields) }, complaints })
}

fn complaint(error: &toml::de::Error) -> SyntaxError {
    let duplicate = error.message().contains("duplicate key");
    SyntaxError {
        code: if duplicate { Code::DuplicateName } else { Code::Syntax },
        span: error.span().unwrap_or(0..0),
        message: match duplicate {
            true => "this name stands here for the second time".into(),
            false => error.message().to_owned(),
        },
        remedy: duplicate.then(|| "Remove or rename one of them; the first one counts.".into()),
    }
}

fn map(table: DeTable<'_>, depth: usize) -> Result<Vec<Field>, SyntaxError> {
    table.into_iter().map(|(key, value)| field(key, value, depth)).collect()
}

fn field(
    key: Spanned<Cow<'_, str>>,
    value: Spanned<DeValue<'_>>,
    depth: usize,
) -> Result<Field, SyntaxError> {
    let key_span = key.span();
    Ok(Field { key: key.into_inner().into_owned(), key_span, value: node(value, depth + 1)? })
}

fn node(value: Spanned<DeValue<'_>>, depth: usize) -> Result<Node, SyntaxError> {
    let span = value.span();
    if depth > MAX_DEPTH {
        return Err(too_deep(span));
    }
    let value = match value.into_inner() {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Integer(number) => Value::Number(number.to_string()),
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Value::Bool(flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(
            items.into_iter().map(|item| node(item, depth + 1)).collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => Value::Map(map(table, depth)?),
    };
    Ok(Node { span, value })
}
