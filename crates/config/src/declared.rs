//! What one file declares, after its dialect was read and before it meets the other files.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use switchboard_model::{
    AgentId, AgentSpec, AuditArguments, MasterKeyPlace, Names, Place, Rule, SecretTemplate,
    ServerKey, ServerName, ServerSpec, StoreSpec,
};

use crate::internal::Internal;

/// What one file declares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    /// The servers, in the order of the file.
    pub servers: Vec<DeclaredServer>,
    /// Servers whose entry is there but not valid: what ran of them goes on running.
    pub broken: BTreeSet<ServerKey>,
    /// What agents that name none have.
    pub defaults: Defaults,
    /// The agents.
    pub agents: BTreeMap<AgentId, (AgentSpec, Place)>,
    /// Agents whose entry is not valid.
    pub broken_agents: BTreeSet<AgentId>,
    /// The rules, first match first.
    pub policy: Vec<Rule>,
    /// Whether a rule could not be read, so that another stands in its place.
    pub broken_policy: bool,
    /// The hub's address.
    pub listen: Option<(SocketAddr, Place)>,
    /// The hub's store.
    pub store: Option<(StoreSpec, Place)>,
    /// Where the hub's master key is.
    pub master_key: Option<(MasterKeyPlace, Place)>,
    /// How tools are named at the MCP endpoint.
    pub mcp_names: Option<(Names, Place)>,
    /// How tools are named towards models.
    pub model_names: Option<(Names, Place)>,
    /// The collector of spans.
    pub traces: Option<(SecretTemplate, Place)>,
    /// What is written down of calls' arguments.
    pub audit_arguments: Option<(AuditArguments, Place)>,
    /// Where internal servers are looked for, if anywhere.
    pub internal: Option<(Internal, Place)>,
    /// Whether what it says of internal servers could not be read.
    pub broken_internal: bool,
    /// Where servers are called by name, to be looked up when all files are known.
    pub references: Vec<Reference>,
    index: BTreeMap<ServerKey, Place>,
}

impl Declared {
    /// Keeps a server, unless there is one of the same identity; says where that one is.
    pub(crate) fn add(&mut self, server: DeclaredServer) -> Result<(), Place> {
        match self.index.entry(server.key.clone()) {
            Entry::Occupied(first) => Err(first.get().clone()),
            Entry::Vacant(free) => {
                free.insert(server.place.clone());
                self.servers.push(server);
                Ok(())
            }
        }
    }
}

/// One server of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredServer {
    /// Whose it is and what it is called.
    pub key: ServerKey,
    /// What it is.
    pub spec: Arc<ServerSpec>,
    /// Where it is written.
    pub place: Place,
}

/// What a file says of agents that name no servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Defaults {
    /// Nothing: they have all of this file's servers.
    #[default]
    All,
    /// These, beside what other files give.
    These(BTreeSet<ServerName>),
    /// These and no others, whatever other files say.
    Only(BTreeSet<ServerName>),
}

/// A server called by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The name.
    pub name: ServerName,
    /// Where.
    pub place: Place,
    /// What happens when only the catalog knows it.
    pub from_catalog: FromCatalog,
}

/// What becomes of a name that only the catalog knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromCatalog {
    /// The catalog's entry is taken; a missing variable is waited for.
    Take,
    /// The catalog's entry is taken; a missing variable leaves it out (AICIB's rule).
    TakeOrSkip,
    /// It is known, and that is all: whoever names it starts nothing.
    Leave,
}
