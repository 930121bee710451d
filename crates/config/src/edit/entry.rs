//! A server's entry in each dialect, what a dialect has no words for, and the changes that make one
//! entry of another.

use serde_json::{Map, Value as Json, json};
use switchboard_model::{IfMissing, Part, SecretTemplate, ServerSpec, Template, Timing, Transport};

use super::text::{Op, Step, further};
use crate::dialect::Dialect;
use crate::shape::{mcp_servers_entry, server_entry};
use crate::syntax::{Format, Node, Value};

/// The server's entry as the dialect has it.
pub(super) fn entry(dialect: Dialect, spec: &ServerSpec) -> Map<String, Json> {
    let spec = plain(dialect, spec.clone());
    match dialect {
        Dialect::Native => server_entry(&spec),
        Dialect::Annabelle => unescaped(annabelle(&spec)),
        Dialect::Spacebot => unescaped(spacebot(&spec)),
        Dialect::Aicib => unescaped(aicib(&spec)),
        _ => unescaped(mcp_servers_entry(&spec)),
    }
}

fn annabelle(spec: &ServerSpec) -> Map<String, Json> {
    let mut entry = mcp_servers_entry(spec);
    entry.retain(|key, _| !matches!(key.as_str(), "enabled" | "cwd"));
    if spec.sensitive {
        entry.insert("sensitive".into(), json!(true));
    }
    if spec.timing.connect != Timing::default().connect {
        let millis = u64::try_from(spec.timing.connect.as_millis()).unwrap_or(u64::MAX);
        entry.insert("timeout".into(), json!(millis));
    }
    entry
}

fn spacebot(spec: &ServerSpec) -> Map<String, Json> {
    let mut entry = Map::new();
    entry.insert("name".into(), json!(spec.name.as_str()));
    entry.insert("transport".into(), json!(spec.transport.as_str()));
    let known = ["command", "args", "env", "url", "headers", "enabled"];
    entry.extend(
        mcp_servers_entry(spec).into_iter().filter(|(key, _)| known.contains(&key.as_str())),
    );
    entry
}

fn aicib(spec: &ServerSpec) -> Map<String, Json> {
    let all = server_entry(spec);
    let mut entry = Map::new();
    for key in ["command", "args", "env", "description", "category"] {
        // AICIB wants the list, even if there is nothing in it.
        let instead = (key == "args").then(|| json!([]));
        entry.extend(all.get(key).cloned().or(instead).map(|value| (key.to_owned(), value)));
    }
    entry
}

/// What the dialect has no words for, of what changes: the first such key.
pub(super) fn unsayable(
    dialect: Dialect,
    old: Option<&ServerSpec>,
    new: &ServerSpec,
) -> Option<String> {
    let known: &[&str] = match dialect {
        Dialect::Annabelle => &[
            "command",
            "args",
            "env",
            "url",
            "transport",
            "headers",
            "description",
            "sensitive",
            "timeout",
        ],
        Dialect::Spacebot => &["command", "args", "env", "url", "transport", "headers", "enabled"],
        Dialect::Aicib => &["command", "args", "env", "description", "category", "enabled"],
        Dialect::McpServers => &[
            "command",
            "args",
            "env",
            "cwd",
            "url",
            "transport",
            "headers",
            "enabled",
            "description",
        ],
        _ => return None,
    };
    let new = server_entry(&plain(dialect, new.clone()));
    let old = old.map(|old| server_entry(&plain(dialect, old.clone()))).unwrap_or_default();
    let keys = new.keys().chain(old.keys().filter(|key| !new.contains_key(*key)));
    keys.filter(|key| new.get(*key) != old.get(*key))
        .find(|key| !known.contains(&key.as_str()))
        .cloned()
}

/// The same server with missing variables as a file of this dialect writes them: what only the
/// dialect's own rule says of them is not written, and so not compared.
pub(super) fn plain(dialect: Dialect, mut spec: ServerSpec) -> ServerSpec {
    let by_rule = |missing: &IfMissing| match missing {
        IfMissing::Skip => true,
        IfMissing::Use(text) => dialect == Dialect::Annabelle && text.is_empty(),
        IfMissing::NeedsSetup => false,
    };
    let part = |part: &Part| match part {
        Part::Variable { name, if_missing } if by_rule(if_missing) => Part::variable(name),
        part => part.clone(),
    };
    let open = |t: &mut Template| *t = Template::from_parts(t.parts().iter().map(part));
    let secret = |t: &mut SecretTemplate| {
        *t = SecretTemplate::new(Template::from_parts(t.expose().parts().iter().map(part)));
    };
    match &mut spec.transport {
        Transport::Stdio(stdio) => {
            open(&mut stdio.command);
            stdio.args.iter_mut().chain(&mut stdio.cwd).for_each(open);
            stdio.env.values_mut().for_each(secret);
        }
        Transport::Http(http) => {
            open(&mut http.url);
            http.headers.values_mut().for_each(secret);
        }
    }
    spec
}

/// Only our own notation writes `$${` for `${`.
fn unescaped(entry: Map<String, Json>) -> Map<String, Json> {
    entry.into_iter().map(|(key, value)| (key, unescape(value))).collect()
}

