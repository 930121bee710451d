//! A text with variables in it, kept unexpanded: `Bearer ${SENTRY_TOKEN}`. It becomes a value only
//! when a connection is made, by a function that is given the environment. Never reads one itself.

use std::fmt;

use crate::mask;
use crate::secret::Secret;

/// Looks a variable up. Whoever makes the connection brings it.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<Secret>;

/// A text with variables, unexpanded.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Template(Vec<Part>);

/// A piece of a template.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// Text that stands for itself.
    Literal(String),
    /// A variable.
    Variable {
        /// Its name in the environment.
        name: String,
        /// What happens when the environment does not have it, or has it empty.
        if_missing: IfMissing,
    },
}

/// What a missing variable means. The file's dialect decides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IfMissing {
    /// The server waits in *needs setup*, which names the variable.
    NeedsSetup,
    /// The server is left out, with one warning (AICIB's rule).
    Skip,
    /// This text takes its place: `${VAR:-text}`, and the empty text by Annabelle's rule.
    Use(String),
}

/// How variables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `${VAR}`, `${VAR:-default}`, `$${` for a literal `${` (and `$$${VAR}` for a `$` before a
    /// variable); anything else after `${` is an error.
    Native,
    /// `${VAR}` and `${VAR:-default}`; anything else is text.
    Plain,
}

/// Why a text is not a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// `${` without its `}`.
    #[error("`${{` is not closed by `}}`")]
    Unclosed {
        /// Where it begins, in bytes.
        at: usize,
    },
    /// What stands between the braces is not a name.
    #[error("`${{{text}}}` does not name a variable")]
    NotAName {
        /// Where it begins, in bytes.
        at: usize,
        /// What stands there.
        text: String,
    },
}

impl TemplateError {
    /// Where in the text it is, in bytes.
    pub fn at(&self) -> usize {
        match self {
            Self::Unclosed { at } | Self::NotAName { at, .. } => *at,
        }
    }
}

impl Template {
    /// Reads the native notation.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        Self::parse_as(text, Syntax::Native)
    }

    /// Reads `text` in a given notation.
    pub fn parse_as(text: &str, syntax: Syntax) -> Result<Self, TemplateError> {
        if !text.contains('$') {
            return Ok(Self::literal(text));
        }
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut at = 0;
        while let Some(found) = text[at..].find('$') {
            literal.push_str(&text[at..at + found]);
            at += found;
            let dollars = text[at..].bytes().take_while(|b| *b == b'$').count();
            if text.as_bytes().get(at + dollars) != Some(&b'{') {
                literal.push_str(&text[at..at + dollars]);
                at += dollars;
                continue;
            }
            // Before a brace, our own notation writes each `$` that stands for itself twice.
            let (plain, opens) = match syntax {
                Syntax::Native => (dollars / 2, dollars % 2 == 1),
                Syntax::Plain => (dollars - 1, true),
            };
            literal.extend(std::iter::repeat_n('$', plain));
            at += dollars - usize::from(opens);
            if !opens {
                continue;
            }
            match variable(&text[at..], at) {
                Ok((part, length)) => {
                    push_literal(&mut parts, &mut literal);
                    parts.push(part);
                    at += length;
                }
                Err(error) if syntax == Syntax::Native => return Err(error),
                Err(_) => {
                    literal.push_str("${");
                    at += 2;
                }
            }
        }
        literal.push_str(&text[at..]);
        push_literal(&mut parts, &mut literal);
        Ok(Self(parts))
    }

    /// A text without variables.
    pub fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self(if text.is_empty() { Vec::new() } else { vec![Part::Literal(text)] })
    }

    /// Puts a template together, neighbouring texts joined so that equal ones compare equal.
    pub fn from_parts(parts: impl IntoIterator<Item = Part>) -> Self {
        let (mut joined, mut literal) = (Vec::new(), String::new());
        for part in parts {
            match part {
                Part::Literal(text) => literal.push_str(&text),
                variable @ Part::Variable { .. } => {
                    push_literal(&mut joined, &mut literal);
                    joined.push(variable);
                }
            }
        }
        push_literal(&mut joined, &mut literal);
        Self(joined)
    }

    /// The pieces.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// The text, if it has no variables.
    pub fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The variables it needs, with what happens when one is missing.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &IfMissing)> {
        self.0.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Variable { name, if_missing } => Some((name.as_str(), if_missing)),
        })
    }

    /// The same with another answer to a missing variable, where it had none of its own.
    pub fn with_missing(mut self, then: &IfMissing) -> Self {
        for part in &mut self.0 {
            if let Part::Variable { if_missing, .. } = part
                && *if_missing == IfMissing::NeedsSetup
            {
                *if_missing = then.clone();
            }
        }
        self
    }

    /// The value. A variable that is empty counts as missing: nothing starts with an empty token.
    /// Missing ones that nothing replaces are told to `missing`, all of them.
    pub fn resolve(&self, env: Env<'_>, missing: &mut dyn FnMut(&str, &IfMissing)) -> Secret {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Variable { name, if_missing } => match env(name).filter(|v| !v.is_empty()) {
                    Some(value) => text.push_str(value.expose()),
                    None => match if_missing {
                        IfMissing::Use(instead) => text.push_str(instead),
                        IfMissing::NeedsSetup | IfMissing::Skip => missing(name, if_missing),
                    },
                },
            }
        }
        Secret::new(text)
    }

    /// The template in the native notation. It may hold secrets that somebody wrote into the file,
    /// so it is for writing files, not for showing.
    pub fn source(&self) -> String {
        let followed = |at: usize| matches!(self.0.get(at + 1), Some(Part::Variable { .. }));
        self.0.iter().enumerate().map(|(at, part)| part.source(followed(at))).collect()
    }
}

