//! What a server said lately, within a bound, and the events that tell of it, within a rate. What it was
//! connected with is taken out of it before anybody hears it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use arc_swap::ArcSwap;
use switchboard_core::port::CallError;
use switchboard_model::{Concealed, EventKind, LogLine, LogSource, ServerKey};

use crate::bus::Bus;

/// Longer texts are cut.
const LONGEST: usize = 4096;
/// So many connections' secrets are remembered: the last words of one may come after the next has begun.
const CONNECTIONS: usize = 8;
/// Events at once, and per second after that; the ring takes everything.
const BURST: f64 = 100.0;
const PER_SECOND: f64 = 20.0;

/// The last lines of one server.
pub(crate) struct Journal {
    server: ServerKey,
    bus: Bus,
    inner: Mutex<Inner>,
    concealed: ArcSwap<Vec<Arc<Concealed>>>,
}

struct Inner {
    lines: VecDeque<LogLine>,
    bytes: usize,
    limit: usize,
    tokens: f64,
    filled: Instant,
    unsaid: u64,
}

impl Journal {
    pub(crate) fn new(server: ServerKey, bus: Bus, limit: u64) -> Self {
        let filled = bus.clock().monotonic();
        let inner = Inner {
            lines: VecDeque::new(),
            bytes: 0,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            tokens: BURST,
            filled,
            unsaid: 0,
        };
        Self { server, bus, inner: Mutex::new(inner), concealed: ArcSwap::default() }
    }

    /// From now on these are not told.
    pub(crate) fn conceal(&self, new: Concealed) {
        if new.is_empty() || self.concealed.load().iter().any(|known| **known == new) {
            return;
        }
        let new = Arc::new(new);
        self.concealed.rcu(|known| {
            let kept = known.len().saturating_sub(CONNECTIONS - 1);
            known[kept..].iter().chain([&new]).cloned().collect::<Vec<_>>()
        });
    }

    /// A text without what must not be told.
    pub(crate) fn hide(&self, text: &str) -> String {
        let hide = |text: String, one: &Arc<Concealed>| one.hide(&text).into_owned();
        self.concealed.load().iter().fold(text.to_owned(), hide)
    }

    /// An error without what must not be told. What a server answers to a call is passed on as it came.
    pub(crate) fn discreet(&self, error: CallError) -> CallError {
        match error {
            CallError::Lost { reason, delivery } => {
                CallError::Lost { reason: self.hide(&reason), delivery }
            }
            CallError::Unauthorized { detail, challenge } => {
                CallError::Unauthorized { detail: self.hide(&detail), challenge }
            }
            CallError::Http { status, detail } => {
                CallError::Http { status, detail: self.hide(&detail) }
            }
            CallError::Malformed(text) => CallError::Malformed(self.hide(&text)),
            error => error,
        }
    }

    /// Takes a line in.
    pub(crate) fn push(&self, source: LogSource, text: &[u8]) {
        let text = self.shown(text);
        if text.is_empty() {
            return;
        }
        let line = LogLine { source, text };
        let events = self.lock().take(line, self.bus.clock().monotonic());
        for line in events {
            self.bus.send(&self.server, EventKind::ServerLog(line));
        }
    }

    /// A remark of the hub's own.
    pub(crate) fn remark(&self, text: &str) {
        self.push(LogSource::Hub, text.as_bytes());
    }

    /// Something else happened at its server.
    pub(crate) fn tell(&self, kind: EventKind) {
        self.bus.send(&self.server, kind);
    }

    /// How many bytes are kept from now on.
    pub(crate) fn resize(&self, limit: u64) {
        let mut inner = self.lock();
        inner.limit = usize::try_from(limit).unwrap_or(usize::MAX);
        inner.shrink();
    }

    /// The newest lines, oldest first.
    pub(crate) fn last(&self, count: usize) -> Vec<LogLine> {
        let inner = self.lock();
        inner.lines.iter().skip(inner.lines.len().saturating_sub(count)).cloned().collect()
    }

    /// The newest line of standard error.
    pub(crate) fn last_words(&self) -> Option<String> {
        let inner = self.lock();
        let stderr = inner.lines.iter().rev().find(|line| line.source == LogSource::Stderr);
        stderr.map(|line| line.text.clone())
    }

