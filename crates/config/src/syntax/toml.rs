//! TOML into the common tree.

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
    let mut fields = map(table.into_inner(), 0).map_err(|error| vec![error])?;
    for complaint in &complaints {
        if let Some(path) = header(text, complaint.span.start) {
            void(&mut fields, &path);
        }
    }
    Ok(Tree { root: Node { span, value: Value::Map(fields) }, complaints })
}

/// The path of the table whose header, `[a.b]`, stands on this line.
fn header(text: &str, at: usize) -> Option<Vec<String>> {
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let line = text[start..].lines().next()?.trim();
    let inner = line.strip_prefix('[')?.rsplit_once(']')?.0;
    let keys = toml_edit::Key::parse(inner).ok()?;
    Some(keys.iter().map(|key| key.get().to_owned()).collect())
}

/// The reader puts the halves of a table that stands twice together, which nobody has asked for.
fn void(fields: &mut [Field], path: &[String]) {
    let Some((first, rest)) = path.split_first() else { return };
    let Some(field) = fields.iter_mut().find(|field| field.key == *first) else { return };
    match &mut field.value.value {
        value if rest.is_empty() => *value = Value::Twice,
        Value::Map(inner) => void(inner, rest),
        _ => {}
    }
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
        remedy: duplicate.then(|| "Remove or rename one of them.".into()),
    }
}

fn map(table: DeTable<'_>, depth: usize) -> Result<Vec<Field>, SyntaxError> {
    let mut fields = Vec::with_capacity(table.len());
    for (key, value) in table {
        let (key_span, value) = (key.span(), node(value, depth + 1)?);
        fields.push(Field { key: key.into_inner().into_owned(), key_span, value });
    }
    Ok(fields)
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
        DeValue::Array(items) => {
            let mut list = Vec::with_capacity(items.len());
            for item in items {
                list.push(node(item, depth + 1)?);
            }
            Value::List(list)
        }
        DeValue::Table(table) => Value::Map(map(table, depth)?),
    };
    Ok(Node { span, value })
}