impl Part {
    /// A variable that the server cannot start without.
    pub fn variable(name: impl Into<String>) -> Self {
        Self::Variable { name: name.into(), if_missing: IfMissing::NeedsSetup }
    }

    fn source(&self, before_variable: bool) -> String {
        match self {
            Self::Literal(text) => escaped(text, before_variable),
            Self::Variable { name, if_missing: IfMissing::Use(default) } => {
                format!("${{{name}:-{default}}}")
            }
            Self::Variable { name, .. } => format!("${{{name}}}"),
        }
    }
}

/// What a person may see: words that look like secrets are masked.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.source();
        f.write_str(&if source.contains("://") { mask::url(&source) } else { mask::text(&source) })
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// A template whose own text may be secret (environment values, headers, tokens): shown with its
/// variables, but with everything else masked.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct SecretTemplate(Template);

impl SecretTemplate {
    /// Takes a template in.
    pub fn new(template: Template) -> Self {
        Self(template)
    }

    /// The template itself. Never for logs, errors or anything a person reads.
    pub fn expose(&self) -> &Template {
        &self.0
    }

    /// The variables it needs.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &IfMissing)> {
        self.0.variables()
    }

    /// Whether a text that may be a secret stands in it, rather than a variable alone.
    pub fn has_literal_secret(&self) -> bool {
        self.0.parts().iter().any(|part| match part {
            Part::Literal(text) => !mask::is_scheme(text) && !text.is_empty(),
            Part::Variable { .. } => false,
        })
    }
}

impl fmt::Display for SecretTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.0.parts() {
            match part {
                Part::Literal(text) if mask::is_scheme(text) => f.write_str(text)?,
                Part::Literal(_) => f.write_str(mask::MASK)?,
                Part::Variable { name, .. } => write!(f, "${{{name}}}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for SecretTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// Whether this can be the name of a variable.
pub fn is_variable_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Reads the variable that `rest` begins with; also says how many bytes it takes.
fn variable(rest: &str, at: usize) -> Result<(Part, usize), TemplateError> {
    let close = close_of(rest, at)?;
    let inner = &rest[2..close];
    let (name, if_missing) = match inner.split_once(":-") {
        Some((name, default)) => (name, IfMissing::Use(default.to_owned())),
        None => (inner, IfMissing::NeedsSetup),
    };
    if !is_variable_name(name) {
        return Err(TemplateError::NotAName { at, text: inner.to_owned() });
    }
    Ok((Part::Variable { name: name.to_owned(), if_missing }, close + 1))
}

/// Where the `}` is. The search ends at the next `${`, or a text of nothing else would be read from
/// every place in it to its end.
fn close_of(rest: &str, at: usize) -> Result<usize, TemplateError> {
    let mut from = 2;
    while let Some(found) = rest[from..].find(['$', '}']) {
        from += found;
        if rest[from..].starts_with('}') {
            return Ok(from);
        }
        if rest[from..].starts_with("${") {
            return Err(TemplateError::NotAName { at, text: format!("{}${{…", &rest[2..from]) });
        }
        from += 1;
    }
    Err(TemplateError::Unclosed { at })
}

/// A text in the native notation: each `$` of those that stand before a brace is written twice.
fn escaped(text: &str, before_variable: bool) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.find('$') {
        written.push_str(&rest[..found]);
        rest = &rest[found..];
        let dollars = rest.bytes().take_while(|b| *b == b'$').count();
        let brace = rest[dollars..].starts_with('{') || (rest.len() == dollars && before_variable);
        written.extend(std::iter::repeat_n('$', if brace { 2 * dollars } else { dollars }));
        rest = &rest[dollars..];
    }
    written.push_str(rest);
    written
}

fn push_literal(parts: &mut Vec<Part>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(Part::Literal(std::mem::take(literal)));
    }
}

#[cfg(test)]
mod tests;
