//! Reads a tree key by key and collects every problem on the way. Knows no dialect; each of them
//! says which keys there are and how bad an unknown one is.

mod report;
mod secrets;
mod units;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use switchboard_model::Code;

pub(crate) use self::report::{MAX_PROBLEMS, Report, nearest};
pub(crate) use self::secrets::{lexical_spans, secret_spans};
pub(crate) use self::units::{Unit, duration};
use crate::syntax::{Field, Node, Value};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

impl<T> Spanned<T> {
    pub(crate) fn new(value: T, span: &Range<usize>) -> Self {
        Self { value, span: span.clone() }
    }

    pub(crate) fn map<U>(self, with: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: with(self.value), span: self.span }
    }
}

/// A text as written, and where.
pub(crate) type Text = Spanned<String>;

/// What an unknown key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Our own file: a slip.
    Error,
    /// Another program's: perhaps newer than we are.
    Warning,
    /// None of our business.
    Ignored,
}

/// What a table is, for messages. Kept in pieces, since most tables need none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'n> {
    /// "the file".
    Plain(&'static str),
    /// "server `github`".
    Named(&'static str, &'n str),
}

impl From<&'static str> for What<'_> {
    fn from(text: &'static str) -> Self {
        Self::Plain(text)
    }
}

impl fmt::Display for What<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => f.write_str(text),
            Self::Named(kind, name) => write!(f, "{kind} `{name}`"),
        }
    }
}

/// The keys of one table, taken one by one.
pub(crate) struct Fields<'n> {
    what: What<'n>,
    left: Vec<&'n Field>,
    /// Every key that was asked for.
    known: Vec<&'static str>,
    pub(crate) span: Range<usize>,
}

impl<'n> Fields<'n> {
    /// Opens a table. Anything else is a wrong type, and keys that stand twice are told.
    pub(crate) fn of(
        node: &'n Node,
        what: impl Into<What<'n>>,
        report: &mut Report,
    ) -> Option<Self> {
        let what = what.into();
        if matches!(node.value, Value::Twice) {
            return None;
        }
        if !node.is_map() {
            report.wrong_type(node, &what.to_string(), "a table");
            return None;
        }
        let left = once_each(node.fields(), report);
        Some(Self { what, left, known: Vec::with_capacity(32), span: node.span.clone() })
    }

