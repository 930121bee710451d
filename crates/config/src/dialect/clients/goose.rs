//! goose's `extensions`: its own kinds are goose's business, those with a command or a URI are ours.

use switchboard_model::{ServerName, ServerSpec};

use super::super::Reading;
use super::super::mcp_servers::add;
use super::super::native::server_name;
use super::{call_timeout, filters, switches};
use crate::declared::Declared;
use crate::decode::{Fields, Report, Spanned, Unit, Unknown, What};
use crate::draft::{Draft, Kind};
use crate::expand::{ClientNotation, Notation};
use crate::syntax::{Field, Node};

const KINDS: [(&str, Kind); 3] =
    [("stdio", Kind::Stdio), ("streamable_http", Kind::Http), ("sse", Kind::Sse)];

pub(crate) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    let Some(map) = reading.root.get("extensions") else { return declared };
    let Some(fields) = Fields::of(map, "`extensions`", report) else { return declared };
    for field in fields.rest() {
        let kind = field.value.get("type").and_then(Node::as_str);
        if !KINDS.iter().any(|(known, _)| kind == Some(known)) {
            continue;
        }
        let Some(name) = server_name(&field.key, &field.key_span, report) else { continue };
        report.about(Some(&name));
        let spec = server(field, name.clone(), report);
        add(spec, name, &field.key_span, reading, &mut declared, report);
        report.about(None);
    }
    declared
}

fn server(field: &Field, name: ServerName, report: &mut Report) -> Option<ServerSpec> {
    let before = report.errors();
    let mut fields = Fields::of(&field.value, What::Named("extension", &field.key), report)?;
    let mut draft = Draft::new(Spanned::new(field.key.clone(), &field.key_span));
    draft.kind = fields.choice("type", &KINDS, report);
    draft.command = fields.text("cmd", report);
    draft.args = fields.texts("args", report);
    draft.url = fields.text("uri", report);
    draft.headers = fields.pairs("headers", report);
    let envs = fields.pairs("envs", report);
    // Secrets that goose keeps in its keyring and passes on by name.
    let keys = fields.texts("env_keys", report).unwrap_or_default();
    if draft.command.is_some() {
        draft.env = envs;
        draft.env.extend(keys.into_iter().map(|k| (k.clone(), k.map(|k| format!("${{{k}}}")))));
    }
    switches(&mut fields, &mut draft, report);
    call_timeout(&mut fields, "timeout", Unit::Seconds, &mut draft, report);
    filters(&mut fields, &mut draft, report);
    draft.description =
        fields.text("description", report).map(|text| text.value).filter(|text| !text.is_empty());
    fields.skip(&["name", "display_name", "bundled", "socket"]);
    fields.finish(Unknown::Warning, report);
    let notation = Notation::Client(ClientNotation { bare: true, ..ClientNotation::default() });
    draft.build(name, &notation, report).filter(|_| report.errors() == before)
}
