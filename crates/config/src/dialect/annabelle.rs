//! Annabelle's `external-mcps.json`: a flat map of name to entry, only `${UPPER_SNAKE}` variables
//! of which missing ones are empty, times in milliseconds, never `required`.

use std::sync::Arc;

use switchboard_model::{Scope, ServerKey, ServerName, ServerSpec};

use super::Reading;
use super::native::{required, server_name};
use crate::declared::{Declared, DeclaredServer};
use crate::decode::{Fields, Report, Spanned, Unit, Unknown, What};
use crate::draft::{Draft, Kind};
use crate::expand::Notation;
use crate::syntax::{Field, Node};

const KINDS: [(&str, Kind); 4] = [
    ("stdio", Kind::Stdio),
    ("http", Kind::Http),
    ("streamable-http", Kind::Http),
    ("sse", Kind::Sse),
];

/// Whether a tree of an unknown name looks like Annabelle's: every value is a server's entry.
pub(super) fn is(root: &Node) -> bool {
    let entry = |node: &Node| node.get("command").is_some() || node.get("url").is_some();
    let fields = root.fields();
    !fields.is_empty() && fields.iter().all(|field| entry(&field.value))
}

pub(super) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    let Some(fields) = Fields::of(reading.root, "the file", report) else { return declared };
    for field in fields.rest().filter(|field| field.key != "$schema") {
        let Some(name) = server_name(&field.key, &field.key_span, report) else { continue };
        report.about(Some(&name));
        let key = ServerKey { scope: Scope::Global, name: name.clone() };
        match server(field, name, report) {
            Some(spec) => declared.servers.push(DeclaredServer {
                key,
                spec: Arc::new(spec),
                place: report.place(&field.key_span),
            }),
            None => {
                declared.broken.insert(key);
            }
        }
        report.about(None);
    }
    declared
}

fn server(field: &Field, name: ServerName, report: &mut Report) -> Option<ServerSpec> {
    let before = report.errors();
    let mut fields = Fields::of(&field.value, What::Named("server", &field.key), report)?;
    let mut draft = Draft::new(Spanned::new(field.key.clone(), &field.key_span));
    draft.kind = fields.choice("type", &KINDS, report);
    draft.command = fields.text("command", report);
    draft.args = fields.texts("args", report);
    draft.env = fields.pairs("env", report);
    draft.url = fields.text("url", report);
    draft.headers = fields.pairs("headers", report);
    draft.sensitive = fields.flag("sensitive", report).is_some_and(|flag| flag.value);
    draft.description = fields.text("description", report).map(|text| text.value);
    if let Some(timeout) = fields.duration("timeout", Unit::Millis, report) {
        draft.timing.connect = timeout;
    }
    required(&mut fields, report);
    // Labels and discovery hints of Annabelle's own pages.
    fields.skip(&["metadata"]);
    fields.finish(Unknown::Warning, report);
    draft.build(name, &Notation::Upper, report).filter(|_| report.errors() == before)
}
