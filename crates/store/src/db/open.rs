//! Opens the connections of either engine. Never looks into a table.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use switchboard_model::Secret;

use super::Db;
use crate::error::{Error, Result};

/// Long enough for a checkpoint on a slow disk, short enough to be an answer.
const BUSY: Duration = Duration::from_secs(10);
const READERS: u32 = 4;
const CONNECTIONS: u32 = 10;

impl Db {
    /// The embedded database, made if there is none, for this user alone.
    pub(crate) async fn sqlite(path: &Path) -> Result<Self> {
        let prepared = path.to_owned();
        let file = |source: io::Error| Error::File { path: path.to_owned(), source };
        let prepare = tokio::task::spawn_blocking(move || prepare(&prepared));
        let prepared = prepare.await.map_err(io::Error::other).and_then(|done| done);
        let prepared = prepared.map_err(file)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(false)
            .journal_mode(SqliteJournalMode::Wal)
            // What is acknowledged is on the disk: WAL with NORMAL would lose the last commits
            // when the power fails. Records come in batches, so a sync each is little.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY)
            // What is deleted is overwritten; a secret is sealed anyway, a name is not.
            .pragma("secure_delete", "FAST");
        let pool = SqlitePoolOptions::new().acquire_timeout(BUSY);
        let first = match prepared {
            // Only now can it be said that what becomes free is given back; to say it later would lock the file.
            Prepared::Empty => options.clone().auto_vacuum(SqliteAutoVacuum::Incremental),
            Prepared::There => options.clone(),
        };
        let writer = pool.clone().max_connections(1).connect_with(first).await?;
        let readers =
            pool.max_connections(READERS).connect_with(options.pragma("query_only", "ON"));
        Ok(Self::Sqlite { writer, readers: readers.await? })
    }

    /// The shared database.
    pub(crate) async fn postgres(url: &Secret) -> Result<Self> {
        let options: PgConnectOptions = url.expose().parse().map_err(Error::Address)?;
        let options = options.application_name("switchboard");
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(BUSY);
        Ok(Self::Postgres(pool.connect_with(options).await?))
    }
}

/// The directory and the file, readable by their owner alone. SQLite gives its WAL the mode of the
/// database.
fn prepare(path: &Path) -> io::Result<Prepared> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(directory) = directory {
        make_directory(directory)?;
    }
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let file = options.mode(0o600).open(path)?;
        let mut permissions = file.metadata()?.permissions();
        if permissions.mode() & 0o077 != 0 {
            permissions.set_mode(0o600);
            file.set_permissions(permissions)?;
        }
    }
    #[cfg(not(unix))]
    options.open(path)?;
    Ok(if fs::metadata(path)?.len() == 0 { Prepared::Empty } else { Prepared::There })
}

/// What there is to open.
enum Prepared {
    /// A file without a database in it.
    Empty,
    /// A database.
    There,
}

/// Only what is missing is made: a directory that is there is its owner's business.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Where the database is.
#[derive(Clone, Debug)]
pub enum Address {
    /// A file.
    Sqlite(PathBuf),
    /// A `postgres://` URL, which often carries a password.
    Postgres(Secret),
}

impl Address {
    /// A `postgres://` URL, or else the path of a file.
    pub fn parse(text: &Secret) -> Self {
        let url = ["postgres://", "postgresql://"].iter().any(|s| text.expose().starts_with(s));
        if url { Self::Postgres(text.clone()) } else { Self::Sqlite(text.expose().into()) }
    }
}