fn unescape(value: Json) -> Json {
    match value {
        Json::String(text) => Json::String(text.replace("$${", "${")),
        Json::Array(items) => items.into_iter().map(unescape).collect(),
        Json::Object(map) => Json::Object(unescaped(map)),
        value => value,
    }
}

/// Which keys a table has.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Keys {
    /// Those of a server's entry.
    Entry,
    /// Names of headers, which ignore case.
    Headers,
    /// Any others, all of them ours.
    Inner,
}

/// Makes one entry of another.
pub(super) struct Rewrite<'a> {
    pub(super) dialect: Dialect,
    pub(super) keys: Keys,
    pub(super) format: Format,
    /// The entry as its server would be written; without it, whatever differs is written anew.
    pub(super) old: Option<&'a Map<String, Json>>,
    pub(super) new: &'a Map<String, Json>,
}

impl Rewrite<'_> {
    /// The changes of the entry at `trail`: writing first, so that nothing is left empty between.
    pub(super) fn ops(&self, trail: &[Step], there: &Node) -> Vec<Op> {
        let (mut writes, mut removals) = (Vec::new(), Vec::new());
        let keys: Vec<&String> = match self.old {
            Some(old) => old.keys().chain(self.new.keys()).collect(),
            None => there.fields().iter().map(|f| &f.key).chain(self.new.keys()).collect(),
        };
        for (at, key) in keys.iter().enumerate() {
            // The switch has its own ways.
            let is_switch = self.keys == Keys::Entry && *key == "enabled";
            if is_switch || keys[..at].contains(key) || !self.differs(key) {
                continue;
            }
            let written = self.written(there, key);
            let trail = further(trail, written.as_ref().map_or(key.as_str(), |(key, _)| key));
            match (self.new.get(*key), written) {
                (Some(new), Some((_, node))) => self.value(trail, node, key, new, &mut writes),
                (Some(new), None) => writes.push(Op::Set(trail, new.clone())),
                (None, Some(_)) if self.is_ours(key) => removals.push(Op::Remove(trail)),
                (None, _) => {}
            }
        }
        writes.append(&mut removals);
        writes
    }

    /// A command and its arguments are one thing: a line is split only where there are no others.
    fn differs(&self, key: &str) -> bool {
        let Some(old) = self.old else { return true };
        let differ = |key: &str| old.get(key) != self.new.get(key);
        match key {
            "command" | "args" => differ("command") || differ("args"),
            key => differ(key),
        }
    }

    fn value(&self, trail: Vec<Step>, there: &Node, key: &str, new: &Json, writes: &mut Vec<Op>) {
        if equal(there, new) {
            return;
        }
        let old = self.old.and_then(|old| old.get(key)).and_then(Json::as_object);
        if let (true, Some(new)) = (there.is_map(), new.as_object()) {
            let keys = if key == "headers" { Keys::Headers } else { Keys::Inner };
            let inner = Rewrite { keys, old, new, ..*self };
            writes.extend(inner.ops(&trail, there));
        } else {
            // A table under its own header cannot become a value where it stands.
            if there.is_map() && self.format == Format::Toml {
                writes.push(Op::Remove(trail.clone()));
            }
            writes.push(Op::Set(trail, new.clone()));
        }
    }

    /// The key as the file has it: clients spell some in several ways, and headers ignore case.
    fn written<'n>(&self, there: &'n Node, key: &str) -> Option<(String, &'n Node)> {
        let others: &[&str] = match (self.dialect, key) {
            (Dialect::McpServers, "url") => &["serverUrl", "httpUrl"],
            (Dialect::McpServers, "type") => &["transport", "transportType"],
            _ => &[],
        };
        let same = |known: &str| known == key || others.contains(&known);
        let fields = there.fields().iter();
        let loose = |known: &str| self.keys == Keys::Headers && known.eq_ignore_ascii_case(key);
        let found = fields.clone().find(|field| same(&field.key) || loose(&field.key));
        found.map(|field| (field.key.clone(), &field.value))
    }

    /// Whether a key that is no longer wanted may be taken out: in other programs' files, only
    /// those that they share with us.
    fn is_ours(&self, key: &str) -> bool {
        const SHARED: [&str; 12] = [
            "args",
            "category",
            "command",
            "cwd",
            "description",
            "disabled",
            "env",
            "headers",
            "sensitive",
            "timeout",
            "type",
            "url",
        ];
        self.dialect == Dialect::Native
            || self.keys != Keys::Entry
            || self.old.is_some_and(|old| old.contains_key(key))
            || SHARED.contains(&key)
    }
}

/// Whether a value in the file is already what would be written.
fn equal(node: &Node, value: &Json) -> bool {
    match (&node.value, value) {
        (Value::String(there), Json::String(new)) => there == new,
        (Value::Bool(there), Json::Bool(new)) => there == new,
        (Value::Number(there), Json::Number(new)) => *there == new.to_string(),
        (Value::List(there), Json::Array(new)) => {
            there.len() == new.len()
                && there.iter().zip(new).all(|(node, value)| equal(node, value))
        }
        (Value::Map(there), Json::Object(new)) => {
            there.len() == new.len()
                && there.iter().all(|f| new.get(&f.key).is_some_and(|value| equal(&f.value, value)))
        }
        _ => false,
    }
}
