//! Two sources, one state: what the files and the store declare, together. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_config::Loaded;
use switchboard_model::{AgentSpec, Code, HubSpec, Place, Problem, ServerName, Severity};
use switchboard_rest::port::{Declared, FilePlace, Source, contested};
use switchboard_store::{Agent, Credential, ServerRow, Store};

/// The store's agents: those that count, and those that a file's count instead of.
#[derive(Default)]
pub(super) struct Agents {
    counting: Vec<Arc<Agent>>,
    contested: Vec<Arc<Agent>>,
}

impl Agents {
    /// As the store has them, once it knows which ones the files declare.
    pub(super) fn of(files: &Loaded, store: Option<&Store>) -> Self {
        let Some(access) = store.map(Store::access) else { return Self::default() };
        access.declare(&files.desired.agents);
        Self { counting: access.agents(), contested: access.contested() }
    }
}

/// The files' word counts before the store's, for servers and agents alike. Whoever has a credential of their
/// own for what everybody has gets a server of their own by it.
pub(super) fn merge<'c>(
    files: &Loaded,
    rows: &[Arc<ServerRow>],
    agents: &Agents,
    credentials: impl IntoIterator<Item = &'c Credential>,
) -> Declared {
    let mut desired = (*files.desired).clone();
    let mut sources: BTreeMap<_, _> = BTreeMap::new();
    for key in desired.servers.keys() {
        let place = files.origins.get(key).map(|origin| &origin.place);
        let source = Source::File {
            path: place.map(|place| place.source.path().to_owned()).unwrap_or_default(),
            line: place.map(|place| place.line_column().0),
        };
        sources.insert(key.clone(), source);
    }
    let mut shadowed = BTreeMap::new();
    for row in rows {
        if desired.servers.contains_key(&row.key) {
            shadowed.insert(row.key.clone(), row.clone());
        } else {
            desired.servers.insert(row.key.clone(), row.spec.clone());
            sources.insert(row.key.clone(), Source::Store(row.clone()));
        }
    }
    let (mut problems, reserved) = (files.problems.clone(), files.reserved.clone());
    problems.extend(shadowed.keys().map(|key| {
        let place = files.origins.get(key).map(|origin| &origin.place);
        hidden(&format!("server `{key}`"), place, Some(&key.name))
    }));
    for agent in &agents.counting {
        match desired.agents.get(&agent.id) {
            None => drop(desired.agents.insert(agent.id.clone(), agent.spec.clone())),
            // Without a word of its own it is only there to have tokens.
            Some(spec) if agent.spec == AgentSpec::default() || agent.spec == *spec => {}
            Some(_) => {
                let place = files.agents.get(&agent.id);
                problems.push(hidden(&format!("agent `{}`", agent.id), place, None));
            }
        }
    }
    problems.extend(agents.contested.iter().filter_map(|row| contest(files, row)));
    let places = files.agents.iter().map(|(id, place)| (id.clone(), file_place(place))).collect();
    Declared { desired: Arc::new(desired), sources, agents: places, shadowed, problems, reserved }
        .with_credentials(credentials)
}

/// Settings that are not what the hub was started with, and count from its next start.
pub(super) fn later(started: &HubSpec, now: &HubSpec) -> Vec<Problem> {
    let settings = [
        ("store", started.store != now.store),
        ("master_key", started.master_key != now.master_key),
        ("traces", started.traces != now.traces),
        ("mcp_names", started.mcp_names != now.mcp_names),
        ("model_names", started.model_names != now.model_names),
    ];
    let changed = settings.into_iter().filter(|(_, is_other)| *is_other);
    changed
        .map(|(setting, _)| Problem {
            code: Code::IgnoredKey,
            severity: Severity::Warning,
            message: format!("`hub.{setting}` has changed, and counts from the next start"),
            place: None,
            related: None,
            remedy: "Restart the hub, or take the change back.".to_owned(),
            server: None,
        })
        .collect()
}

/// Somebody has an agent that a file declares too: they must not have what the file gives it.
fn contest(files: &Loaded, row: &Agent) -> Option<Problem> {
    let place = files.agents.get(&row.id)?;
    Some(Problem {
        code: Code::Conflict,
        severity: Severity::Error,
        message: contested(row, &file_place(place)),
        place: Some(place.clone()),
        related: None,
        remedy: format!(
            "Give the file's agent another id, or remove the other one with `switchboard agent remove {}`.",
            row.id
        ),
        server: None,
    })
}

fn file_place(place: &Place) -> FilePlace {
    FilePlace { path: place.source.path().to_owned(), line: Some(place.line_column().0) }
}

fn hidden(what: &str, place: Option<&Place>, server: Option<&ServerName>) -> Problem {
    let file = place.map(|place| place.source.path().display().to_string());
    let file = file.unwrap_or_else(|| "a file".to_owned());
    Problem {
        code: Code::Conflict,
        severity: Severity::Warning,
        message: format!("{what} is declared in {file} and in the store"),
        place: place.cloned(),
        related: None,
        remedy: format!("Rename or remove one of them; that of {file} counts."),
        server: server.cloned(),
    }
}

#[cfg(test)]
mod tests;
