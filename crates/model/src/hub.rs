//! The hub's own settings.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

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
