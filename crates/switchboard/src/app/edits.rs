//! That files declare something else than before is written down, for they are edited by people too: what came, went
//! and changed, by name, and in which files. Never a value. What changed while no hub ran is told at the next start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use switchboard_config::Loaded;
use switchboard_model::Place;
use switchboard_store::{Actor, Entry, Outage, Store};

use super::kept::KeptFile;

/// The file in the state directory that says what was declared when the hub last ran.
pub(super) const FILE: &str = "declared-in-files.json";

/// What the audit log calls it.
const ACTION: &str = "config.change";

/// Writes down how what files declare changes.
pub(super) struct Edits {
    store: Store,
    file: KeptFile,
    last: Option<Arc<Loaded>>,
    outage: Outage,
}

/// What files declare, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    /// Another version may say the same in other words.
    version: String,
    parts: BTreeMap<String, Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    file: Option<PathBuf>,
    /// Of what is declared, with secrets masked.
    digest: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Difference {
    files: BTreeSet<PathBuf>,
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
}

impl Edits {
    pub(super) fn new(store: Store, path: PathBuf) -> Self {
        let outage = Outage::new("changes of the files are not written down");
        let file = KeptFile::new(path, "what files declare now is not kept for the next start");
        Self { store, file, last: None, outage }
    }

    /// Takes note of what files declare now.
    pub(super) async fn note(&mut self, files: &Arc<Loaded>) {
        let now = Seen::of(files);
        let (difference, found) = match &self.last {
            Some(last) => (between(&Seen::of(last), &now, &exactly(last, files)), "running"),
            None => match self.before().await {
                Some(before) => (between(&before, &now, &BTreeSet::new()), "start"),
                None => (Difference::default(), "start"),
            },
        };
        if difference != Difference::default() {
            let mut entry = Entry::act(self.store.now(), &Actor::system(), ACTION);
            entry.detail = Some(difference.told(found));
            if let Err(error) = self.store.audit().append(entry).await {
                return self.outage.met(&error);
            }
        } else if self.last.is_some() && !self.file.is_behind() {
            self.last = Some(files.clone());
            return;
        }
        self.outage.over();
        self.last = Some(files.clone());
        self.file.write(serde_json::to_string(&now).unwrap_or_default()).await;
    }

    /// Whether something is not written down yet.
    pub(super) fn is_behind(&self, files: &Arc<Loaded>) -> bool {
        let is_noted = self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, files));
        !is_noted || self.file.is_behind()
    }

    async fn before(&self) -> Option<Seen> {
        serde_json::from_str(&self.file.read().await?).ok()
    }
}

impl Seen {
    fn of(files: &Loaded) -> Self {
        let desired = &files.desired;
        let mut parts = BTreeMap::new();
        for (key, spec) in &desired.servers {
            let file = files.origins.get(key).map(|origin| whole(&origin.place));
            parts.insert(format!("server {key}"), Part::of(file, spec));
        }
        for (id, spec) in &desired.agents {
            let file = files.agents.get(id).map(whole);
            parts.insert(format!("agent {id}"), Part::of(file, spec));
        }
        parts.insert("hub".to_owned(), Part::of(None, &desired.hub));
        parts.insert("defaults".to_owned(), Part::of(None, &desired.defaults));
        parts.insert("rules".to_owned(), Part::of(None, &desired.policy));
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), parts }
    }
}

/// Whatever the directory is in which the hub was started.
fn whole(place: &Place) -> PathBuf {
    let path = place.source.path();
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

impl Part {
    fn of(file: Option<PathBuf>, spec: &impl std::fmt::Debug) -> Self {
        let digest = Sha256::digest(format!("{spec:?}"));
        let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { file, digest }
    }
}

impl Difference {
    fn told(&self, found: &str) -> Value {
        json!({"found": found, "files": self.files, "added": self.added,
            "removed": self.removed, "changed": self.changed})
    }
}

/// What came, went, and is another now. What is masked in both is known by `exactly`.
fn between(before: &Seen, now: &Seen, exactly: &BTreeSet<String>) -> Difference {
    let mut difference = Difference::default();
    let names: BTreeSet<&String> = before.parts.keys().chain(now.parts.keys()).collect();
    for name in names {
        let (old, new) = (before.parts.get(name), now.parts.get(name));
        let list = match (old, new) {
            (Some(_), None) => &mut difference.removed,
            (None, _) => &mut difference.added,
            (Some(old), Some(new)) => {
                let other = before.version == now.version && old.digest != new.digest;
                if !other && old.file == new.file && !exactly.contains(name) {
                    continue;
                }
                &mut difference.changed
            }
        };
        list.push(name.clone());
        difference.files.extend([old, new].into_iter().flatten().filter_map(|p| p.file.clone()));
    }
    difference
}

/// What differs, secrets too.
fn exactly(before: &Loaded, now: &Loaded) -> BTreeSet<String> {
    let (before, now) = (&before.desired, &now.desired);
    let other = now.servers.iter().filter(|(key, spec)| before.servers.get(key) != Some(spec));
    let servers = other.map(|(key, _)| format!("server {key}"));
    let hub = (before.hub != now.hub).then(|| "hub".to_owned());
    servers.chain(hub).collect()
}

#[cfg(test)]
mod tests;
