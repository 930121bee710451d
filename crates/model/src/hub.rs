//! The hub's own settings.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::names::Names;
use crate::template::SecretTemplate;

/// Where the hub listens and keeps its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubSpec {
    /// The address of every HTTP surface.
    pub listen: SocketAddr,
    /// Where state is kept.
    pub store: StoreSpec,
    /// Where the key is kept that everything secret is sealed with.
    pub master_key: MasterKeyPlace,
    /// The collector that calls are told as spans, by its URL.
    pub traces: Option<SecretTemplate>,
    /// What is written down of calls' arguments, where a server does not say otherwise.
    pub audit_arguments: AuditArguments,
    /// How tools are named at the MCP endpoint, if not as usual.
    pub mcp_names: Option<Names>,
    /// How tools are named towards models in REST and the library, if not as usual.
    pub model_names: Option<Names>,
}

impl HubSpec {
    /// The port that agents are pointed at unless told otherwise.
    pub const DEFAULT_PORT: u16 = 8010;
}

impl Default for HubSpec {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, Self::DEFAULT_PORT)),
            store: StoreSpec::Sqlite { path: None },
            master_key: MasterKeyPlace::File,
            traces: None,
            audit_arguments: AuditArguments::Shape,
            mcp_names: None,
            model_names: None,
        }
    }
}

/// Which database, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreSpec {
    /// Embedded; without a path, in the platform's data directory.
    Sqlite {
        /// The database file.
        path: Option<PathBuf>,
    },
    /// A `postgres://` URL, which often carries a password.
    Postgres {
        /// The URL, variables unexpanded.
        url: SecretTemplate,
    },
}

/// Where the master key is kept, unless the environment holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MasterKeyPlace {
    /// A file of mode 0600 beside the database.
    #[default]
    File,
    /// The keyring of the operating system.
    Keyring,
}

/// What the audit log holds of a call's arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditArguments {
    /// Names and types.
    #[default]
    Shape,
    /// The values as well, redacted and cut.
    Values,
}

impl AuditArguments {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Shape, Self::Values];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Values => "values",
        }
    }
}
