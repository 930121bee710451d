//! What goes into a query and what comes out: integers, texts and bytes, each possibly missing.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Decode, Postgres, Row as _, Sqlite, Type};

use crate::error::{Error, Result};

/// A value on its way into a query. A missing one still has its type, which PostgreSQL wants.
pub(crate) enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    Blob(Option<Vec<u8>>),
}

macro_rules! from {
    ($($type:ty => |$value:ident| $made:expr;)*) => {$(
        impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $made
            }
        }
    )*};
}

from! {
    i64 => |value| Self::Int(Some(value));
    u32 => |value| Self::Int(Some(value.into()));
    Option<i64> => |value| Self::Int(value);
    bool => |value| Self::Int(Some(value.into()));
    Option<bool> => |value| Self::Int(value.map(i64::from));
    &str => |value| Self::Text(Some(value.to_owned()));
    &String => |value| Self::Text(Some(value.clone()));
    String => |value| Self::Text(Some(value));
    Option<&str> => |value| Self::Text(value.map(str::to_owned));
    Option<String> => |value| Self::Text(value);
    &[u8] => |value| Self::Blob(Some(value.to_vec()));
    &[u8; 32] => |value| Self::Blob(Some(value.to_vec()));
    Vec<u8> => |value| Self::Blob(Some(value));
    Option<Vec<u8>> => |value| Self::Blob(value);
    SystemTime => |value| Self::Int(Some(millis(value)));
    Option<SystemTime> => |value| Self::Int(value.map(millis));
    Option<Duration> => |value| Self::Int(value.map(micros));
}

/// A row of either engine.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// The value of a column, by its name.
    pub(crate) fn get<'r, T>(&'r self, column: &'static str) -> Result<T>
    where
        T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>,
        &'static str: ColumnIndex<SqliteRow> + ColumnIndex<PgRow>,
    {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    pub(crate) fn int(&self, column: &'static str) -> Result<i64> {
        self.get(column)
    }

    pub(crate) fn count(&self, column: &'static str) -> Result<u64> {
        Ok(self.int(column)?.max(0).unsigned_abs())
    }

    pub(crate) fn text(&self, column: &'static str) -> Result<String> {
        self.get(column)
    }

    pub(crate) fn blob(&self, column: &'static str) -> Result<Vec<u8>> {
        self.get(column)
    }

    pub(crate) fn flag(&self, column: &'static str) -> Result<bool> {
        Ok(self.int(column)? != 0)
    }

    pub(crate) fn time(&self, column: &'static str) -> Result<SystemTime> {
        Ok(from_millis(self.int(column)?))
    }

    pub(crate) fn time_if(&self, column: &'static str) -> Result<Option<SystemTime>> {
        Ok(self.get::<Option<i64>>(column)?.map(from_millis))
    }

    /// Thirty-two bytes: a hash.
    pub(crate) fn hash(&self, column: &'static str) -> Result<[u8; 32]> {
        let bytes = self.blob(column)?;
        bytes.try_into().map_err(|_| Error::malformed("hash", "it has not 32 bytes"))
    }

    /// A text in the words of an enum.
    pub(crate) fn word<T>(&self, column: &'static str, read: fn(&str) -> Option<T>) -> Result<T> {
        let word = self.text(column)?;
        read(&word).ok_or_else(|| Error::malformed(column, format!("`{word}` is unknown")))
    }
}

/// A time as it is stored.
pub(crate) fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A stored time.
pub(crate) fn from_millis(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis.max(0).unsigned_abs())
}

/// A time that took so long, as it is stored.
pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
