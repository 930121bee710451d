//! What the API needs of the hub around it: what is declared, and that it is made so. Only the port.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use switchboard_core::port::BoxFuture;
use switchboard_model::{Desired, Problem, ServerKey, ServerName};
use switchboard_store::ServerRow;

/// The hub around the API.
pub trait Hub: Send + Sync {
    /// What is declared now: what has been applied, or is being applied.
    fn declared(&self) -> Arc<Declared>;

    /// Reads what is declared anew and makes what runs equal to it. Returns when every change has
    /// been taken over: what is gone no longer runs, what is new has begun to connect.
    fn apply(&self) -> BoxFuture<'_, Result<(), switchboard_store::Error>>;
}

/// What is declared, and where each part of it stands.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// What ought to run, from every source.
    pub desired: Arc<Desired>,
    /// Where each server of it is declared.
    pub sources: BTreeMap<ServerKey, Source>,
    /// Servers of the store that do not run, since a file declares one of the same name.
    pub shadowed: BTreeMap<ServerKey, Arc<ServerRow>>,
    /// What is wrong with the files.
    pub problems: Vec<Problem>,
    /// The names that only internal servers have.
    pub reserved: BTreeSet<ServerName>,
}

/// Where a server is declared.
#[derive(Clone, Debug)]
pub enum Source {
    /// In a file, which the API does not write.
    File {
        /// Which one.
        path: PathBuf,
        /// Where in it, counted from 1.
        line: Option<usize>,
    },
    /// In the store.
    Store(Arc<ServerRow>),
}

/// What became of the spans of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanCounters {
    /// Taken by the collector.
    pub sent: u64,
    /// Lost, because the queue was full or the collector did not take them.
    pub dropped: u64,
    /// Still waiting.
    pub queued: u64,
}

/// Who sends calls to a collector as spans.
pub trait Spans: Send + Sync {
    /// What became of them so far.
    fn counters(&self) -> SpanCounters;
}
