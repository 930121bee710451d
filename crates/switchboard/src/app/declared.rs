//! Two sources, one state: what the files and the store declare, together. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_config::Loaded;
use switchboard_rest::port::{Declared, Source};
use switchboard_store::{Agent, ServerRow};

/// The files' word counts before the store's, for servers and agents alike.
pub(super) fn merge(files: &Loaded, rows: &[Arc<ServerRow>], agents: &[Arc<Agent>]) -> Declared {
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
    for agent in agents {
        desired.agents.entry(agent.id.clone()).or_insert_with(|| agent.spec.clone());
    }
    let (problems, reserved) = (files.problems.clone(), files.reserved.clone());
    Declared { desired: Arc::new(desired), sources, shadowed, problems, reserved }
}

#[cfg(test)]
mod tests;