    /// Text for a person: cut, without what would move a terminal's cursor, and without what must not be
    /// told, which is looked for before anything is cut off within it.
    fn shown(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST)]);
        let text = text.trim_end().chars().filter(|c| !c.is_control() || *c == '\t').collect();
        let hide = |text: String, one: &Arc<Concealed>| match bytes.len() > LONGEST {
            true => one.hide_cut(&text).into_owned(),
            false => one.hide(&text).into_owned(),
        };
        let mut shown: String = self.concealed.load().iter().fold(text, hide);
        if shown.len() > LONGEST {
            shown.truncate(shown.floor_char_boundary(LONGEST));
            shown.push('…');
        }
        shown
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Keeps the line and says which events tell of it.
    fn take(&mut self, line: LogLine, now: Instant) -> Vec<LogLine> {
        self.bytes += line.text.len();
        self.lines.push_back(line.clone());
        self.shrink();
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.filled = now;
        self.tokens = (self.tokens + passed * PER_SECOND).min(BURST);
        if self.tokens < 1.0 {
            self.unsaid += 1;
            return Vec::new();
        }
        self.tokens -= 1.0;
        let mut events = Vec::new();
        if self.unsaid > 0 {
            let text = format!("… {} more lines are in its log", std::mem::take(&mut self.unsaid));
            events.push(LogLine { source: LogSource::Hub, text });
        }
        events.push(line);
        events
    }

    fn shrink(&mut self) {
        while self.bytes > self.limit {
            let Some(line) = self.lines.pop_front() else { break };
            self.bytes -= line.text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use switchboard_model::ServerName;
    use switchboard_testkit::ManualClock;

    use super::*;

    #[test]
    fn a_ring_and_a_rate() {
        let clock = Arc::new(ManualClock::new());
        let bus = Bus::new(clock.clone());
        let mut events = bus.listen();
        let key = ServerKey::global(ServerName::parse("s").unwrap());
        let journal = Journal::new(key, bus, 1000);
        for n in 0..500 {
            journal.push(LogSource::Stderr, format!("line {n:03}\x1b[2J").as_bytes());
        }
        let kept = journal.last(1000);
        assert_eq!((kept.len(), kept[0].text.as_str()), (90, "line 410[2J"));
        let mut told = || std::iter::from_fn(|| events.try_recv().ok()).count();
        assert_eq!(told(), 100);
        clock.advance(Duration::from_secs(1));
        journal.remark("x");
        assert_eq!(told(), 2);
        assert_eq!(journal.last_words().unwrap(), "line 499[2J");
        journal.resize(10);
        assert_eq!(journal.last(10).len(), 1);
    }

    #[test]
    fn what_it_was_connected_with_is_not_told() {
        let bus = Bus::new(Arc::new(ManualClock::new()));
        let key = ServerKey::global(ServerName::parse("s").unwrap());
        let journal = Journal::new(key, bus, 100_000);
        for nth in 0..2 * CONNECTIONS {
            let value = switchboard_model::Secret::new(format!("correct horse {nth:02}"));
            journal.conceal(Concealed::of([("KEY", &value)]));
            journal.conceal(Concealed::of([("KEY", &value)]));
        }
        let last = |text: &str| {
            journal.push(LogSource::Stderr, text.as_bytes());
            journal.last_words().unwrap()
        };
        assert_eq!(last("it is correct\x07 horse 15, correct horse 08"), "it is ***, ***");
        assert_eq!(last("correct horse 07"), "correct horse 07", "too long ago");
        let long = "x".repeat(LONGEST - 10);
        assert_eq!(last(&format!("{long}correct horse 15 and more")), format!("{long}*** and mo…"));
        let most = "x".repeat(4 * LONGEST - 10);
        assert!(!last(&format!("{most}correct horse 15")).contains("corr"));
        let lost = CallError::Http { status: 403, detail: "no correct horse 15".to_owned() };
        assert_eq!(journal.discreet(lost).to_string(), "HTTP 403: no ***");
    }
}
