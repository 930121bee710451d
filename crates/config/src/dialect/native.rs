//! Our own file: hub, servers, internal servers, defaults, agents and policy. An unknown key is an
//! error, and what could let a call through by mistake is read strictly.

mod auth;
mod internal;
mod server;

pub(super) use self::server::required;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use switchboard_model::{
    AgentId, AgentSpec, AuditArguments, CallOrigin, Code, Decision, MasterKeyPlace, Names, Pattern,
    Place, Rule, Scope, SecretTemplate, ServerKey, ServerName, StoreSpec,
};

use super::Reading;
use crate::declared::{Declared, DeclaredServer, Defaults, FromCatalog, Reference};
use crate::decode::{Fields, Report, Spanned, Text, Unknown, What};
use crate::draft;
use crate::expand::Notation;
use crate::syntax::{Field, Node};

/// The keys of the file itself.
pub(crate) const ROOT_KEYS: [&str; 7] =
    ["$schema", "hub", "servers", "internal", "defaults", "agents", "policy"];

/// Whether a tree looks like ours.
pub(super) fn is(root: &Node) -> bool {
    let fields = root.fields();
    !fields.is_empty()
        && fields.iter().all(|field| ROOT_KEYS.contains(&field.key.as_str()))
        && fields.iter().any(|field| field.key != "$schema")
}

pub(super) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    let Some(mut root) = Fields::of(reading.root, "the file", report) else { return declared };
    root.skip(&["$schema"]);
    if let Some(field) = root.take("hub") {
        hub(&field.value, &mut declared, report);
    }
    if let Some(field) = root.take("servers") {
        servers(&field.value, &Scope::Global, &mut declared, report);
    }
    if let Some(field) = root.take("internal") {
        internal::read(field, reading.path, &mut declared, report);
    }
    if let Some(field) = root.take("defaults") {
        defaults(&field.value, &mut declared, report);
    }
    if let Some(field) = root.take("agents")
        && let Some(fields) = Fields::of(&field.value, "`agents`", report)
    {
        fields.rest().for_each(|field| agent(field, &mut declared, report));
    }
    if let Some(field) = root.take("policy") {
        policy(&field.value, &mut declared, report);
    }
    root.finish(Unknown::Error, report);
    declared
}

fn hub(node: &Node, declared: &mut Declared, report: &mut Report) {
    let Some(mut fields) = Fields::of(node, "`hub`", report) else { return };
    if let Some(text) = fields.text("listen", report) {
        match address(&text.value) {
            Some(address) => declared.listen = Some((address, report.place(&text.span))),
            None => {
                let message = format!("`{}` is not an address to listen on", text.value);
                let remedy = "Write an IP address and a port, such as \"127.0.0.1:8010\".";
                report.error(Code::BadValue, &text.span, message, remedy);
            }
        }
    }
    if let Some(text) = fields.some_text("store", report) {
        declared.store = store(&text, report).map(|spec| (spec, report.place(&text.span)));
    }
    if let Some(word) = fields.choice("master_key", &KEY_PLACES, report) {
        declared.master_key = Some((word.value, report.place(&word.span)));
    }
    if let Some(text) = fields.some_text("traces", report) {
        declared.traces = traces(&text, report).map(|url| (url, report.place(&text.span)));
    }
    if let Some(word) = audit_arguments(&mut fields, report) {
        declared.audit_arguments = Some((word.value, report.place(&word.span)));
    }
    declared.mcp_names = names(&mut fields, "mcp_names", report);
    declared.model_names = names(&mut fields, "model_names", report);
    fields.finish(Unknown::Error, report);
}

/// What is written down of calls' arguments; the same key for the hub and for a server.
fn audit_arguments(
    fields: &mut Fields<'_>,
    report: &mut Report,
) -> Option<Spanned<AuditArguments>> {
    fields.choice("audit_arguments", &AuditArguments::ALL.map(|what| (what.as_str(), what)), report)
}

