//! What servers were found to speak, kept in a file, so that the next start asks nothing. Losing
//! it costs one question per server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use switchboard_config::edit::write_atomic;
use switchboard_model::HttpKind;
use switchboard_upstream::{EraMemory, Verdict};
use switchboard_wire::Era;

/// More than anybody has; beyond it the memory begins anew.
const MOST: usize = 10_000;

/// Verdicts in a file.
pub struct Eras {
    path: PathBuf,
    known: Mutex<BTreeMap<String, Known>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    era: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transport: Option<String>,
    #[serde(default)]
    server: String,
    /// How often the probe was met with silence, where that is all there is to go by.
    #[serde(default, skip_serializing_if = "is_none")]
    silences: u8,
}

fn is_none(silences: &u8) -> bool {
    *silences == 0
}

impl Eras {
    /// Reads the file; one that cannot be read is as good as none.
    pub fn open(path: &Path) -> Self {
        let known = std::fs::read_to_string(path)
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        Self { path: path.to_owned(), known: Mutex::new(known) }
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Known>)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.clone();
        change(&mut known);
        if *known == before {
            return;
        }
        // Written under the lock: the file never goes back to an older state.
        let text = serde_json::to_string_pretty(&*known).unwrap_or_default();
        if let Err(error) = write_atomic(&self.path, &text) {
            tracing::warn!(%error, path = %self.path.display(), "what servers speak is not kept");
        }
    }
}

impl EraMemory for Eras {
    fn get(&self, target: &str) -> Option<Verdict> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(target)?.verdict()
    }

    fn set(&self, target: &str, verdict: Verdict) {
        self.change(|known| {
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(target.to_owned(), Known::of(&verdict));
        });
    }

    fn forget(&self, target: &str) {
        self.change(|known| {
            known.remove(target);
        });
    }
}

impl Known {
    fn of(verdict: &Verdict) -> Self {
        let era = match verdict.era {
            Era::Session => "session",
            Era::Stateless => "stateless",
        };
        let transport = verdict.kind.map(|kind| match kind {
            HttpKind::Streamable => "http".to_owned(),
            HttpKind::Sse => "sse".to_owned(),
        });
        let (server, silences) = (verdict.server.clone(), verdict.silences);
        Self { era: era.to_owned(), transport, server, silences }
    }

    fn verdict(&self) -> Option<Verdict> {
        let era = match self.era.as_str() {
            "session" => Era::Session,
            "stateless" => Era::Stateless,
            _ => return None,
        };
        let kind = match self.transport.as_deref() {
            None => None,
            Some("http") => Some(HttpKind::Streamable),
            Some("sse") => Some(HttpKind::Sse),
            Some(_) => return None,
        };
        Some(Verdict { era, kind, server: self.server.clone(), silences: self.silences })
    }
}

#[cfg(test)]
mod tests {
    use switchboard_testkit::Scratch;

    use super::*;

    #[test]
    fn it_is_there_at_the_next_start() {
        let scratch = Scratch::new();
        let path = scratch.path().join("eras.json");
        let server = "a 1".to_owned();
        let verdict = Verdict { era: Era::Stateless, kind: None, server, silences: 0 };
        let kind = Some(HttpKind::Sse);
        let other = Verdict { kind, era: Era::Session, silences: 1, ..verdict.clone() };
        let eras = Eras::open(&path);
        eras.set("a", verdict.clone());
        eras.set("b", other.clone());
        eras.set("c", other.clone());
        eras.forget("c");
        let eras = Eras::open(&path);
        assert_eq!(
            (eras.get("a"), eras.get("b"), eras.get("c")),
            (Some(verdict), Some(other), None)
        );
        std::fs::write(&path, "{\"a\": 1").unwrap();
        assert_eq!(Eras::open(&path).get("a"), None);
    }
}
