//! The `mcpServers` map that OpenAssistant, Claude, Cursor and most clients have, with the keys each
//! of them adds. What lies outside the map is the client's own.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use switchboard_model::{Code, Scope, ServerKey, ServerName, ServerSpec};

use super::Reading;
use super::clients::{self, own};
use super::native::{required, server_name};
use crate::declared::{Declared, DeclaredServer};
use crate::decode::{Fields, Report, Spanned, Unit, Unknown, What};
use crate::draft::{Draft, Kind};
use crate::expand::{ClientNotation, Notation};
use crate::syntax::{Field, Node};

/// Every word that some client has for a transport.
pub(super) const KINDS: [(&str, Kind); 9] = [
    ("stdio", Kind::Stdio),
    ("local", Kind::Stdio),
    ("http", Kind::Http),
    ("streamable-http", Kind::Http),
    ("streamable_http", Kind::Http),
    ("streamableHttp", Kind::Http),
    ("streamable", Kind::Http),
    ("remote", Kind::Http),
    ("sse", Kind::Sse),
];

/// How one client's map differs from the others'.
pub(super) struct Quirks {
    pub(super) notation: Notation,
    pub(super) timeout: Unit,
    /// What a URL without a word on its transport is.
    pub(super) bare_url: Kind,
}

impl Quirks {
    fn of(path: &Path) -> Self {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let cline = name == "cline_mcp_settings.json";
        let parent = path.parent().and_then(Path::file_name).and_then(|n| n.to_str());
        let bare = parent == Some(".gemini") || name == "mcp-config.json";
        let notation = ClientNotation { editor: true, bare, ..ClientNotation::default() };
        Self {
            notation: Notation::Client(notation.in_workspace_of(path)),
            timeout: if cline { Unit::Seconds } else { Unit::Millis },
            bare_url: if cline { Kind::Sse } else { Kind::Http },
        }
    }
}

pub(super) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    let quirks = Quirks::of(reading.path);
    match reading.root.get("mcpServers") {
        Some(map) => servers(map, &quirks, reading, &mut declared, report),
        // Copilot's project files may be the map itself.
        None if reading.root.get("projects").is_none() => {
            servers(reading.root, &quirks, reading, &mut declared, report);
        }
        None => {}
    }
    if let Some(projects) = reading.root.get("projects") {
        project(projects, &quirks, reading, &mut declared, report);
    }
    let excluded = reading.root.get("mcp").and_then(|mcp| mcp.get("excluded"));
    disable(&mut declared, excluded);
    declared
}

/// Claude Code keeps the servers of each project in its own file, under the project's path.
fn project(
    projects: &Node,
    quirks: &Quirks,
    reading: &Reading<'_>,
    declared: &mut Declared,
    report: &mut Report,
) {
    for field in projects.fields() {
        let Some(map) = field.value.get("mcpServers").filter(|map| !map.fields().is_empty()) else {
            continue;
        };
        if reading.project == Some(Path::new(&field.key)) {
            let known: BTreeSet<_> = declared.servers.iter().map(|s| s.key.name.clone()).collect();
            let mut own = Declared::default();
            servers(map, quirks, reading, &mut own, report);
            disable(&mut own, field.value.get("disabledMcpServers"));
            // The project's own comes before everybody's.
            let newer: BTreeSet<_> = own.servers.iter().map(|s| s.key.name.clone()).collect();
            declared.servers.retain(|server| {
                !known.contains(&server.key.name) || !newer.contains(&server.key.name)
            });
            declared.servers.append(&mut own.servers);
            declared.broken.append(&mut own.broken);
        } else {
            let message = format!("the servers of the project `{}` are left out", field.key);
            let remedy = "To import them too, run the import in that directory.";
            report.warning(Code::Unsupported, &field.key_span, message, remedy);
        }
    }
}

/// Reads a map of servers.
pub(super) fn servers(
    map: &Node,
    quirks: &Quirks,
    reading: &Reading<'_>,
    declared: &mut Declared,
    report: &mut Report,
) {
    let Some(fields) = Fields::of(map, "the map of servers", report) else { return };
    for field in fields.rest().filter(|field| field.key != "$schema") {
        let Some(name) = server_name(&field.key, &field.key_span, report) else { continue };
        report.about(Some(&name));
        let spec = server(field, name.clone(), quirks, report);
        add(spec, name, &field.key_span, reading, declared, report);
        report.about(None);
    }
}

