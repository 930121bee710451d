//! One way to run one text of SQL on either engine. Knows no table.
//!
//! Queries are written once, with `$1` placeholders, which SQLite takes too, over columns that are
//! integers, texts and bytes alone.

mod many;
mod open;
mod value;

use sqlx::postgres::{PgPool, PgRow};
use sqlx::sqlite::{SqlitePool, SqliteRow};
use sqlx::{AssertSqlSafe, Executor, Postgres, Sqlite, Transaction};

pub(crate) use many::Many;
pub use open::Address;
pub(crate) use open::make_directory;
pub(crate) use value::{Row, Value, from_millis, micros, millis};

use crate::error::Result;

/// Which database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Embedded.
    Sqlite,
    /// A server that several instances share.
    Postgres,
}

/// The connections.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    /// SQLite lets one write at a time: that one has a connection of its own, so that nobody waits
    /// for a lock while holding another.
    Sqlite {
        writer: SqlitePool,
        readers: SqlitePool,
    },
    Postgres(PgPool),
}

/// A transaction. Dropped without `commit`, it is rolled back.
pub(crate) enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// One text of SQL with its values.
pub(crate) struct Sql {
    text: Text,
    values: Vec<Value>,
}

enum Text {
    Fixed(&'static str),
    Made(String),
}

/// A query that is written out.
pub(crate) fn sql(text: &'static str) -> Sql {
    Sql { text: Text::Fixed(text), values: Vec::new() }
}

/// A query put together from fixed pieces; values never become part of the text.
pub(crate) fn made(text: String) -> Sql {
    Sql { text: Text::Made(text), values: Vec::new() }
}

impl Db {
    pub(crate) fn engine(&self) -> Engine {
        match self {
            Self::Sqlite { .. } => Engine::Sqlite,
            Self::Postgres(_) => Engine::Postgres,
        }
    }

    /// A transaction that may write.
    pub(crate) async fn begin(&self) -> Result<Tx> {
        Ok(match self {
            // A lock taken later could be refused in the middle: SQLite takes it first.
            Self::Sqlite { writer, .. } => Tx::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?),
            Self::Postgres(pool) => Tx::Postgres(pool.begin().await?),
        })
    }

    /// A transaction that sees one state of everything and writes nothing.
    pub(crate) async fn read(&self) -> Result<Tx> {
        const STILL: &str = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";
        match self {
            Self::Sqlite { readers, .. } => Ok(Tx::Sqlite(readers.begin().await?)),
            Self::Postgres(pool) => {
                // Not with its `BEGIN`: whoever is given up during that leaves the connection in the transaction, and
                // the next one to write would find that it may only read.
                let mut tx = Tx::Postgres(pool.begin().await?);
                tx.script(STILL).await?;
                Ok(tx)
            }
        }
    }

    /// Waits until every connection is closed.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

impl Tx {
    pub(crate) async fn commit(self) -> Result<()> {
        match self {
            Self::Sqlite(tx) => tx.commit().await?,
            Self::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }

    /// Several statements in one text, without values: a step of the schema.
    pub(crate) async fn script(&mut self, text: &'static str) -> Result<()> {
        match self {
            Self::Sqlite(tx) => (**tx).execute(sqlx::raw_sql(text)).await.map(drop)?,
            Self::Postgres(tx) => (**tx).execute(sqlx::raw_sql(text)).await.map(drop)?,
        }
        Ok(())
    }

    /// Which database it is.
    pub(crate) fn engine(&self) -> Engine {
        match self {
            Self::Sqlite(_) => Engine::Sqlite,
            Self::Postgres(_) => Engine::Postgres,
        }
    }
}

/// Binds every value and hands the query to `$run`, on whichever engine it is.
macro_rules! on_engine {
    ($sql:expr, $on:expr, $query:ident, $connection:ident => $run:expr) => {{
        let Sql { text, values } = $sql;
        match $on {
            Tx::Sqlite(tx) => {
                let mut $query = match text {
                    Text::Fixed(text) => sqlx::query::<Sqlite>(text),
                    Text::Made(text) => {
                        sqlx::query::<Sqlite>(AssertSqlSafe(text)).persistent(false)
                    }
                };
                for value in values {
                    $query = match value {
                        Value::Int(value) => $query.bind(value),
                        Value::Text(value) => $query.bind(value),
                        Value::Blob(value) => $query.bind(value),
                    };
                }
                let $connection = &mut **tx;
                $run
            }
            Tx::Postgres(tx) => {
                let mut $query = match text {
                    Text::Fixed(text) => sqlx::query::<Postgres>(text),
                    Text::Made(text) => {
                        sqlx::query::<Postgres>(AssertSqlSafe(text)).persistent(false)
                    }
                };
                for value in values {
                    $query = match value {
                        Value::Int(value) => $query.bind(value),
                        Value::Text(value) => $query.bind(value),
                        Value::Blob(value) => $query.bind(value),
                    };
                }
                let $connection = &mut **tx;
                $run
            }
        }
    }};
}

/// What counts rows that a statement touched.
trait Touched {
    fn touched(&self) -> u64;
}

impl Touched for sqlx::sqlite::SqliteQueryResult {
    fn touched(&self) -> u64 {
        self.rows_affected()
    }
}

impl Touched for sqlx::postgres::PgQueryResult {
    fn touched(&self) -> u64 {
        self.rows_affected()
    }
}

impl Sql {
    /// The next value.
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Runs it; how many rows it touched.
    pub(crate) async fn run(self, tx: &mut Tx) -> Result<u64> {
        on_engine!(self, tx, query, connection => Ok(query.execute(connection).await?.touched()))
    }

    /// All rows.
    pub(crate) async fn all(self, tx: &mut Tx) -> Result<Vec<Row>> {
        on_engine!(self, tx, query, connection => {
            Ok(query.fetch_all(connection).await?.into_iter().map(Row::from).collect())
        })
    }

    /// The row, if there is one.
    pub(crate) async fn optional(self, tx: &mut Tx) -> Result<Option<Row>> {
        on_engine!(self, tx, query, connection => {
            Ok(query.fetch_optional(connection).await?.map(Row::from))
        })
    }

    /// The one row.
    pub(crate) async fn one(self, tx: &mut Tx) -> Result<Row> {
        self.optional(tx).await?.ok_or(crate::Error::Database(sqlx::Error::RowNotFound))
    }
}

impl From<SqliteRow> for Row {
    fn from(row: SqliteRow) -> Self {
        Self::Sqlite(row)
    }
}

impl From<PgRow> for Row {
    fn from(row: PgRow) -> Self {
        Self::Postgres(row)
    }
}