fn names(
    fields: &mut Fields<'_>,
    key: &'static str,
    report: &mut Report,
) -> Option<(Names, Place)> {
    let text = fields.text(key, report)?;
    match Names::parse(&text.value) {
        Ok(names) => Some((names, report.place(&text.span))),
        Err(error) => {
            let message = format!("`{}` is no way to name tools: {error}", text.value);
            let remedy = "Write a template such as \"{server}_{tool}\", or \"bare\".";
            report.error(Code::BadValue, &text.span, message, remedy);
            None
        }
    }
}

const KEY_PLACES: [(&str, MasterKeyPlace); 2] =
    [("file", MasterKeyPlace::File), ("keyring", MasterKeyPlace::Keyring)];

/// `127.0.0.1:8010`, `[::1]:8010`, `localhost:8010`.
pub(crate) fn address(text: &str) -> Option<SocketAddr> {
    match text.strip_prefix("localhost:") {
        Some(port) => port.parse().ok().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        None => text.parse().ok(),
    }
}

fn store(text: &Text, report: &mut Report) -> Option<StoreSpec> {
    let value = text.value.as_str();
    if value == "sqlite" {
        return Some(StoreSpec::Sqlite { path: None });
    }
    if let Some(path) = value.strip_prefix("sqlite:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        return Some(StoreSpec::Sqlite { path: Some(PathBuf::from(path)) });
    }
    if value.starts_with("postgres://")
        || value.starts_with("postgresql://")
        || value.starts_with("${")
    {
        let url = draft::template(text, &Notation::Native, report)?;
        return Some(StoreSpec::Postgres { url: SecretTemplate::new(url) });
    }
    let message = "`store` names no database that is known".to_owned();
    let remedy = "Write \"sqlite\", \"sqlite:PATH\" or a postgres:// URL.";
    report.error(Code::BadValue, &text.span, message, remedy);
    None
}

fn traces(text: &Text, report: &mut Report) -> Option<SecretTemplate> {
    if !["http://", "https://", "${"].iter().any(|start| text.value.starts_with(start)) {
        let message = "`traces` is not the URL of a collector".to_owned();
        let remedy = "Write where it takes OTLP over HTTP, such as \"http://127.0.0.1:4318\".";
        report.error(Code::BadValue, &text.span, message, remedy);
        return None;
    }
    draft::template(text, &Notation::Native, report).map(SecretTemplate::new)
}

