//! Changes one place of a text and leaves every other byte as it is. Knows the three formats and
//! nothing of what they say; works on the places that the tree gives.

mod block;
mod flow;
mod lines;
mod nested;
mod render;
mod scan;
mod tables;
#[cfg(test)]
mod tests;
mod yaml;

use std::ops::Range;

use serde_json::Value;

use crate::syntax::{self, Format, Node};

/// A step from a table or a list to what is in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Key(String),
    At(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(at: usize) -> Self {
        Self::At(at)
    }
}

/// The way from the top of a text to one of its values.
pub(super) type Trail = Vec<Step>;

/// A trail of keys.
pub(super) fn trail<const N: usize>(keys: [&str; N]) -> Trail {
    keys.into_iter().map(Step::from).collect()
}

/// A trail that goes one step further.
pub(super) fn further(trail: &[Step], step: impl Into<Step>) -> Trail {
    trail.iter().cloned().chain([step.into()]).collect()
}

/// One change of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Op {
    /// Writes a value, with the tables that lead to it where there are none.
    Set(Trail, Value),
    /// Takes a key or an item out, with the comments that belong to it.
    Remove(Trail),
    /// Adds an item to a list, which is made where there is none.
    Push(Trail, Value),
}

/// Why a place cannot be changed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stuck(pub(super) String);

pub(super) fn stuck<T>(why: impl Into<String>) -> Result<T, Stuck> {
    Err(Stuck(why.into()))
}

/// Applies changes one after the other.
pub(super) fn change(text: &str, format: Format, ops: &[Op]) -> Result<String, Stuck> {
    let mut changed = text.to_owned();
    for op in ops {
        let Ok(tree) = syntax::parse(&changed, format) else {
            return stuck("the text would no longer be valid");
        };
        let edits = match format {
            Format::Toml => tables::edits(&changed, &tree.root, op)?,
            Format::Json | Format::Yaml => nested::edits(&changed, format, &tree.root, op)?,
        };
        changed = splice(&changed, edits)?;
    }
    // Whole lines are cut with their ends; a text that had no last one does not get it that way.
    if !text.is_empty() && !text.ends_with('\n') && changed.ends_with('\n') {
        changed.truncate(changed.trim_end_matches(['\n', '\r']).len());
    }
    Ok(changed)
}

/// What is at the end of a trail, if the whole way is there.
pub(super) fn find<'n>(root: &'n Node, trail: &[Step]) -> Option<&'n Node> {
    trail.iter().try_fold(root, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::At(at) => node.items().get(*at),
    })
}

/// A piece of text that takes the place of another.
#[derive(Clone, Debug, PartialEq)]
struct Edit {
    range: Range<usize>,
    with: String,
}

fn insert(at: usize, with: impl Into<String>) -> Edit {
    Edit { range: at..at, with: with.into() }
}

fn replace(range: Range<usize>, with: impl Into<String>) -> Edit {
    Edit { range, with: with.into() }
}

fn delete(range: Range<usize>) -> Edit {
    Edit { range, with: String::new() }
}

/// Puts the pieces in, with the text's own line ends.
fn splice(text: &str, mut edits: Vec<Edit>) -> Result<String, Stuck> {
    edits.sort_by_key(|edit| edit.range.start);
    let newline = lines::newline(text);
    let (mut result, mut at) = (String::with_capacity(text.len()), 0);
    for edit in &edits {
        let (Some(kept), true) =
            (text.get(at..edit.range.start), text.is_char_boundary(edit.range.end))
        else {
            return stuck("two changes would meet at one place");
        };
        result.push_str(kept);
        result.push_str(&edit.with.replace('\n', newline));
        at = edit.range.end;
    }
    result.push_str(&text[at..]);
    Ok(result)
}

/// Wraps a value in the tables that the rest of a trail names.
fn wrapped(value: Value, rest: &[Step]) -> Result<Value, Stuck> {
    rest.iter().rev().try_fold(value, |inner, step| match step {
        Step::Key(key) => Ok(Value::Object([(key.clone(), inner)].into_iter().collect())),
        Step::At(_) => stuck("the list that is meant is not there"),
    })
}
