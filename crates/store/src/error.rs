//! Why the store could not do something: each names the thing, keeps its cause and says what to do.

use std::io;
use std::path::PathBuf;

/// What the methods of the store return.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the store could not do something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database refused, or cannot be reached.
    #[error("the database did not answer as it should")]
    Database(#[source] sqlx::Error),
    /// The address is neither a path nor a PostgreSQL URL. The address itself may hold a password.
    #[error("the address of the store cannot be read: use a path, or `postgres://…`")]
    Address(#[source] sqlx::Error),
    /// A directory or file of the store cannot be made, read or protected.
    #[error("`{}` cannot be used", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The database was written by a newer version of the program.
    #[error(
        "the store has schema {found}, this program knows up to {known}: run the newer version, or restore a backup"
    )]
    TooNew {
        /// What the database has.
        found: i64,
        /// What this program knows.
        known: i64,
    },
    /// A step that made this schema is not the one that this program has.
    #[error(
        "step {version} of the store's schema is not the one that this program knows: it was made by another build"
    )]
    OtherSchema {
        /// Which step.
        version: i64,
    },
    /// The master key is not where it should be, and the store was sealed with one.
    #[error(
        "the store is sealed, and its master key is not at {place}: restore it from a backup; without it the stored secrets cannot be opened"
    )]
    KeyLost {
        /// Where it was looked for.
        place: String,
    },
    /// The master key does not open the store.
    #[error(
        "the master key at {place} is not the one that sealed this store: bring back the right one"
    )]
    KeyWrong {
        /// Where it came from.
        place: String,
    },
    /// What was handed in as a master key is none.
    #[error(
        "the master key at {place} is not 32 bytes in base64 or hexadecimal: make one with `openssl rand -base64 32`"
    )]
    KeyMalformed {
        /// Where it came from.
        place: String,
    },
    /// Others can read the master key.
    #[error("`{}` can be read by others (mode {mode:o}): `chmod 600` it, and rotate the key if anybody may have seen it", path.display())]
    KeyExposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The operating system's keyring refused.
    #[error("the keyring of the operating system cannot be used: {0}")]
    Keyring(String),
    /// A sealed value does not open: it was changed, or moved from another row.
    #[error("the sealed value {owner}/{id}/{field} does not open: it was changed or moved")]
    Tampered {
        /// The table it belongs to.
        owner: String,
        /// The row.
        id: String,
        /// The column.
        field: String,
    },
    /// The operating system gave no random numbers.
    #[error("the operating system has no random numbers")]
    Random(#[source] getrandom::Error),
    /// A stored value is not what this program writes.
    #[error("the stored {what} cannot be read: {why}")]
    Malformed {
        /// Which value.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// There is no such thing.
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// What kind.
        what: &'static str,
        /// Which one.
        id: String,
    },
    /// There is one already.
    #[error("there is a {what} `{id}` already")]
    Exists {
        /// What kind.
        what: &'static str,
        /// Which one.
        id: String,
    },
    /// Somebody else changed it since it was read.
    #[error("the {what} `{id}` was changed since it was read: read it again")]
    Stale {
        /// What kind.
        what: &'static str,
        /// Which one.
        id: String,
    },
    /// What was given cannot be taken, in whatever state.
    #[error("{0}")]
    Invalid(&'static str),
    /// What was asked for cannot be done in this state.
    #[error("{0}")]
    Refused(&'static str),
    /// So much is asked for at once that this would take too long.
    #[error("too many passwords are being checked at once")]
    Busy,
}

impl Error {
    /// Whether the same may succeed later: the database is away, busy, or settled a deadlock.
    pub fn is_transient(&self) -> bool {
        let Self::Database(error) = self else { return false };
        match error {
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::Protocol(_)
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::BeginFailed => true,
            sqlx::Error::Database(error) => {
                // Connection, resources, operator intervention, serialisation and deadlock; and
                // SQLite's BUSY, LOCKED, IOERR, FULL and CANTOPEN.
                let code = error.code().unwrap_or_default();
                let sqlite = code.parse::<i32>().ok().map(|code| code & 0xff);
                ["08", "53", "57", "40"]
                    .iter()
                    .any(|class| code.len() == 5 && code.starts_with(class))
                    || (code.len() < 5 && matches!(sqlite, Some(5 | 6 | 10 | 13 | 14)))
            }
            _ => false,
        }
    }

    /// Whether the master key is what is missing: somebody changed it, or took it away, while the store was in
    /// use. The same succeeds as soon as the right one is back.
    pub fn is_of_the_key(&self) -> bool {
        matches!(
            self,
            Self::KeyLost { .. }
                | Self::KeyWrong { .. }
                | Self::KeyMalformed { .. }
                | Self::KeyExposed { .. }
                | Self::Keyring(_)
                | Self::File { .. }
        )
    }

    pub(crate) fn malformed(what: &'static str, why: impl ToString) -> Self {
        Self::Malformed { what, why: why.to_string() }
    }

    /// A unique key that is taken becomes `Exists`.
    pub(crate) fn or_exists(self, what: &'static str, id: &str) -> Self {
        match &self {
            Self::Database(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                Self::Exists { what, id: id.to_owned() }
            }
            _ => self,
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<getrandom::Error> for Error {
    fn from(error: getrandom::Error) -> Self {
        Self::Random(error)
    }
}
