//! A template as JSON: its text where that says everything, else its parts. Says of each whether
//! something secret may stand in it.

use serde_json::{Value, json};
use switchboard_model::{IfMissing, Part, SecretTemplate, Template, mask};

use crate::error::{Error, Result};

/// The template as JSON.
pub(super) fn write(template: &Template) -> Value {
    let source = template.source();
    match Template::parse(&source) {
        Ok(same) if same == *template => source.into(),
        Ok(_) | Err(_) => template.parts().iter().map(part).collect(),
    }
}

/// The template that was written.
pub(super) fn read(value: &Value) -> Result<Template> {
    let bad = || Error::malformed("declaration", "a text with variables cannot be read");
    match value {
        Value::String(source) => Template::parse(source).map_err(|_| bad()),
        Value::Array(parts) => {
            let parts = parts.iter().map(read_part).collect::<Option<Vec<_>>>().ok_or_else(bad)?;
            Ok(Template::from_parts(parts))
        }
        _ => Err(bad()),
    }
}

/// Whether a text that may be secret stands in it; a default is such a text too.
pub(super) fn is_secret(template: &SecretTemplate) -> bool {
    let default = |(_, missing): (&str, &IfMissing)| matches!(missing, IfMissing::Use(text) if !text.is_empty());
    template.has_literal_secret() || template.variables().any(default)
}

/// Whether something in a word of a command line looks like a secret, given the word before it.
pub(super) fn word_looks_secret(before: Option<&str>, word: &str) -> bool {
    mask::hides_word(before, word)
}

/// Whether something in a URL looks like a secret.
pub(super) fn url_looks_secret(url: &str) -> bool {
    mask::url(url) != url
}

fn part(part: &Part) -> Value {
    match part {
        Part::Literal(text) => json!({"text": text}),
        Part::Variable { name, if_missing: IfMissing::NeedsSetup } => json!({"variable": name}),
        Part::Variable { name, if_missing: IfMissing::Skip } => {
            json!({"variable": name, "missing": "skip"})
        }
        Part::Variable { name, if_missing: IfMissing::Use(text) } => {
            json!({"variable": name, "default": text})
        }
    }
}

fn read_part(value: &Value) -> Option<Part> {
    if let Some(text) = value.get("text") {
        return Some(Part::Literal(text.as_str()?.to_owned()));
    }
    let name = value.get("variable")?.as_str()?.to_owned();
    let if_missing = match (value.get("missing"), value.get("default")) {
        (None, None) => IfMissing::NeedsSetup,
        (Some(word), None) if word == "skip" => IfMissing::Skip,
        (None, Some(text)) => IfMissing::Use(text.as_str()?.to_owned()),
        _ => return None,
    };
    Some(Part::Variable { name, if_missing })
}