/// Keeps a server that was read, unless it is the hub itself.
pub(super) fn add(
    spec: Option<ServerSpec>,
    name: ServerName,
    span: &std::ops::Range<usize>,
    reading: &Reading<'_>,
    declared: &mut Declared,
    report: &mut Report,
) {
    let key = ServerKey { scope: Scope::Global, name };
    match spec {
        Some(spec) if own::is_own(&spec, reading.own) => {
            let message = format!("`{}` is Switchboard's own endpoint, not a server", key.name);
            report.warning(Code::OwnEndpoint, span, message, "Nothing to do: it is left out.");
        }
        Some(spec) => {
            let place = report.place(span);
            if let Err(first) = declared.add(DeclaredServer { key, spec: Arc::new(spec), place }) {
                report.second(span, first);
            }
        }
        None => {
            declared.broken.insert(key);
        }
    }
}

fn server(
    field: &Field,
    name: ServerName,
    quirks: &Quirks,
    report: &mut Report,
) -> Option<ServerSpec> {
    let before = report.errors();
    let mut fields = Fields::of(&field.value, What::Named("server", &field.key), report)?;
    let mut draft = Draft::new(Spanned::new(field.key.clone(), &field.key_span));
    // Cline also writes the connection as a table of its own.
    let nested = field.value.get("transport").filter(|node| node.is_map());
    match nested.and_then(|node| Fields::of(node, "`transport`", report)) {
        Some(mut inner) => {
            fields.skip(&["transport"]);
            connection(&mut inner, &mut draft, report);
            inner.finish(Unknown::Warning, report);
        }
        None => connection(&mut fields, &mut draft, report),
    }
    if draft.url.is_some() && draft.kind.is_none() && quirks.bare_url == Kind::Sse {
        draft.kind = Some(Spanned::new(Kind::Sse, &draft.span.clone()));
    }
    clients::switches(&mut fields, &mut draft, report);
    clients::call_timeout(&mut fields, "timeout", quirks.timeout, &mut draft, report);
    clients::filters(&mut fields, &mut draft, report);
    draft.auth = clients::oauth(&mut fields, &quirks.notation, report);
    draft.description = fields.text("description", report).map(|text| text.value);
    required(&mut fields, report);
    clients::unsupported(&mut fields, &["envFile", "headersHelper"], report);
    fields.skip(&IGNORED);
    fields.finish(Unknown::Warning, report);
    draft.build(name, &quirks.notation, report).filter(|_| report.errors() == before)
}

/// What clients write for themselves alone.
const IGNORED: [&str; 27] = [
    "alwaysAllow",
    "alwaysLoad",
    "authProviderType",
    "autoApprove",
    "deferTools",
    "dev",
    "disableToolCache",
    "displayName",
    "extension",
    "filterMapping",
    "fromGalleryId",
    "gallery",
    "icon",
    "isActive",
    "metadata",
    "name",
    "oauthGrantType",
    "oauthPublicClient",
    "oidc",
    "remoteConfigured",
    "request_timeout_ms",
    "sandboxEnabled",
    "targetAudience",
    "targetServiceAccount",
    "tcp",
    "trust",
    "version",
];

fn connection(fields: &mut Fields<'_>, draft: &mut Draft, report: &mut Report) {
    draft.command = fields.text("command", report);
    draft.args = fields.texts("args", report);
    draft.env = fields.pairs("env", report);
    draft.cwd = fields.some_text("cwd", report);
    draft.headers = fields.pairs("headers", report);
    for key in ["type", "transport", "transportType"] {
        let kind = fields.choice(key, &KINDS, report);
        draft.kind = draft.kind.take().or(kind);
    }
    for key in ["url", "serverUrl", "httpUrl"] {
        let url = fields.text(key, report);
        draft.url = draft.url.take().or(url);
    }
}

fn disable(declared: &mut Declared, names: Option<&Node>) {
    let names: BTreeSet<&str> =
        names.map(Node::items).unwrap_or_default().iter().filter_map(Node::as_str).collect();
    for server in &mut declared.servers {
        if names.contains(server.key.name.as_str()) {
            Arc::make_mut(&mut server.spec).enabled = false;
        }
    }
}
