//! Codex's `[mcp_servers.<name>]`, which names variables by keys of their own instead of `${…}`.

use switchboard_model::{Auth, Code, Part, SecretTemplate, ServerName, ServerSpec, Template};

use super::super::Reading;
use super::super::mcp_servers::add;
use super::super::native::{required, server_name};
use super::{call_timeout, filters, oauth, unsupported};
use crate::declared::Declared;
use crate::decode::{Fields, Report, Spanned, Text, Unit, Unknown, What};
use crate::draft::Draft;
use crate::expand::{ClientNotation, Notation};
use crate::syntax::Field;

pub(crate) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    let Some(map) = reading.root.get("mcp_servers") else { return declared };
    let Some(fields) = Fields::of(map, "`mcp_servers`", report) else { return declared };
    for field in fields.rest() {
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
    draft.command = fields.text("command", report);
    draft.args = fields.texts("args", report);
    draft.env = fields.pairs("env", report);
    draft.env.extend(forwarded(&mut fields, report));
    draft.cwd = fields.some_text("cwd", report);
    draft.url = fields.text("url", report);
    draft.headers = fields.pairs("http_headers", report);
    let named = fields.pairs("env_http_headers", report);
    draft.headers.extend(named.into_iter().map(|(name, v)| (name, v.map(|v| format!("${{{v}}}")))));
    draft.enabled = fields.flag("enabled", report).is_none_or(|flag| flag.value);
    for (key, unit) in
        [("startup_timeout_ms", Unit::Millis), ("startup_timeout_sec", Unit::Seconds)]
    {
        if let Some(timeout) = fields.duration(key, unit, report) {
            draft.timing.connect = timeout;
        }
    }
    call_timeout(&mut fields, "tool_timeout_sec", Unit::Seconds, &mut draft, report);
    filters(&mut fields, &mut draft, report);
    let notation = Notation::Client(ClientNotation::default());
    let oauth = oauth(&mut fields, &notation, report);
    draft.auth = bearer(&mut fields, report).or(oauth);
    required(&mut fields, report);
    unsupported(&mut fields, &["bearer_token", "http_headers_helper"], report);
    fields.skip(&IGNORED);
    fields.finish(Unknown::Warning, report);
    draft.build(name, &notation, report).filter(|_| report.errors() == before)
}

const IGNORED: [&str; 8] = [
    "auth",
    "default_tools_approval_mode",
    "environment_id",
    "name",
    "omit_tools_from",
    "scopes",
    "supports_parallel_tool_calls",
    "experimental_environment",
];

/// `env_vars`: variables that are passed on if they are set.
fn forwarded(fields: &mut Fields<'_>, report: &mut Report) -> Vec<(Text, Text)> {
    let Some(field) = fields.take("env_vars") else { return Vec::new() };
    let name = |item: &crate::syntax::Node| {
        let named = item.get("name").unwrap_or(item);
        let name = crate::decode::text(named, "env_vars", report)?;
        let value = name.clone().map(|name| format!("${{{name}:-}}"));
        Some((name, value))
    };
    field.value.items().iter().filter_map(name).collect()
}

fn bearer(fields: &mut Fields<'_>, report: &mut Report) -> Option<Spanned<Auth>> {
    let variable = fields.some_text("bearer_token_env_var", report)?;
    if !switchboard_model::template::is_variable_name(&variable.value) {
        let message = format!("`{}` cannot be the name of a variable", variable.value);
        report.error(Code::BadName, &variable.span, message, "Write a name such as API_TOKEN.");
        return None;
    }
    let token = Template::from_parts([Part::variable(variable.value)]);
    Some(Spanned {
        value: Auth::Bearer { token: Some(SecretTemplate::new(token)) },
        span: variable.span,
    })
}
