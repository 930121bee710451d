//! What the API needs of the hub around it: what is declared, and that it is made so. Only the port.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use switchboard_core::port::BoxFuture;
use switchboard_model::{
    AgentId, Auth, Desired, Problem, Scope, ServerKey, ServerName, ServerSpec, UserId,
};
use switchboard_store::{Agent, Credential, ServerRow};

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
    /// Where files declare agents; those that are not in it are the store's.
    pub agents: BTreeMap<AgentId, FilePlace>,
    /// Servers of the store that do not run, since a file declares one of the same name.
    pub shadowed: BTreeMap<ServerKey, Arc<ServerRow>>,
    /// What is wrong with the files, and between them and the store.
    pub problems: Vec<Problem>,
    /// The names that only internal servers have.
    pub reserved: BTreeSet<ServerName>,
}

/// Where in a file something is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// Which one.
    pub path: PathBuf,
    /// Where in it, counted from 1.
    pub line: Option<usize>,
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.line.map_or(Ok(()), |line| write!(f, ", line {line}"))
    }
}

/// What is said of a row of the store whose agent a file declares: nothing of it counts.
pub fn contested(row: &Agent, place: &FilePlace) -> String {
    format!(
        "the agent `{}` is declared in {place}, and `{}`, who is no administrator, has one of that id in \
         the store: its tokens are refused, and it owns nothing",
        row.id, row.owner
    )
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
    /// By a credential of somebody's own for a server that everybody has: the same server, over a connection
    /// of their own.
    Credential {
        /// The server that everybody has.
        shared: ServerKey,
        /// Where that one is declared.
        of: Box<Source>,
    },
}

impl Declared {
    /// With a server for everybody who has a credential of their own for one that all have: of the same name
    /// and in their scope, so that only their agents have it, and have it instead.
    #[must_use]
    pub fn with_credentials<'c>(
        mut self,
        credentials: impl IntoIterator<Item = &'c Credential>,
    ) -> Self {
        for Credential { server, owner, .. } in credentials {
            let (Some(owner), Scope::Global) = (owner, &server.scope) else { continue };
            let own = ServerKey { scope: Scope::User(owner.clone()), name: server.name.clone() };
            let (Some(spec), Some(of)) =
                (self.desired.servers.get(server), self.sources.get(server))
            else {
                continue;
            };
            // A server that is really theirs counts before it.
            if self.desired.servers.contains_key(&own) {
                continue;
            }
            let (spec, of) = (Arc::new(without_secret(spec)), Box::new(of.clone()));
            Arc::make_mut(&mut self.desired).servers.insert(own.clone(), spec);
            self.sources.insert(own, Source::Credential { shared: server.clone(), of });
        }
        self
    }

    /// Whether somebody reaches a server that everybody has with a credential of their own.
    pub fn has_own(&self, server: &ServerKey, user: &UserId) -> bool {
        let own = ServerKey { scope: Scope::User(user.clone()), name: server.name.clone() };
        matches!(self.sources.get(&own), Some(Source::Credential { shared, .. })
            if shared == server || own == *server)
    }
}

/// Whoever has their own does not use what everybody uses.
fn without_secret(spec: &ServerSpec) -> ServerSpec {
    let mut spec = spec.clone();
    match &mut spec.auth {
        Auth::Bearer { token: secret } | Auth::ApiKey { key: secret, .. } => *secret = None,
        Auth::None | Auth::OAuth { .. } => {}
    }
    spec
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
