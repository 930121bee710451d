//! AICIB's `aicib.config.yaml`: servers under `integrations`, assigned to agents and their workers,
//! with a master switch. Only what an enabled agent uses is started. The rest of the file is AICIB's.

mod assign;

use std::sync::Arc;

use switchboard_model::{
    Code, HttpKind, HttpSpec, IfMissing, Scope, ServerKey, ServerName, ServerSpec, Transport,
};

use self::assign::Assignments;
use super::Reading;
use super::native::server_name;
use crate::catalog;
use crate::declared::{Declared, DeclaredServer, Defaults};
use crate::decode::{Fields, Report, Spanned, Unknown, What};
use crate::draft::{self, Draft};
use crate::expand::Notation;
use crate::syntax::{Field, Node};

/// A missing variable leaves the server out.
fn notation() -> Notation {
    Notation::Plain(IfMissing::Skip)
}

pub(super) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    let mut assignments = Assignments::default();
    let mut on = true;
    if let Some(node) = reading.root.get("integrations")
        && let Some(mut fields) = Fields::of(node, "`integrations`", report)
    {
        on = switch(&mut fields, report);
        if let Some(field) = fields.take("servers")
            && let Some(map) = Fields::of(&field.value, "`integrations.servers`", report)
        {
            map.rest().for_each(|field| server(field, &mut declared, report));
        }
        if let Some(field) = fields.take("composio") {
            composio(field, &mut declared, report);
        }
        assignments.defaults = fields.texts("default_servers", report).unwrap_or_default();
        if let Some(field) = fields.take("per_agent") {
            assignments.per_agent(&field.value, report);
        }
        fields.finish(Unknown::Warning, report);
    }
    if let Some(agents) = reading.root.get("agents") {
        assignments.agents(agents, report);
    }
    if on {
        assignments.apply(&mut declared, report);
    } else {
        // The master switch: everything is known, nothing is used.
        declared.defaults = Defaults::These(Default::default());
        for server in &mut declared.servers {
            Arc::make_mut(&mut server.spec).enabled = false;
        }
    }
    declared
}

/// The master switch, on unless it says otherwise. What cannot be read switches off.
fn switch(fields: &mut Fields<'_>, report: &mut Report) -> bool {
    let before = report.errors();
    let flag = fields.flag("enabled", report);
    flag.map_or(report.errors() == before, |flag| flag.value)
}

fn server(field: &Field, declared: &mut Declared, report: &mut Report) {
    let Some(name) = server_name(&field.key, &field.key_span, report) else { return };
    report.about(Some(&name));
    let key = ServerKey { scope: Scope::Global, name: name.clone() };
    match entry(field, name, report) {
        Some(spec) => {
            let place = report.place(&field.key_span);
            declared.servers.push(DeclaredServer { key, spec: Arc::new(spec), place });
        }
        None => {
            declared.broken.insert(key);
        }
    }
    report.about(None);
}

fn entry(field: &Field, name: ServerName, report: &mut Report) -> Option<ServerSpec> {
    let before = report.errors();
    let mut fields = Fields::of(&field.value, What::Named("server", &field.key), report)?;
    let mut draft = Draft::new(Spanned::new(field.key.clone(), &field.key_span));
    draft.command = fields.text("command", report);
    draft.args = fields.texts("args", report);
    draft.env = fields.pairs("env", report);
    draft.url = fields.text("url", report);
    draft.description = fields.text("description", report).map(|text| text.value);
    draft.category = fields.text("category", report).map(|text| text.value);
    fields.finish(Unknown::Warning, report);
    let given = |key: &str| field.value.get(key).is_some_and(|node: &Node| !node.is_null());
    for key in ["command", "args"].into_iter().filter(|key| !given(key)) {
        let message = format!("server `{name}` has no `{key}`");
        let remedy = format!("Add `{key}`; this file's servers need `command` and `args` both.");
        report.error(Code::MissingKey, &field.key_span, message, remedy);
    }
    (report.errors() == before).then(|| draft.build(name, &notation(), report)).flatten()
}

/// `composio: { enabled, api_key }` is the entry of Composio's hosted gateway.
fn composio(field: &Field, declared: &mut Declared, report: &mut Report) {
    let Some(mut fields) = Fields::of(&field.value, "`composio`", report) else { return };
    let enabled = fields.flag("enabled", report).is_some_and(|flag| flag.value);
    let key = fields.text("api_key", report).filter(|key| !key.value.is_empty());
    fields.finish(Unknown::Warning, report);
    let Ok(name) = ServerName::parse(catalog::COMPOSIO) else { return };
    if !enabled || declared.servers.iter().any(|server| server.key.name == name) {
        return;
    }
    if let Some(key) = key.as_ref().filter(|key| key.value.starts_with("ak_")) {
        let message =
            "this is a key of a Composio project, and the hosted endpoint wants a consumer's";
        let remedy = "Take the key from Composio's page under For You, Settings, API key.";
        report.warning(Code::BadValue, &key.span, message, remedy);
    }
    let Some(mut spec) = catalog::find(&name) else { return };
    let before = report.errors();
    let template = key.and_then(|key| draft::header_value(&key, &notation(), report));
    if report.errors() > before {
        declared.broken.insert(ServerKey::global(name));
        return;
    }
    if let Some(template) = template
        && let Transport::Http(HttpSpec { kind: HttpKind::Streamable, headers, .. }) =
            &mut spec.transport
    {
        headers.values_mut().for_each(|value| *value = template.clone());
    }
    let place = report.place(&field.key_span);
    let key = ServerKey::global(name);
    declared.servers.push(DeclaredServer { key, spec: Arc::new(catalog::or_skip(spec)), place });
}
