//! What calls come to since the start, by server, tool and outcome: counted where they are written down,
//! off their path. In memory alone, and bounded.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_model::{Outcome, ServerKey};

use super::Record;
use crate::usage::CallRecord;

/// The upper ends of the classes of durations, in milliseconds; what takes longer is in the last one.
pub const CLASSES: [u64; 13] =
    [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];

/// Servers and tools of each that are counted by name: names come from outside, and memory is finite.
const SERVERS: usize = 1_000;
const TOOLS: usize = 200;

/// What the calls of a server come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerCalls {
    /// How many, by tool and how they ended; the empty tool stands for all that are too many to name.
    pub calls: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// How long those took that reached the server.
    pub durations: Durations,
}

/// How long calls took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    /// How many in each class, and how many took longer than any.
    pub classes: [u64; CLASSES.len() + 1],
    /// All together.
    pub sum: Duration,
}

impl Durations {
    /// How many calls.
    pub fn count(&self) -> u64 {
        self.classes.iter().sum()
    }

    fn add(&mut self, took: Duration) {
        let place = CLASSES.partition_point(|end| Duration::from_millis(*end) < took);
        if let Some(class) = self.classes.get_mut(place) {
            *class += 1;
        }
        self.sum = self.sum.saturating_add(took);
    }
}

/// The counts. Taken in turns by whoever writes records and whoever reads metrics; no call waits for it.
#[derive(Debug, Default)]
pub(super) struct Meter(Mutex<BTreeMap<ServerKey, ServerCalls>>);

impl Meter {
    /// Adds the calls of a batch.
    pub(super) fn add(&self, batch: &[Record]) {
        let mut servers = self.servers();
        for record in batch {
            match record {
                Record::Call(call) => one(&mut servers, call),
                Record::Entry(_) => {}
            }
        }
    }

    pub(super) fn read(&self) -> BTreeMap<ServerKey, ServerCalls> {
        self.servers().clone()
    }

    fn servers(&self) -> MutexGuard<'_, BTreeMap<ServerKey, ServerCalls>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn one(servers: &mut BTreeMap<ServerKey, ServerCalls>, call: &CallRecord) {
    if !servers.contains_key(&call.server) && servers.len() >= SERVERS {
        return;
    }
    let server = servers.entry(call.server.clone()).or_default();
    let named = server.calls.contains_key(&*call.tool) || server.calls.len() < TOOLS;
    let tool = if named { &*call.tool } else { "" };
    let outcome = call.outcome.map_or("denied", Outcome::as_str);
    if !server.calls.contains_key(tool) {
        server.calls.insert(tool.to_owned(), BTreeMap::new());
    }
    if let Some(outcomes) = server.calls.get_mut(tool) {
        *outcomes.entry(outcome).or_default() += 1;
    }
    if call.outcome.is_some() {
        server.durations.add(call.duration);
    }
}

#[cfg(test)]
mod tests;
