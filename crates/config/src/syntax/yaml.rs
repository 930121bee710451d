//! YAML into the common tree: aliases and merge keys expanded within bounds, plain scalars read by
//! the core schema.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};
use switchboard_model::Code;

use super::{Field, MAX_DEPTH, MAX_NODES, Node, SyntaxError, Tree, Value, too_deep};

pub(super) fn parse(text: &str) -> Result<Tree, Vec<SyntaxError>> {
    let mut builder = Builder::new(text);
    builder.read(text).map_err(|error| vec![error])?;
    let root = builder.root.unwrap_or(Node { span: 0..0, value: Value::Map(Vec::new()) });
    // An empty file is an empty table, as it is in TOML.
    let root = match root.is_null() {
        true => Node { span: root.span, value: Value::Map(Vec::new()) },
        false => root,
    };
    Ok(Tree { root, complaints: Vec::new() })
}

/// A collection that is still open.
struct Open {
    start: usize,
    anchor: usize,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    Map { fields: Vec<Field>, key: Option<(String, Range<usize>)> },
}

/// A node that aliases may repeat, and what each of them costs.
struct Anchored {
    node: Node,
    weight: usize,
    depth: usize,
}

struct Builder {
    /// Where each character begins, if not every character is one byte.
    offsets: Option<Vec<usize>>,
    length: usize,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    nodes: usize,
    documents: usize,
    root: Option<Node>,
}

impl Builder {
    fn new(text: &str) -> Self {
        let offsets = (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).collect());
        Self {
            offsets,
            length: text.len(),
            open: Vec::new(),
            anchors: HashMap::new(),
            nodes: 0,
            documents: 0,
            root: None,
        }
    }

    fn read(&mut self, text: &str) -> Result<(), SyntaxError> {
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| {
                let at = self.byte(error.marker().index());
                syntax(at..at, error.info().to_owned())
            })?;
            self.event(event, self.range(span))?;
        }
        Ok(())
    }

    fn event(&mut self, event: Event<'_>, span: Range<usize>) -> Result<(), SyntaxError> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                match self.documents {
                    1 => Ok(()),
                    _ => {
                        Err(syntax(span, "a second document begins here, only one is read".into()))
                    }
                }
            }
            Event::Alias(id) => self.alias(id, span),
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref());
                self.count(1, &span)?;
                self.add(Node { span: span.clone(), value }, anchor, span)
            }
            Event::SequenceStart(anchor, _) => self.open(span, anchor, OpenKind::List(Vec::new())),
            Event::MappingStart(anchor, _) => {
                self.open(span, anchor, OpenKind::Map { fields: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
        }
    }

    /// Copies what the alias stands for, if the copy is within bounds.
    fn alias(&mut self, id: usize, span: Range<usize>) -> Result<(), SyntaxError> {
        let Some(Anchored { weight, depth, .. }) = self.anchors.get(&id) else {
            return Err(syntax(span, "this alias refers to itself or to nothing".into()));
        };
        if self.open.len() + depth > MAX_DEPTH {
            return Err(too_deep(span));
        }
        self.count(*weight, &span)?;
        match self.anchors.get(&id).map(|anchored| anchored.node.clone()) {
            Some(node) => self.add(node, 0, span),
            None => Ok(()),
        }
    }

    fn open(
        &mut self,
        span: Range<usize>,
        anchor: usize,
        kind: OpenKind,
    ) -> Result<(), SyntaxError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(span));
        }
        self.count(1, &span)?;
        self.open.push(Open { start: span.start, anchor, kind });
        Ok(())
    }

    fn close(&mut self, span: Range<usize>) -> Result<(), SyntaxError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.kind {
            OpenKind::List(items) => Value::List(items),
            OpenKind::Map { fields, .. } => Value::Map(merge_keys(fields)),
        };
        let range = open.start..span.end.max(open.start);
        self.add(Node { span: range.clone(), value }, open.anchor, range)
    }

    /// Puts a finished node where it belongs. `at` is where it is used, which for an alias is not
    /// where it was written.
    fn add(&mut self, node: Node, anchor: usize, at: Range<usize>) -> Result<(), SyntaxError> {
        if anchor != 0 {
            let (weight, depth) = measure(&node);
            self.anchors.insert(anchor, Anchored { node: node.clone(), weight, depth });
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Map { fields, key }) => match key.take() {
                Some((key, key_span)) => fields.push(Field { key, key_span, value: node }),
                None => *key = Some((key_text(&node).ok_or_else(|| not_a_key(&at))?, at)),
            },
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize, span: &Range<usize>) -> Result<(), SyntaxError> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes <= MAX_NODES {
            return Ok(());
        }
        Err(SyntaxError {
            code: Code::TooDeep,
            span: span.clone(),
            message: "aliases make this larger than a configuration can be".into(),
            remedy: Some("Write the values out where they are used.".into()),
        })
    }

    fn byte(&self, character: usize) -> usize {
        match &self.offsets {
            None => character.min(self.length),
            Some(offsets) => offsets.get(character).copied().unwrap_or(self.length),
        }
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.byte(span.start.index())..self.byte(span.end.index())
    }
}

