//! Changes in JSON and YAML, whose tables stand inside each other: finds the place, and leaves the
//! writing to the style that the place is written in.

use serde_json::Value as Json;

use super::flow::{Brackets, Child};
use super::{Edit, Op, Step, Stuck, block, find, render, replace, stuck, wrapped, yaml};
use crate::syntax::{Field, Format, Node, Value};

pub(super) fn edits(text: &str, format: Format, root: &Node, op: &Op) -> Result<Vec<Edit>, Stuck> {
    let nested = Nested { text, format, root };
    match op {
        Op::Set(trail, value) => nested.set(trail, value),
        Op::Remove(trail) => nested.remove(trail),
        Op::Push(trail, value) => match find(root, trail).filter(|node| !node.is_null()) {
            Some(_) => nested.push(trail, value),
            None => nested.set(trail, &Json::Array(vec![value.clone()])),
        },
    }
}

struct Nested<'t> {
    text: &'t str,
    format: Format,
    root: &'t Node,
}

impl Nested<'_> {
    fn set(&self, trail: &[Step], value: &Json) -> Result<Vec<Edit>, Stuck> {
        let there = |n: &usize| find(self.root, &trail[..*n]).is_some_and(|node| !node.is_null());
        // An empty text has no root that could be changed, but it has one that can be written.
        let depth = (0..=trail.len()).rev().find(there).unwrap_or(0);
        match (trail.get(depth), trail.split_last()) {
            (Some(Step::Key(key)), _) => {
                let value = wrapped(value.clone(), &trail[depth + 1..])?;
                self.put(&trail[..depth], key, &value)
            }
            (None, Some((Step::Key(key), container))) => self.put(container, key, value),
            _ => stuck("there is no such item"),
        }
    }

    /// Writes a key of a table that is there.
    fn put(&self, container: &[Step], key: &str, value: &Json) -> Result<Vec<Edit>, Stuck> {
        let node = self.at(container)?;
        if !matches!(node.value, Value::Map(_)) {
            return stuck(format!("{} stands where a table is needed", node.kind()));
        }
        if container.is_empty() && node.span.is_empty() {
            return Ok(vec![self.whole(key, value)]);
        }
        let field = self.field(node, key)?;
        if !self.is_flow(node) {
            return block::put(self.text, node, key, field, value);
        }
        let brackets = Brackets::of(self.text, self.format, node)?;
        if let Some(field) = field {
            let range = match self.format {
                Format::Yaml => yaml::value(self.text, field),
                Format::Json | Format::Toml => field.value.span.clone(),
            };
            return Ok(vec![brackets.set(range, value)]);
        }
        // `servers: {}` in a file of blocks becomes a block.
        if self.format == Format::Yaml
            && brackets.children.is_empty()
            && let Some((Step::Key(name), outer)) = container.split_last()
            && let Ok(parent) = self.at(outer)
            && !self.is_flow(parent)
        {
            let value = wrapped(value.clone(), &[key.into()])?;
            return block::put(self.text, parent, name, self.field(parent, name)?, &value);
        }
        Ok(brackets.push(&Child::Pair(key, value)))
    }

    /// The whole text, for a file in which nothing is written yet.
    fn whole(&self, key: &str, value: &Json) -> Edit {
        let layout = render::Layout {
            format: self.format,
            indent: String::new(),
            unit: "  ".to_owned(),
            lines: true,
        };
        let map = [(key.to_owned(), value.clone())].into_iter().collect();
        let written = match self.format {
            Format::Yaml => render::block(&map, &layout).join("\n"),
            Format::Json | Format::Toml => render::flow(&Json::Object(map), &layout),
        };
        match self.text.trim_end().len() {
            0 => replace(0..self.text.len(), format!("{written}\n")),
            // Comments at the top stay apart from what follows.
            end => replace(end..self.text.len(), format!("\n\n{written}\n")),
        }
    }

    fn push(&self, trail: &[Step], value: &Json) -> Result<Vec<Edit>, Stuck> {
        let node = self.at(trail)?;
        if !matches!(node.value, Value::List(_)) {
            return stuck(format!("{} stands where a list is needed", node.kind()));
        }
        match self.is_flow(node) {
            true => Ok(Brackets::of(self.text, self.format, node)?.push(&Child::Item(value))),
            false => block::push(self.text, node, value),
        }
    }

    fn remove(&self, trail: &[Step]) -> Result<Vec<Edit>, Stuck> {
        let Some((last, container)) = trail.split_last() else {
            return stuck("the whole file cannot be removed");
        };
        let node = self.at(container)?;
        // What holds the container, so that it can be left empty there.
        let holder = match container.split_last() {
            Some((Step::Key(key), outer)) => self.field(self.at(outer)?, key)?,
            Some((Step::At(_), _)) | None => None,
        };
        let place = match last {
            Step::Key(key) => match self.field(node, key)? {
                Some(field) => field.key_span.start,
                None => return Ok(Vec::new()),
            },
            Step::At(at) => match node.items().get(*at) {
                Some(item) => item.span.start,
                None => return Ok(Vec::new()),
            },
        };
        if !self.is_flow(node) {
            return block::remove(self.text, node, place, holder);
        }
        let brackets = Brackets::of(self.text, self.format, node)?;
        match brackets.children.iter().position(|child| child.start == place) {
            Some(index) => Ok(brackets.remove(index)),
            None => stuck("it is written in a way that cannot be changed"),
        }
    }

    fn at(&self, trail: &[Step]) -> Result<&Node, Stuck> {
        find(self.root, trail).ok_or_else(|| Stuck("it is not there".into()))
    }

    fn is_flow(&self, node: &Node) -> bool {
        self.format != Format::Yaml || yaml::is_flow(self.text, node)
    }

    /// A field of a table, which must be written there and not come from elsewhere.
    fn field<'n>(&self, node: &'n Node, key: &str) -> Result<Option<&'n Field>, Stuck> {
        let field = node.fields().iter().find(|field| field.key == key);
        match field {
            Some(field) if field.key_span.start < node.span.start => {
                stuck(format!("an alias brings `{key}` in from elsewhere"))
            }
            field => Ok(field),
        }
    }
}
