//! Continue's `mcpServers`: a list whose entries carry their names.

use switchboard_model::{Auth, Code, ServerName, ServerSpec};

use super::super::Reading;
use super::super::mcp_servers::{KINDS, add};
use super::super::native::server_name;
use super::switches;
use crate::declared::Declared;
use crate::decode::{Fields, Report, Spanned, Text, Unit, Unknown, What, text};
use crate::draft::{self, Draft};
use crate::expand::{ClientNotation, Notation};
use crate::syntax::{Node, Value};

pub(crate) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    let Some(list) = reading.root.get("mcpServers") else { return declared };
    if !matches!(list.value, Value::List(_)) {
        report.wrong_type(list, "`mcpServers`", "a list of servers, or a table of them");
    }
    for node in list.items() {
        // A reference to Continue's hub, which only Continue can follow.
        if node.get("uses").is_some() {
            continue;
        }
        let Some(name) = node.get("name") else {
            report.error(Code::MissingKey, &node.span, "this server has no `name`", "Add `name`.");
            continue;
        };
        let Some(written) = text(name, "name", report) else { continue };
        let Some(name) = server_name(&written.value, &written.span, report) else { continue };
        report.about(Some(&name));
        let span = written.span.clone();
        let spec = server(node, written, name.clone(), report);
        add(spec, name, &span, reading, &mut declared, report);
        report.about(None);
    }
    declared
}

fn server(node: &Node, written: Text, name: ServerName, report: &mut Report) -> Option<ServerSpec> {
    let before = report.errors();
    let notation = Notation::Client(ClientNotation { mustache: true, ..ClientNotation::default() });
    let named = node.get("name").and_then(Node::as_str).unwrap_or_default();
    let mut fields = Fields::of(node, What::Named("server", named), report)?;
    let mut draft = Draft::new(written);
    draft.kind = fields.choice("type", &KINDS, report);
    draft.command = fields.text("command", report);
    draft.args = fields.texts("args", report);
    draft.env = fields.pairs("env", report);
    draft.cwd = fields.some_text("cwd", report);
    draft.url = fields.text("url", report);
    if let Some(options) = fields.take("requestOptions")
        && let Some(mut inner) = Fields::of(&options.value, "`requestOptions`", report)
    {
        draft.headers = inner.pairs("headers", report);
        inner.finish(Unknown::Ignored, report);
    }
    if let Some(timeout) = fields.duration("connectionTimeout", Unit::Millis, report) {
        draft.timing.connect = timeout;
    }
    if let Some(key) = fields.text("apiKey", report) {
        let token = draft::header_value(&key, &notation, report);
        draft.auth = Some(Spanned { value: Auth::Bearer { token }, span: key.span });
    }
    switches(&mut fields, &mut draft, report);
    fields.skip(&["name", "serverName", "faviconUrl", "sourceFile", "with", "override"]);
    fields.finish(Unknown::Warning, report);
    draft.build(name, &notation, report).filter(|_| report.errors() == before)
}
