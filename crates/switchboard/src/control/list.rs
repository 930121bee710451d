//! What is declared: in which file or in the store, and who may use it. Of secrets only the names.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use switchboard_model::{AgentId, Scope, SecretTemplate, ServerKey, ServerSpec, Transport, UserId};
use switchboard_rest::port::{Declared, Hub as _, Source};
use switchboard_store::{ServerRow, Store};

use super::protocol::{Failure, Said};
use super::{Operations, Say};

/// A server that is declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeclaredReport {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub scope: String,
    /// `internal` or `external`.
    pub standing: String,
    /// The transport.
    pub transport: String,
    /// What it connects to, secrets masked.
    pub target: String,
    /// Whether it may run.
    pub enabled: bool,
    /// For people.
    pub description: Option<String>,
    /// For people.
    pub category: Option<String>,
    /// The names of its variables; the values are nobody's business.
    pub env: Vec<String>,
    /// The names of its headers.
    pub headers: Vec<String>,
    /// The variables that it takes from the hub's environment.
    pub variables: Vec<String>,
    /// The agents that may use it.
    pub agents: Vec<String>,
    /// Whether agents that name no servers may.
    pub by_default: bool,
    /// `file` or `store`.
    pub source: String,
    /// Its row's id in the store.
    pub id: Option<String>,
    /// Which file.
    pub file: Option<String>,
    /// Where in it.
    pub line: Option<usize>,
    /// Whether somebody approved the store's command line; none where nobody has to.
    pub approved: Option<bool>,
    /// Whether it does not run since a file declares one of the same name.
    pub shadowed: bool,
}

pub(super) async fn list(operations: &Operations, say: &Say) -> Result<(), Failure> {
    let Some(sources) = &operations.sources else {
        return Err(Failure::new("nothing is declared here", "start the hub"));
    };
    let declared = sources.declarations.declared();
    for row in rows(&declared, operations.store.as_ref()) {
        let _ = say.send(Said::Declared(Box::new(row))).await;
    }
    let errors = declared.problems.iter().filter(|problem| problem.is_error()).count();
    let warnings = declared.problems.len() - errors;
    let _ = say.send(Said::Problems { errors, warnings }).await;
    Ok(())
}

/// Everything that is declared, by name; of one name, whoever counts comes first.
pub(crate) fn rows(declared: &Declared, store: Option<&Store>) -> Vec<DeclaredReport> {
    let agents = store.map(|store| store.access().agents()).unwrap_or_default();
    let owners = agents.iter().map(|agent| (agent.id.clone(), agent.owner.clone())).collect();
    let counts = declared.sources.iter().filter_map(|(key, source)| {
        let spec = declared.desired.servers.get(key)?;
        Some(row(declared, &owners, key, spec, source))
    });
    let mut rows: Vec<DeclaredReport> = counts.collect();
    for (key, shadowed) in &declared.shadowed {
        let source = Source::Store(shadowed.clone());
        let row = row(declared, &owners, key, &shadowed.spec, &source);
        rows.push(DeclaredReport { shadowed: true, agents: Vec::new(), by_default: false, ..row });
    }
    rows.sort_by(|a, b| (&a.name, &a.scope, a.shadowed).cmp(&(&b.name, &b.scope, b.shadowed)));
    rows
}

fn row(
    declared: &Declared,
    owners: &BTreeMap<AgentId, UserId>,
    key: &ServerKey,
    spec: &ServerSpec,
    source: &Source,
) -> DeclaredReport {
    let desired = &declared.desired;
    let sees = |id: &&AgentId| desired.servers_of(id, owners.get(*id)).contains(&key);
    let names = |map: &BTreeMap<String, SecretTemplate>| map.keys().cloned().collect();
    let (env, headers) = match &spec.transport {
        Transport::Stdio(stdio) => (names(&stdio.env), Vec::new()),
        Transport::Http(http) => (Vec::new(), names(&http.headers)),
    };
    let templates = spec.templates();
    let variables = templates.iter().flat_map(|template| template.variables());
    let mut variables: Vec<String> = variables.map(|(name, _)| name.to_owned()).collect();
    variables.sort();
    variables.dedup();
    let (stored, place, word) = match source {
        Source::Store(row) => (Some(row), None, "store"),
        Source::File { path, line } => (None, Some((path, *line)), "file"),
        Source::Credential { .. } => (None, None, "credential"),
    };
    DeclaredReport {
        name: key.name.to_string(),
        scope: key.scope.to_string(),
        standing: spec.standing.as_str().to_owned(),
        transport: spec.transport.as_str().to_owned(),
        target: spec.target(),
        enabled: spec.enabled,
        description: spec.description.clone(),
        category: spec.category.clone(),
        env,
        headers,
        variables,
        agents: desired.agents.keys().filter(sees).map(ToString::to_string).collect(),
        by_default: key.scope == Scope::Global && desired.defaults.contains(&key.name),
        source: word.to_owned(),
        id: stored.map(|row| row.id.clone()),
        file: place.map(|(path, _)| whole(path)),
        line: place.and_then(|(_, line)| line),
        approved: stored.and_then(|row| approved(row)),
        shadowed: false,
    }
}

fn approved(row: &ServerRow) -> Option<bool> {
    matches!(row.spec.transport, Transport::Stdio(_)).then(|| row.may_start())
}

/// Whoever reads it may be in another directory.
fn whole(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}
