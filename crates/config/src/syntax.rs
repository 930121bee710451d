//! TOML, JSON and YAML as one tree with places. Knows no key of any dialect.

mod json;
mod toml;
mod yaml;

use std::ops::Range;
use std::path::Path;

use switchboard_model::Code;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON, with comments and trailing commas.
    Json,
    /// YAML.
    Yaml,
}

impl Format {
    /// What the file's name says; JSON where it says nothing.
    pub fn of(path: &Path) -> Self {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "toml" => Self::Toml,
            "yaml" | "yml" => Self::Yaml,
            _ => Self::Json,
        }
    }

    /// The name that people know it by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Toml => "TOML",
            Self::Json => "JSON",
            Self::Yaml => "YAML",
        }
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

/// What a value can be, whatever it was written in.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// As written: `1e3` and `0x10` are read by whoever wants a number.
    Number(String),
    String(String),
    List(Vec<Node>),
    Map(Vec<Field>),
    /// A date, which nothing here wants.
    Date,
    /// A table that stands twice, of which nobody knows which half is meant. It has been told.
    Twice,
}

/// A key and its value. A map may have the same key twice; whoever reads it complains.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
}

/// Why a text is not a tree.
#[derive(Clone, Debug)]
pub(crate) struct SyntaxError {
    pub(crate) code: Code,
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) remedy: Option<String>,
}

/// A tree, with what can be lived with.
pub(crate) struct Tree {
    pub(crate) root: Node,
    pub(crate) complaints: Vec<SyntaxError>,
}

/// No sensible configuration is nested deeper, and recursion must end somewhere.
const MAX_DEPTH: usize = 64;
/// What YAML's aliases may expand to.
const MAX_NODES: usize = 1_000_000;

/// Reads a text. Every syntax error that the format's reader can tell is told.
pub(crate) fn parse(text: &str, format: Format) -> Result<Tree, Vec<SyntaxError>> {
    match format {
        Format::Toml => self::toml::parse(text),
        Format::Json => json::parse(text),
        Format::Yaml => yaml::parse(text),
    }
}

impl Node {
    /// The value of a key in a map; the first, if there are several.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.fields().iter().find(|field| field.key == key).map(|field| &field.value)
    }

    /// The fields of a map; none of anything else.
    pub(crate) fn fields(&self) -> &[Field] {
        match &self.value {
            Value::Map(fields) => fields,
            _ => &[],
        }
    }

    /// The items of a list; none of anything else.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// What it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a table",
            Value::Date => "a date",
            Value::Twice => "a table that stands twice",
        }
    }
}

fn too_deep(span: Range<usize>) -> SyntaxError {
    SyntaxError {
        code: Code::TooDeep,
        span,
        message: format!("this is nested more than {MAX_DEPTH} levels deep"),
        remedy: Some("A configuration needs no such depth; flatten it.".into()),
    }
}

#[cfg(test)]
mod tests;
