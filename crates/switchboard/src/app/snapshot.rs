//! What is known now, kept for the next start: in the store, and as a file that other programs of the
//! same system read. Written at the start and after every change that was applied.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;
use switchboard_model::{Clock, Desired};
use switchboard_store::{Outage, SnapshotEntry, Store};

/// The file in the state directory.
pub(crate) const FILE: &str = "last-known-mcps.json";

/// Keeps what is known, whenever it is another thing.
pub(super) struct Snapshot {
    store: Option<Store>,
    path: PathBuf,
    clock: Arc<dyn Clock>,
    /// What is kept; nothing while that is something else than what is known.
    last: Option<Vec<SnapshotEntry>>,
    outage: Outage,
}

impl Snapshot {
    pub(super) fn new(store: Option<Store>, path: PathBuf, clock: Arc<dyn Clock>) -> Self {
        let outage = Outage::new("what is known now is not kept in the store");
        Self { store, path, clock, last: None, outage }
    }

    /// Takes note of what is declared and switched on. Never in the way: what cannot be written is said.
    pub(super) async fn take(&mut self, desired: &Desired) {
        let known = entries(desired);
        if self.last.as_ref() == Some(&known) {
            return;
        }
        self.last = None;
        if let Some(store) = &self.store {
            match store.snapshots().save(&known).await {
                Ok(_) => self.outage.over(),
                Err(error) => return self.outage.met(&error),
            }
        }
        let text = written(&known, self.clock.now());
        let path = self.path.clone();
        let file = tokio::task::spawn_blocking(move || replace(&path, &text)).await;
        if let Ok(Err(error)) = file {
            // Not tried again before the next change: a disk that is full does not heal by that.
            tracing::warn!(%error, path = %self.path.display(), "what is known now is not kept");
        }
        self.last = Some(known);
    }

    /// Whether something is known that the store does not keep yet.
    pub(super) fn is_behind(&self) -> bool {
        self.last.is_none()
    }
}

fn entries(desired: &Desired) -> Vec<SnapshotEntry> {
    let running = desired.servers.iter().filter(|(_, spec)| spec.enabled);
    let mut known: Vec<SnapshotEntry> = running
        .map(|(key, spec)| SnapshotEntry {
            name: key.to_string(),
            kind: spec.standing.as_str().to_owned(),
        })
        .collect();
    known.sort();
    known
}

/// The shape of Annabelle's document.
fn written(known: &[SnapshotEntry], now: SystemTime) -> String {
    let timestamp = humantime::format_rfc3339_millis(now).to_string();
    let mut text = format!("{:#}", json!({"timestamp": timestamp, "mcps": known}));
    text.push('\n');
    text
}

/// As a whole or not at all.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("json.new");
    let mut file = fs::File::create(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn the_shape_of_the_file() {
        let entry =
            |name: &str, kind: &str| SnapshotEntry { name: name.to_owned(), kind: kind.to_owned() };
        let known = [entry("guardian", "internal"), entry("posthog", "external")];
        let text = written(&known, UNIX_EPOCH + Duration::from_millis(1_749_983_400_000));
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            read,
            json!({
                "timestamp": "2025-06-15T10:30:00.000Z",
                "mcps": [
                    {"name": "guardian", "type": "internal"},
                    {"name": "posthog", "type": "external"},
                ],
            })
        );
    }
}
