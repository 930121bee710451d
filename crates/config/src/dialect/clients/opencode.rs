//! opencode's `mcp`: a command is one list, an environment is called so, variables are `{env:X}`.

use switchboard_model::{ServerName, ServerSpec};

use super::super::Reading;
use super::super::mcp_servers::{KINDS, add};
use super::super::native::server_name;
use super::{oauth, switches};
use crate::declared::Declared;
use crate::decode::{Fields, Report, Spanned, Unit, Unknown, What};
use crate::draft::{self, Draft};
use crate::expand::{ClientNotation, Notation};
use crate::syntax::{Field, Node};

pub(crate) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    let Some(map) = reading.root.get("mcp") else { return declared };
    // The newer shape has the servers one level down.
    let newer =
        map.get("servers").filter(|servers| servers.fields().iter().any(|f| is_entry(&f.value)));
    let Some(fields) = Fields::of(newer.unwrap_or(map), "`mcp`", report) else { return declared };
    for field in fields.rest().filter(|field| is_entry(&field.value)) {
        let Some(name) = server_name(&field.key, &field.key_span, report) else { continue };
        report.about(Some(&name));
        let spec = server(field, name.clone(), report);
        add(spec, name, &field.key_span, reading, &mut declared, report);
        report.about(None);
    }
    declared
}

/// `{ enabled: false }` alone switches an inherited server off, and is none itself.
fn is_entry(node: &Node) -> bool {
    ["type", "command", "url"].iter().any(|key| node.get(key).is_some())
}

fn server(field: &Field, name: ServerName, report: &mut Report) -> Option<ServerSpec> {
    let before = report.errors();
    let mut fields = Fields::of(&field.value, What::Named("server", &field.key), report)?;
    let mut draft = Draft::new(Spanned::new(field.key.clone(), &field.key_span));
    draft.kind = fields.choice("type", &KINDS, report);
    if field.value.get("command").is_some_and(|command| command.as_str().is_some()) {
        draft.command = fields.text("command", report);
    } else if let Some(mut words) = fields.texts("command", report)
        && !words.is_empty()
    {
        // A list is split already: one word of it is one word, spaces and all.
        let whole = |word: String| match words.len() == 1 && draft::is_line(&word) {
            true => shell_words::quote(&word).into_owned(),
            false => word,
        };
        draft.command = Some(words[0].clone().map(whole));
        draft.args = Some(words.split_off(1));
    }
    draft.env = fields.pairs("environment", report);
    draft.cwd = fields.some_text("cwd", report);
    draft.url = fields.text("url", report);
    draft.headers = fields.pairs("headers", report);
    timeout(&mut fields, field, &mut draft, report);
    switches(&mut fields, &mut draft, report);
    let notation = Notation::Client(ClientNotation { braces: true, ..ClientNotation::default() });
    draft.auth = oauth(&mut fields, &notation, report);
    fields.finish(Unknown::Warning, report);
    draft.build(name, &notation, report).filter(|_| report.errors() == before)
}

/// Milliseconds until the tools are listed; the newer shape tells start and call apart.
fn timeout(fields: &mut Fields<'_>, field: &Field, draft: &mut Draft, report: &mut Report) {
    match field.value.get("timeout").filter(|timeout| timeout.is_map()) {
        None => {
            if let Some(timeout) = fields.duration("timeout", Unit::Millis, report) {
                draft.timing.connect = timeout;
            }
        }
        Some(node) => {
            fields.skip(&["timeout"]);
            let Some(mut inner) = Fields::of(node, "`timeout`", report) else { return };
            if let Some(startup) = inner.duration("startup", Unit::Millis, report) {
                draft.timing.connect = startup;
            }
            super::call_timeout(&mut inner, "request", Unit::Millis, draft, report);
            inner.finish(Unknown::Warning, report);
        }
    }
}
