//! What connections are made with: time, variables, memory, permission, credentials, and the hub's
//! own mark. All of it is handed in; nothing here reads the process's environment.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use switchboard_core::port::BoxFuture;
use switchboard_model::server::KeyPlace;
use switchboard_model::{Clock, Secret, ServerKey, ServerSpec, SystemClock};

use crate::era::{EraMemory, InMemory};
use crate::guardian::Guardian;
use crate::instance::Instance;

/// Looks a variable up.
pub type Lookup = Arc<dyn Fn(&str) -> Option<Secret> + Send + Sync>;

/// What the store holds for a connection.
#[derive(Debug)]
pub enum Held {
    /// Nothing, and nothing is asked of it: what is declared will do.
    Nothing,
    /// A credential, whole, and where it goes.
    Credential(KeyPlace, Secret),
    /// None that is good, though the declaration counts on one; why, in a part of a sentence.
    Lacking(String),
    /// It did not say.
    Away(String),
}

/// Who may be started, and with which credentials. The store answers later; until then everything
/// that is declared may start, with what its declaration carries.
pub trait Gate: Send + Sync {
    /// Whether its command line is approved.
    fn is_approved(&self, server: &ServerKey, spec: &ServerSpec) -> bool {
        let _ = (server, spec);
        true
    }

    /// What the hub proves itself with, where the declaration leaves that to the store.
    fn credential<'a>(
        &'a self,
        server: &'a ServerKey,
        spec: &'a ServerSpec,
    ) -> BoxFuture<'a, Held> {
        let _ = (server, spec);
        Box::pin(std::future::ready(Held::Nothing))
    }

    /// The link under which a person signs in; `challenge` is the server's `WWW-Authenticate`.
    fn sign_in(&self, server: &ServerKey, challenge: Option<&str>) -> Option<String> {
        let _ = (server, challenge);
        None
    }
}

/// Lets everything through.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open;

impl Gate for Open {}

/// How the hub introduces itself to servers.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Default for Identity {
    fn default() -> Self {
        Self { name: "switchboard".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// How long is waited for what should come by itself.
#[derive(Clone, Debug)]
pub struct Waits {
    /// A child's answer to the probe; after that another process is asked.
    pub probe: Duration,
    /// The same for one behind a program that may have to download it first.
    pub probe_download: Duration,
    /// Any output of a child that has not introduced itself; after that it is given up.
    pub silence: Duration,
    /// The answer to a health check.
    pub check: Duration,
    /// A server's word that it tells of changes; until it says so, it is looked at.
    pub acknowledge: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            probe: Duration::from_secs(3),
            probe_download: Duration::from_secs(20),
            silence: Duration::from_secs(5 * 60),
            check: Duration::from_secs(10),
            acknowledge: Duration::from_secs(5),
        }
    }
}

/// What connections are made with.
#[derive(Clone)]
pub struct Context {
    /// The time, for what people read.
    pub clock: Arc<dyn Clock>,
    /// Variables: for templates, the base environment of children, and proxies.
    pub env: Lookup,
    /// What servers were found to speak.
    pub memory: Arc<dyn EraMemory>,
    /// Who may be started.
    pub gate: Arc<dyn Gate>,
    /// The mark of this hub.
    pub instance: Instance,
    /// Who ends the children if this process is killed.
    pub guardian: Option<Arc<Guardian>>,
    /// How the hub introduces itself.
    pub identity: Identity,
    /// How long is waited for what should come by itself.
    pub waits: Waits,
    pub(crate) http: Arc<OnceLock<Result<reqwest::Client, String>>>,
}

impl Context {
    /// Everything at its default.
    pub fn new(env: Lookup, instance: Instance) -> Self {
        Self {
            clock: Arc::new(SystemClock),
            env,
            memory: Arc::new(InMemory::default()),
            gate: Arc::new(Open),
            instance,
            guardian: None,
            identity: Identity::default(),
            waits: Waits::default(),
            http: Arc::default(),
        }
    }

    /// A process group was started.
    pub(crate) fn started(&self, leader: u32) {
        if let Some(guardian) = &self.guardian {
            guardian.started(leader);
        }
    }

    /// Nothing of a process group runs any more.
    pub(crate) fn stopped(&self, leader: u32) {
        if let Some(guardian) = &self.guardian {
            guardian.stopped(leader);
        }
    }
}
