//! What is known now, kept for the next start: in the store, and as a file that other programs of the
//! same system read. Written at the start and after every change that was applied.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;
use switchboard_model::{Clock, Desired};
use switchboard_store::{Outage, SnapshotEntry, Store};

use super::kept::KeptFile;

/// The file in the state directory.
pub(crate) const FILE: &str = "last-known-mcps.json";

/// Keeps what is known.
pub(super) struct Snapshot {
    store: Option<Store>,
    /// Whether the store keeps something else than what is known.
    behind: bool,
    file: KeptFile,
    clock: Arc<dyn Clock>,
    outage: Outage,
}

impl Snapshot {
    pub(super) fn new(store: Option<Store>, path: PathBuf, clock: Arc<dyn Clock>) -> Self {
        let outage = Outage::new("what is known now is not kept in the store");
        let file = KeptFile::new(path, "what is known now is not kept");
        Self { store, behind: true, file, clock, outage }
    }

    /// Keeps what is declared and switched on. Never in the way: what cannot be written is said, and the snapshot
    /// is behind until it is taken again.
    pub(super) async fn take(&mut self, desired: &Desired) {
        let known = entries(desired);
        let saved = match &self.store {
            Some(store) => store.snapshots().save(&known).await.map(drop),
            None => Ok(()),
        };
        self.behind = saved.is_err();
        match saved {
            Ok(()) => self.outage.over(),
            Err(error) => self.outage.met(&error),
        }
        self.file.write(written(&known, self.clock.now())).await;
    }

    /// Whether something is known that is not kept yet.
    pub(super) fn is_behind(&self) -> bool {
        self.behind || self.file.is_behind()
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
