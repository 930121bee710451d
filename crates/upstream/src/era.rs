//! What servers were found to speak, remembered so that the next start asks nothing. Only the
//! port and its simplest form; the store brings a lasting one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use switchboard_model::{HttpKind, Resolved, ResolvedTransport};
use switchboard_wire::Era;

/// What a server was found to speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its era.
    pub era: Era,
    /// Over which HTTP transport, for a URL.
    pub kind: Option<HttpKind>,
    /// The name and version it gave when that was found.
    pub server: String,
    /// How often it was found by silence: nobody answered the probe in time. None is an answer.
    pub silences: u8,
}

/// So many silences count as an answer: whoever never has one must not be asked at each start.
const ENOUGH: u8 = 2;

/// What is known, if a session can begin without a probe. One that may only have been slow to answer
/// is asked once more, with more patience.
pub(crate) fn session(known: Option<&Verdict>) -> Option<&Verdict> {
    let is_proved = |known: &&Verdict| known.silences == 0 || known.silences >= ENOUGH;
    known.filter(|known| known.era == Era::Session).filter(is_proved)
}

/// How many times as long as the first the next probe may take.
pub(crate) fn patience(known: Option<&Verdict>) -> u32 {
    1 + known.map_or(0, |known| u32::from(known.silences.min(ENOUGH - 1)))
}

/// How often it was met with silence, once more.
pub(crate) fn silent(known: Option<&Verdict>) -> u8 {
    known.map_or(0, |known| known.silences).saturating_add(1).min(ENOUGH)
}

/// Remembers verdicts, by a digest of the command line or by the URL without its query.
pub trait EraMemory: Send + Sync {
    /// What is known.
    fn get(&self, target: &str) -> Option<Verdict>;
    /// Learns it.
    fn set(&self, target: &str, verdict: Verdict);
    /// It was wrong: the server was changed.
    fn forget(&self, target: &str);
}

/// Remembers as long as the process lives.
#[derive(Debug, Default)]
pub struct InMemory(Mutex<HashMap<String, Verdict>>);

impl EraMemory for InMemory {
    fn get(&self, target: &str) -> Option<Verdict> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(target).cloned()
    }

    fn set(&self, target: &str, verdict: Verdict) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(target.to_owned(), verdict);
    }

    fn forget(&self, target: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(target);
    }
}

/// Under which a verdict is kept. Nothing secret can be read from it.
pub(crate) fn target(resolved: &Resolved) -> String {
    match &resolved.transport {
        ResolvedTransport::Stdio { command, args, .. } => {
            let words = std::iter::once(command).chain(args);
            let bytes = words.flat_map(|word| word.expose().bytes().chain([0]));
            // FNV-1a: the same in every version.
            let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            format!("stdio:{hash:016x}")
        }
        ResolvedTransport::Http { url, .. } => match url::Url::parse(url.expose()) {
            Ok(url) => format!("{}{}", url.origin().ascii_serialization(), url.path()),
            Err(_) => String::new(),
        },
    }
}