/// `<<: *base` brings the base's keys in, under the map's own.
fn merge_keys(fields: Vec<Field>) -> Vec<Field> {
    if !fields.iter().any(|field| field.key == "<<") {
        return fields;
    }
    let (merged, mut own): (Vec<_>, Vec<_>) = fields.into_iter().partition(|f| f.key == "<<");
    let mut known: HashSet<String> = own.iter().map(|field| field.key.clone()).collect();
    for base in merged {
        let bases = match base.value.value {
            Value::List(items) => items,
            value => vec![Node { span: base.value.span, value }],
        };
        for field in bases.into_iter().flat_map(|base| match base.value {
            Value::Map(fields) => fields,
            _ => Vec::new(),
        }) {
            if known.insert(field.key.clone()) {
                own.push(field);
            }
        }
    }
    own
}

/// What a copy of the node costs, and how deep it is. A long text costs as much as many nodes.
fn measure(node: &Node) -> (usize, usize) {
    let (own, inner) = match &node.value {
        Value::List(items) => (1, most(items.iter())),
        Value::Map(fields) => {
            let keys: usize = fields.iter().map(|field| field.key.len() / TEXT_PER_NODE).sum();
            (1 + keys, most(fields.iter().map(|field| &field.value)))
        }
        Value::String(text) | Value::Number(text) => (1 + text.len() / TEXT_PER_NODE, None),
        Value::Null | Value::Bool(_) | Value::Date | Value::Twice => (1, None),
    };
    let (weight, depth) = inner.unwrap_or_default();
    (own + weight, depth + usize::from(inner.is_some()))
}

/// The weights of all and the depth of the deepest.
fn most<'n>(nodes: impl Iterator<Item = &'n Node>) -> Option<(usize, usize)> {
    let sum = |(weight, depth): (usize, usize), (w, d): (usize, usize)| (weight + w, depth.max(d));
    Some(nodes.map(measure).fold((0, 0), sum))
}

/// Bytes of text that count as a node.
const TEXT_PER_NODE: usize = 64;

fn key_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null => Some("null".into()),
        Value::List(_) | Value::Map(_) | Value::Date | Value::Twice => None,
    }
}

fn not_a_key(span: &Range<usize>) -> SyntaxError {
    syntax(span.clone(), "a key must be a text".into())
}

fn syntax(span: Range<usize>, message: String) -> SyntaxError {
    SyntaxError { code: Code::Syntax, span, message, remedy: None }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let tagged = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
    if tagged == Some("str") || (tagged.is_none() && style != ScalarStyle::Plain) {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        number if is_number(number) => Value::Number(number.to_owned()),
        _ => Value::String(text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0o")) {
        return !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit());
    }
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.contains(|c: char| c.is_ascii_digit())
        && text.parse::<f64>().is_ok()
}
