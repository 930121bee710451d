//! One server of our own file, with all its keys.

use std::time::Duration;

use switchboard_model::{Code, ServerName, ServerSpec, Start, ToolFilter};

use super::{audit_arguments, auth, pattern};
use crate::decode::{self, Fields, Report, Spanned, Unit, Unknown, What};
use crate::draft::{Draft, Kind};
use crate::expand::Notation;
use crate::syntax::{Field, Node};

/// What the file can call a transport.
pub(crate) const KINDS: [(&str, Kind); 4] = [
    ("stdio", Kind::Stdio),
    ("http", Kind::Http),
    ("streamable-http", Kind::Http),
    ("sse", Kind::Sse),
];

pub(super) fn read(field: &Field, name: ServerName, report: &mut Report) -> Option<ServerSpec> {
    let before = report.errors();
    let mut fields = Fields::of(&field.value, What::Named("server", &field.key), report)?;
    let mut draft = Draft::new(Spanned::new(field.key.clone(), &field.key_span));
    draft.kind = fields.choice("transport", &KINDS, report);
    draft.command = fields.text("command", report);
    draft.args = fields.texts("args", report);
    draft.env = fields.pairs("env", report);
    draft.cwd = fields.some_text("cwd", report);
    draft.url = fields.text("url", report);
    draft.headers = fields.pairs("headers", report);
    draft.enabled = fields.flag("enabled", report).is_none_or(|flag| flag.value);
    draft.description = fields.text("description", report).map(|text| text.value);
    draft.category = fields.text("category", report).map(|text| text.value);
    draft.sensitive = fields.flag("sensitive", report).is_some_and(|flag| flag.value);
    draft.audit_arguments = audit_arguments(&mut fields, report).map(|word| word.value);
    draft.trust_hints = fields.flag("trust_hints", report).is_none_or(|flag| flag.value);
    let starts = [("eager", Start::Eager), ("lazy", Start::Lazy)];
    draft.start = fields.choice("start", &starts, report).map_or(Start::Eager, |s| s.value);
    timing(&mut fields, &mut draft, report);
    limits(&mut fields, &mut draft, report);
    if let Some(field) = fields.take("tools") {
        draft.tools = tools(&field.value, report);
    }
    draft.auth = fields.take("auth").and_then(|field| auth::read(&field.value, report));
    required(&mut fields, report);
    fields.finish(Unknown::Error, report);
    let spec = draft.build(name, &Notation::Native, report);
    spec.filter(|_| report.errors() == before)
}

fn timing(fields: &mut Fields<'_>, draft: &mut Draft, report: &mut Report) {
    let timing = &mut draft.timing;
    let mut set = |key, place: &mut Duration| {
        if let Some(duration) = fields.duration(key, Unit::Seconds, report) {
            *place = duration;
        }
    };
    set("timeout", &mut timing.connect);
    set("health_interval", &mut timing.health_interval);
    set("stop_grace", &mut timing.stop_grace);
    timing.idle = fields.duration("idle_timeout", Unit::Seconds, report);
    let Some(field) = fields.take("call_timeout") else { return };
    // One value is the time without progress; a table also says how long in all.
    let mut table = match field.value.is_map() {
        true => Fields::of(&field.value, "`call_timeout`", report),
        false => None,
    };
    match &mut table {
        None => {
            if let Some(call) =
                decode::duration(&field.value, "call_timeout", Unit::Seconds, report)
            {
                timing.call = call;
                timing.call_total = timing.call_total.max(call);
            }
        }
        Some(fields) => {
            let quiet = fields.duration("quiet", Unit::Seconds, report);
            let total = fields.duration("total", Unit::Seconds, report);
            timing.call = quiet.unwrap_or(timing.call);
            timing.call_total = total.unwrap_or(timing.call_total.max(timing.call));
        }
    }
    if timing.call_total < timing.call {
        let remedy = "Make `total` at least as long as `quiet`.";
        report.error(Code::BadValue, &field.value.span, "`total` is shorter than `quiet`", remedy);
    }
    if let Some(fields) = table {
        fields.finish(Unknown::Error, report);
    }
}

fn limits(fields: &mut Fields<'_>, draft: &mut Draft, report: &mut Report) {
    let limits = &mut draft.limits;
    limits.max_in_flight = fields.count("max_in_flight", report).unwrap_or(limits.max_in_flight);
    limits.max_output = fields.size("max_output", report).unwrap_or(limits.max_output);
    limits.log_buffer = fields.size("log_buffer", report).unwrap_or(limits.log_buffer);
}

fn tools(node: &Node, report: &mut Report) -> ToolFilter {
    let Some(mut fields) = Fields::of(node, "`tools`", report) else {
        return ToolFilter::default();
    };
    let mut globs = |key| {
        let texts = fields.texts(key, report).unwrap_or_default();
        texts.iter().filter_map(|text| pattern(text, report)).collect()
    };
    let filter = ToolFilter { allow: globs("allow"), deny: globs("deny") };
    fields.finish(Unknown::Error, report);
    filter
}

/// Only internal servers can be required; on others it is a wish that nobody grants.
pub(crate) fn required(fields: &mut Fields<'_>, report: &mut Report) {
    if let Some(field) = fields.take("required") {
        let message = "`required` has no effect on an external server: it can never stop a start";
        report.warning(Code::IgnoredKey, &field.key_span, message, "Remove `required`.");
    }
}