    /// Takes a key, whatever it holds. Nothing at all (`null`) is as good as absent.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<&'n Field> {
        self.known.push(key);
        let at = self.left.iter().position(|field| field.key == key)?;
        let field = self.left.remove(at);
        (!field.value.is_null()).then_some(field)
    }

    /// Takes keys that mean something elsewhere and nothing here.
    pub(crate) fn skip(&mut self, keys: &[&'static str]) {
        for key in keys {
            self.take(key);
        }
    }

    pub(crate) fn text(&mut self, key: &'static str, report: &mut Report) -> Option<Text> {
        let field = self.take(key)?;
        text(&field.value, key, report)
    }

    /// A text of which there must be something.
    pub(crate) fn some_text(&mut self, key: &'static str, report: &mut Report) -> Option<Text> {
        let text = self.text(key, report)?;
        if text.value.trim().is_empty() {
            let remedy = format!("Write something there, or remove `{key}`.");
            report.error(Code::BadValue, &text.span, format!("`{key}` is empty"), remedy);
            return None;
        }
        Some(text)
    }

    pub(crate) fn flag(&mut self, key: &'static str, report: &mut Report) -> Option<Spanned<bool>> {
        let field = self.take(key)?;
        match field.value.value {
            Value::Bool(flag) => Some(Spanned::new(flag, &field.value.span)),
            _ => {
                report.wrong_type(&field.value, &format!("`{key}`"), "true or false");
                None
            }
        }
    }

    /// A list of texts; items that are none are told and left out.
    pub(crate) fn texts(&mut self, key: &'static str, report: &mut Report) -> Option<Vec<Text>> {
        let field = self.take(key)?;
        let Value::List(items) = &field.value.value else {
            report.wrong_type(&field.value, &format!("`{key}`"), "a list of texts");
            return None;
        };
        let what = || format!("each item of `{key}`");
        Some(items.iter().filter_map(|item| text_as(item, what, report)).collect())
    }

    /// A table of texts, in its order.
    pub(crate) fn pairs(&mut self, key: &'static str, report: &mut Report) -> Vec<(Text, Text)> {
        let Some(field) = self.take(key) else { return Vec::new() };
        if !field.value.is_map() {
            if !matches!(field.value.value, Value::Twice) {
                report.wrong_type(&field.value, &format!("`{key}`"), "a table");
            }
            return Vec::new();
        }
        let fields = once_each(field.value.fields(), report);
        let pair = |field: &&Field| {
            let value = scalar_text(&field.value, || format!("`{key}.{}`", field.key), report)?;
            Some((Spanned::new(field.key.clone(), &field.key_span), value))
        };
        fields.iter().filter_map(pair).collect()
    }

    pub(crate) fn duration(
        &mut self,
        key: &'static str,
        unit: Unit,
        report: &mut Report,
    ) -> Option<Duration> {
        let field = self.take(key)?;
        units::duration(&field.value, key, unit, report)
    }

    pub(crate) fn size(&mut self, key: &'static str, report: &mut Report) -> Option<u64> {
        let field = self.take(key)?;
        units::size(&field.value, key, report)
    }

    pub(crate) fn count(&mut self, key: &'static str, report: &mut Report) -> Option<u32> {
        let field = self.take(key)?;
        units::count(&field.value, key, report)
    }

    /// One of a few words, written as in the table.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
        report: &mut Report,
    ) -> Option<Spanned<T>> {
        let word = self.text(key, report)?;
        if let Some((_, value)) = words.iter().find(|(known, _)| *known == word.value) {
            return Some(Spanned::new(*value, &word.span));
        }
        let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
        let remedy = match nearest(&word.value, known.iter().copied()) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("Write one of: {}.", known.join(", ")),
        };
        let message = format!("`{}` is not a value that `{key}` can have", word.value);
        report.error(Code::BadValue, &word.span, message, remedy);
        None
    }

    /// Every key that was not taken.
    pub(crate) fn rest(&self) -> impl Iterator<Item = &'n Field> {
        self.left.iter().copied()
    }

    /// Tells the keys that nobody took.
    pub(crate) fn finish(self, unknown: Unknown, report: &mut Report) {
        if unknown == Unknown::Ignored {
            return;
        }
        for field in &self.left {
            let message = format!("{} has no key `{}`", self.what, field.key);
            let remedy = match nearest(&field.key, self.known.iter().copied()) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => format!("Remove it. Known keys: {}.", join(&self.known)),
            };
            match unknown {
                Unknown::Error => report.error(Code::UnknownKey, &field.key_span, message, remedy),
                Unknown::Warning | Unknown::Ignored => {
                    report.warning(Code::UnknownKey, &field.key_span, message, remedy);
                }
            }
        }
    }
}

/// The text of a node, if it is one.
pub(crate) fn text(node: &Node, key: &str, report: &mut Report) -> Option<Text> {
    text_as(node, || format!("`{key}`"), report)
}

fn text_as(node: &Node, what: impl Fn() -> String, report: &mut Report) -> Option<Text> {
    match &node.value {
        Value::String(text) => Some(Spanned::new(text.clone(), &node.span)),
        _ => {
            report.wrong_type(node, &what(), "a text");
            None
        }
    }
}

/// Environment values and headers are texts, but people write `PORT: 8080` and mean it.
fn scalar_text(node: &Node, what: impl Fn() -> String, report: &mut Report) -> Option<Text> {
    match &node.value {
        Value::Number(number) => Some(Spanned::new(number.clone(), &node.span)),
        Value::Bool(flag) => Some(Spanned::new(flag.to_string(), &node.span)),
        Value::Null => None,
        Value::String(_) | Value::List(_) | Value::Map(_) | Value::Date | Value::Twice => {
            text_as(node, what, report)
        }
    }
}

/// The fields, those that stand there again told and left out.
fn once_each<'n>(fields: &'n [Field], report: &mut Report) -> Vec<&'n Field> {
    // An entry has a few keys, which are compared at once; a map of servers may have thousands.
    const FEW: usize = 24;
    let mut left: Vec<&Field> = Vec::with_capacity(fields.len());
    let mut seen: HashMap<&str, &Field> = HashMap::new();
    for field in fields {
        let first = match fields.len() <= FEW {
            true => left.iter().copied().find(|known| known.key == field.key),
            false => seen.insert(&field.key, field),
        };
        match first {
            Some(first) => report.duplicate(field, first),
            None => left.push(field),
        }
    }
    left
}

fn join(keys: &[&'static str]) -> String {
    let keys: BTreeSet<&str> = keys.iter().copied().collect();
    keys.into_iter().collect::<Vec<_>>().join(", ")
}
