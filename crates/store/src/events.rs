//! What happened, numbered without gaps in the order in which it was written, so that whoever was
//! away resumes where they were.

use std::time::{Duration, SystemTime};

use serde_json::Value;
use switchboard_model::{ServerKey, UserId};

use crate::db::{Row, sql};
use crate::error::{Error, Result};
use crate::key::{parse_key, write_key};
use crate::store::Store;
use crate::topics::{self, Topic};
use crate::users;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// What kind, such as `server.state`.
    pub kind: String,
    /// Whom it concerns; nobody in particular is everybody.
    pub user: Option<UserId>,
    /// Which server it concerns.
    pub server: Option<ServerKey>,
    /// The rest. Nothing secret.
    pub payload: Value,
}

/// Something that happened, with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its number.
    pub seq: i64,
    /// When.
    pub at: SystemTime,
    /// What.
    pub event: NewEvent,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub struct Events<'a>(pub(crate) &'a Store);

impl Events<'_> {
    /// Writes one down; its number.
    pub async fn append(self, event: &NewEvent) -> Result<i64> {
        let mut tx = self.0.db().begin().await?;
        // Writers take turns, so that no number is seen before a smaller one.
        let seq = topics::count(&mut tx, Topic::Events).await?;
        let query = sql("INSERT INTO events (seq, at, kind, user_id, server, payload)
             VALUES ($1, $2, $3, $4, $5, $6)");
        let query = query.bind(seq).bind(self.0.now()).bind(&event.kind);
        let query = query.bind(event.user.as_ref().map(UserId::as_str));
        let query = query.bind(event.server.as_ref().map(write_key));
        query.bind(event.payload.to_string()).run(&mut tx).await?;
        tx.commit().await?;
        self.0.topics().saw(Topic::Events, seq);
        Ok(seq)
    }

    /// Those after a number, the oldest first, at most so many.
    pub async fn after(self, seq: i64, limit: u32) -> Result<Vec<StoredEvent>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT * FROM events WHERE seq > $1 ORDER BY seq LIMIT $2");
        query.bind(seq).bind(limit).all(&mut tx).await?.iter().map(read).collect()
    }

    /// The number of the last one, and of the oldest that is still there.
    pub async fn range(self) -> Result<(i64, i64)> {
        let mut tx = self.0.db().read().await?;
        let query =
            sql("SELECT value, COALESCE((SELECT MIN(seq) FROM events), value + 1) AS oldest
             FROM counters WHERE name = 'events'");
        let row = query.one(&mut tx).await?;
        Ok((row.int("oldest")?, row.int("value")?))
    }

    /// Forgets what is older.
    pub async fn prune(self, older_than: Duration) -> Result<u64> {
        let limit = self.0.now().checked_sub(older_than).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut tx = self.0.db().begin().await?;
        let gone = sql("DELETE FROM events WHERE at < $1").bind(limit).run(&mut tx).await?;
        tx.commit().await?;
        Ok(gone)
    }
}

fn read(row: &Row) -> Result<StoredEvent> {
    let (user, server): (Option<String>, Option<String>) =
        (row.get("user_id")?, row.get("server")?);
    let payload = serde_json::from_str(&row.text("payload")?);
    Ok(StoredEvent {
        seq: row.int("seq")?,
        at: row.time("at")?,
        event: NewEvent {
            kind: row.text("kind")?,
            user: user.map(|user| users::id(&user)).transpose()?,
            server: server.map(|server| parse_key(&server)).transpose()?,
            payload: payload.map_err(|e| Error::malformed("event", e))?,
        },
    })
}
