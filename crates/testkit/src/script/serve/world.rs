//! All that a running server knows: its script, which of its faults are on, its sessions, what has
//! been added to its lists. Never writes to a caller.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::gate::Gate;
use super::lasting::Begun;
use super::notices::Subscription;
use super::session::Session;
use crate::script::document::Script;
use crate::script::fault::Fault;

pub(super) struct World {
    pub(super) script: Script,
    /// Which start of the program this is, counted from one.
    pub(super) start: u64,
    /// How often each rule was concerned.
    seen: Vec<AtomicU32>,
    record: Option<Mutex<File>>,
    hung: AtomicBool,
    pub(super) sessions: Mutex<HashMap<String, Arc<Session>>>,
    pub(super) subscriptions: Mutex<Vec<Subscription>>,
    pub(super) extras: Mutex<Extras>,
    /// What resources hold instead of what they held at first, by their URIs.
    pub(super) edited: Mutex<HashMap<String, String>>,
    /// The tasks that were begun, by their ids.
    pub(super) begun: Mutex<HashMap<String, Begun>>,
    /// How often a list was asked for.
    pub(super) listed: AtomicU64,
    pub(super) gate: Gate,
    /// The requests that are being worked on.
    pub(super) busy: AtomicU32,
    pub(super) origins: OnceLock<Origins>,
    numbers: AtomicU64,
}

/// How many entries were added to each list.
#[derive(Default)]
pub(super) struct Extras {
    pub(super) tools: usize,
    pub(super) resources: usize,
    pub(super) prompts: usize,
}

/// Where it is served.
pub(super) struct Origins {
    pub(super) own: String,
    pub(super) other: Option<String>,
}

impl World {
    pub(super) fn new(script: Script) -> Self {
        let start = script.counter.as_deref().map_or(1, count_start);
        let append = |path: &Path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            Mutex::new(file.expect("the record can be written"))
        };
        let record = script.record.as_deref().map(append);
        let seen = script.faults.iter().map(|_| AtomicU32::new(0)).collect();
        Self {
            script,
            start,
            seen,
            record,
            hung: AtomicBool::new(false),
            sessions: Mutex::default(),
            subscriptions: Mutex::default(),
            extras: Mutex::default(),
            edited: Mutex::default(),
            begun: Mutex::default(),
            listed: AtomicU64::new(0),
            gate: Gate::default(),
            busy: AtomicU32::new(0),
            origins: OnceLock::new(),
            numbers: AtomicU64::new(1),
        }
    }

    /// The faults that happen once, at the start.
    pub(super) fn at_start(&self) -> Vec<Fault> {
        if !self.is_faulty() {
            return Vec::new();
        }
        let rules = self.script.faults.iter().filter(|rule| rule.is_at_start());
        rules.map(|rule| rule.fault.clone()).collect()
    }

    /// The faults that happen at this method with these params, or at the call of this tool. Each question counts.
    pub(super) fn faults(
        &self,
        method: Option<&str>,
        tool: Option<&str>,
        params: &Value,
    ) -> Vec<Fault> {
        if !self.is_faulty() {
            return Vec::new();
        }
        let rules = self.script.faults.iter().zip(&self.seen);
        let concerned = rules.filter(|(rule, _)| rule.concerns(method, tool, params));
        concerned
            .filter_map(|(rule, seen)| {
                let before = seen.fetch_add(1, Ordering::Relaxed);
                let after = rule.when.after.unwrap_or(0);
                let end = rule.when.times.map_or(u32::MAX, |times| after.saturating_add(times));
                (after..end).contains(&before).then(|| rule.fault.clone())
            })
            .collect()
    }

    fn is_faulty(&self) -> bool {
        let Script { until_start, while_file, .. } = &self.script;
        until_start.is_none_or(|until| self.start <= until)
            && while_file.as_deref().is_none_or(Path::exists)
    }

    /// A number that was not given before.
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes something for the test.
    pub(super) fn note(&self, what: &Value) {
        let Some(file) = &self.record else { return };
        let mut line = json!({"start": self.start, "pid": std::process::id()});
        if let (Value::Object(line), Value::Object(what)) = (&mut line, what) {
            line.extend(what.clone());
        }
        drop(held(file).write_all(format!("{line}\n").as_bytes()));
    }

    /// Stands still as a whole, for ever when `ms` is 0.
    pub(super) fn hang(&self, ms: u64) {
        self.hung.store(true, Ordering::SeqCst);
        if ms > 0 {
            thread::sleep(Duration::from_millis(ms));
            self.hung.store(false, Ordering::SeqCst);
        }
        self.wait_while_hung();
    }

    /// Waits until the whole does not stand still.
    pub(super) fn wait_while_hung(&self) {
        while self.hung.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn session(&self, id: &str) -> Option<Arc<Session>> {
        held(&self.sessions).get(id).cloned()
    }

    pub(super) fn add_session(&self, session: &Arc<Session>) {
        held(&self.sessions).insert(session.id.clone(), Arc::clone(session));
    }

    pub(super) fn drop_session(&self, id: &str) -> Option<Arc<Session>> {
        held(&self.sessions).remove(id)
    }
}

/// Locks, whatever became of a thread that had it.
pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The time, which a server of its own has from nobody.
#[expect(clippy::disallowed_methods, reason = "the program stands outside of the tests' time")]
pub(super) fn now() -> Instant {
    Instant::now()
}

fn count_start(path: &Path) -> u64 {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    let mut file = options.open(path).expect("the counter can be written");
    file.lock().expect("the counter can be locked");
    let mut text = String::new();
    file.read_to_string(&mut text).expect("the counter can be read");
    let start = text.trim().parse::<u64>().unwrap_or(0) + 1;
    file.rewind().expect("the counter can be rewound");
    file.write_all(start.to_string().as_bytes()).expect("the counter can be written");
    start
}
