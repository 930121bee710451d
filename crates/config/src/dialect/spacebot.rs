//! Spacebot's `config.toml`: `[[defaults.mcp]]` for every agent, `[[agents.mcp]]` for one, which is
//! added to the defaults and takes the place of a default of the same name. The rest of that file is
//! Spacebot's own.

use std::sync::Arc;

use switchboard_model::{AgentSpec, Code, IfMissing, Scope, ServerKey, ServerName, ServerSpec};

use super::Reading;
use super::native::{agent_id, server_name};
use crate::declared::{Declared, DeclaredServer};
use crate::decode::{Fields, Report, Unknown, What, text};
use crate::draft::{Draft, Kind};
use crate::expand::Notation;
use crate::syntax::{Node, Value};

const KINDS: [(&str, Kind); 3] = [("stdio", Kind::Stdio), ("http", Kind::Http), ("sse", Kind::Sse)];

/// Whether a tree is Spacebot's: it has servers where Spacebot has them.
pub(super) fn is(root: &Node) -> bool {
    let in_defaults = root.get("defaults").and_then(|defaults| defaults.get("mcp")).is_some();
    let agents = root.get("agents").map(Node::items).unwrap_or_default();
    in_defaults || agents.iter().any(|agent| agent.get("mcp").is_some())
}

pub(super) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    if let Some(list) = reading.root.get("defaults").and_then(|defaults| defaults.get("mcp")) {
        servers(list, &Scope::Global, &mut declared, report);
    }
    if let Some(agents) = reading.root.get("agents") {
        if !matches!(agents.value, Value::List(_)) {
            report.wrong_type(agents, "`agents`", "a list of tables (`[[agents]]`)");
        }
        agents.items().iter().for_each(|node| agent(node, &mut declared, report));
    }
    declared
}

fn agent(node: &Node, declared: &mut Declared, report: &mut Report) {
    let Some(id) = node.get("id") else {
        if node.get("mcp").is_some() {
            let remedy = "Add `id = \"…\"` to this [[agents]].";
            report.error(Code::MissingKey, &node.span, "an agent with servers has no `id`", remedy);
        }
        return;
    };
    let Some(id) = text(id, "id", report).and_then(|text| agent_id(&text, report)) else { return };
    let place = report.place(&node.span);
    declared.agents.insert(id.clone(), (AgentSpec::default(), place));
    if let Some(list) = node.get("mcp") {
        servers(list, &Scope::Agent(id), declared, report);
    }
}

fn servers(list: &Node, scope: &Scope, declared: &mut Declared, report: &mut Report) {
    if !matches!(list.value, Value::List(_)) {
        report.wrong_type(list, "`mcp`", "a list of tables (`[[…mcp]]`)");
    }
    for node in list.items() {
        let Some(name) = name_of(node, report) else { continue };
        let key = ServerKey { scope: scope.clone(), name: name.0.clone() };
        report.about(Some(&name.0));
        let span = name.1;
        let place = report.place(&span);
        match server(node, name.0, report) {
            Some(spec) => {
                let server = DeclaredServer { key, spec: Arc::new(spec), place };
                if let Err(first) = declared.add(server) {
                    report.second(&span, first);
                }
            }
            None => {
                declared.broken.insert(key);
            }
        }
        report.about(None);
    }
}

fn name_of(node: &Node, report: &mut Report) -> Option<(ServerName, std::ops::Range<usize>)> {
    let Some(name) = node.get("name") else {
        let remedy = "Add `name = \"…\"`.";
        report.error(Code::MissingKey, &node.span, "this server has no `name`", remedy);
        return None;
    };
    let text = text(name, "name", report)?;
    Some((server_name(&text.value, &text.span, report)?, text.span))
}

fn server(node: &Node, name: ServerName, report: &mut Report) -> Option<ServerSpec> {
    let before = report.errors();
    let named = node.get("name").and_then(Node::as_str).unwrap_or_default();
    let mut fields = Fields::of(node, What::Named("server", named), report)?;
    let mut draft = Draft::new(fields.text("name", report)?);
    draft.kind = fields.choice("transport", &KINDS, report);
    draft.command = fields.text("command", report);
    draft.args = fields.texts("args", report);
    draft.env = fields.pairs("env", report);
    draft.url = fields.text("url", report);
    draft.headers = fields.pairs("headers", report);
    draft.enabled = fields.flag("enabled", report).is_none_or(|flag| flag.value);
    fields.finish(Unknown::Warning, report);
    let notation = Notation::Plain(IfMissing::NeedsSetup);
    draft.build(name, &notation, report).filter(|_| report.errors() == before)
}
