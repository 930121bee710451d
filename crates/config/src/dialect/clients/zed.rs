//! Zed's `context_servers`, in the four shapes its settings have had.

use switchboard_model::{ServerName, ServerSpec};

use super::super::Reading;
use super::super::mcp_servers::add;
use super::super::native::server_name;
use super::{call_timeout, oauth, switches};
use crate::declared::Declared;
use crate::decode::{Fields, Report, Spanned, Unit, Unknown, What};
use crate::draft::Draft;
use crate::expand::{ClientNotation, Notation};
use crate::syntax::Field;

pub(crate) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    let Some(map) = reading.root.get("context_servers") else { return declared };
    let Some(fields) = Fields::of(map, "`context_servers`", report) else { return declared };
    for field in fields.rest() {
        // With nothing but settings it is an extension that Zed itself brings.
        if field.value.get("command").is_none() && field.value.get("url").is_none() {
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
    let mut fields = Fields::of(&field.value, What::Named("server", &field.key), report)?;
    let mut draft = Draft::new(Spanned::new(field.key.clone(), &field.key_span));
    // Until 2025 the command was a table of its own.
    match field.value.get("command").filter(|command| command.is_map()) {
        Some(command) => {
            fields.skip(&["command"]);
            let mut inner = Fields::of(command, "`command`", report)?;
            draft.command = inner.text("path", report);
            draft.args = inner.texts("args", report);
            draft.env = inner.pairs("env", report);
            inner.finish(Unknown::Warning, report);
        }
        None => {
            draft.command = fields.text("command", report);
            draft.args = fields.texts("args", report);
            draft.env = fields.pairs("env", report);
        }
    }
    draft.url = fields.text("url", report);
    draft.headers = fields.pairs("headers", report);
    switches(&mut fields, &mut draft, report);
    call_timeout(&mut fields, "timeout", Unit::Seconds, &mut draft, report);
    let notation = Notation::Client(ClientNotation::default());
    draft.auth = oauth(&mut fields, &notation, report);
    fields.skip(&["settings", "source", "remote"]);
    fields.finish(Unknown::Warning, report);
    draft.build(name, &notation, report).filter(|_| report.errors() == before)
}