/// Reads a map of servers into a scope.
fn servers(node: &Node, scope: &Scope, declared: &mut Declared, report: &mut Report) {
    let Some(fields) = Fields::of(node, "`servers`", report) else { return };
    for field in fields.rest() {
        let Some(name) = server_name(&field.key, &field.key_span, report) else { continue };
        report.about(Some(&name));
        let key = ServerKey { scope: scope.clone(), name: name.clone() };
        match server::read(field, name, report) {
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
}

/// Checks a server's name.
pub(crate) fn server_name(
    text: &str,
    span: &std::ops::Range<usize>,
    report: &mut Report,
) -> Option<ServerName> {
    match ServerName::parse(text) {
        Ok(name) => Some(name),
        Err(error) => {
            let remedy = "Write a visible name of at most 128 characters.";
            report.error(Code::BadName, span, error.to_string(), remedy);
            None
        }
    }
}

/// Names of servers, each remembered to be looked up when all files are known.
pub(super) fn references(
    texts: &[Text],
    from_catalog: FromCatalog,
    declared: &mut Declared,
    report: &mut Report,
) -> BTreeSet<ServerName> {
    let mut names = BTreeSet::new();
    for text in texts {
        let Some(name) = server_name(&text.value, &text.span, report) else { continue };
        let place = report.place(&text.span);
        declared.references.push(Reference { name: name.clone(), place, from_catalog });
        names.insert(name);
    }
    names
}

fn defaults(node: &Node, declared: &mut Declared, report: &mut Report) {
    // What cannot be read gives nobody anything.
    declared.defaults = Defaults::Only(BTreeSet::new());
    let Some(mut fields) = Fields::of(node, "`defaults`", report) else { return };
    let absent = node.get("servers").is_none();
    let texts = fields.texts("servers", report).unwrap_or_default();
    declared.defaults = match absent {
        true => Defaults::All,
        false => Defaults::Only(references(&texts, FromCatalog::Take, declared, report)),
    };
    fields.finish(Unknown::Error, report);
}

fn agent(field: &Field, declared: &mut Declared, report: &mut Report) {
    let Some(id) = agent_id(&Spanned::new(field.key.clone(), &field.key_span), report) else {
        return;
    };
    let before = report.errors();
    // Until it is known to be good, an agent has nothing rather than the defaults.
    let closed = AgentSpec { enabled: false, ..AgentSpec::default() };
    let place = report.place(&field.key_span);
    let spec =
        Fields::of(&field.value, What::Named("agent", &field.key), report).map(|mut fields| {
            let enabled = fields.flag("enabled", report).is_none_or(|flag| flag.value);
            let description = fields.text("description", report).map(|text| text.value);
            let named = fields.texts("servers", report);
            let servers =
                named.map(|texts| references(&texts, FromCatalog::Take, declared, report));
            if let Some(own) = fields.take("own") {
                servers_of_agent(&own.value, &id, declared, report);
            }
            fields.finish(Unknown::Error, report);
            AgentSpec { enabled, servers, description }
        });
    let good = report.errors() == before;
    if !good {
        declared.broken_agents.insert(id.clone());
    }
    declared.agents.insert(id, (spec.filter(|_| good).unwrap_or(closed), place));
}

fn servers_of_agent(node: &Node, id: &AgentId, declared: &mut Declared, report: &mut Report) {
    servers(node, &Scope::Agent(id.clone()), declared, report);
}

/// Checks an agent's id.
pub(super) fn agent_id(text: &Text, report: &mut Report) -> Option<AgentId> {
    match AgentId::parse(&text.value) {
        Ok(id) => Some(id),
        Err(error) => {
            let remedy = "Write an id such as `cto`: letters, digits, `_`, `-` and `.`.";
            report.error(Code::BadName, &text.span, error.to_string(), remedy);
            None
        }
    }
}

fn policy(node: &Node, declared: &mut Declared, report: &mut Report) {
    if !matches!(node.value, crate::syntax::Value::List(_)) {
        report.wrong_type(node, "`policy`", "a list of rules");
        declared.broken_policy = true;
        declared.policy.push(deny_all());
    }
    for item in node.items() {
        let rule = rule(item, report);
        declared.broken_policy |= rule.is_none();
        declared.policy.push(rule.unwrap_or_else(deny_all));
    }
}

/// What stands in for a rule that cannot be read: a failing check denies.
fn deny_all() -> Rule {
    Rule {
        agent: None,
        user: None,
        server: None,
        tool: None,
        read_only: None,
        destructive: None,
        origin: None,
        action: Decision::Deny,
    }
}

fn rule(node: &Node, report: &mut Report) -> Option<Rule> {
    let before = report.errors();
    let mut fields = Fields::of(node, "a rule", report)?;
    let action = fields.choice("action", &Decision::ALL.map(|d| (d.as_str(), d)), report);
    let origin = fields.choice("origin", &CallOrigin::ALL.map(|o| (o.as_str(), o)), report);
    let mut glob = |key| fields.text(key, report).and_then(|text| pattern(&text, report));
    let [agent, user, server, tool] = ["agent", "user", "server", "tool"].map(&mut glob);
    let read_only = fields.flag("read_only", report).map(|flag| flag.value);
    let destructive = fields.flag("destructive", report).map(|flag| flag.value);
    let span = fields.span.clone();
    fields.finish(Unknown::Error, report);
    if action.is_none() && report.errors() == before {
        let remedy = "Add `action = \"allow\"`, \"ask\" or \"deny\".";
        report.error(Code::MissingKey, &span, "this rule has no `action`", remedy);
    }
    let origin = origin.map(|origin| origin.value);
    let action = action?.value;
    (report.errors() == before).then_some(Rule {
        agent,
        user,
        server,
        tool,
        read_only,
        destructive,
        origin,
        action,
    })
}

/// Compiles a glob.
pub(super) fn pattern(text: &Text, report: &mut Report) -> Option<Pattern> {
    match Pattern::parse(&text.value) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            let message = format!("`{}` is not a glob: {error}", text.value);
            let remedy = "`*` stands for any text, `?` for one character, `[ab]` for one of these.";
            report.error(Code::BadGlob, &text.span, message, remedy);
            None
        }
    }
}
