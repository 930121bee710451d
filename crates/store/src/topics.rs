//! Tells who listens that something changed, in this process and in the other instances: a counter
//! for each topic, kept with the change itself. Never says what changed.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgListener, PgPool};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::db::{Db, Engine, Tx, sql};
use crate::error::Result;

/// What can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Approvals were asked for or answered.
    Approvals,
    /// Definitions of tools.
    Definitions,
    /// Something happened.
    Events,
    /// Users, agents and tokens.
    People,
    /// Rules.
    Rules,
    /// Servers and their credentials.
    Servers,
    /// Settings.
    Settings,
}

/// PostgreSQL's channel.
const CHANNEL: &str = "switchboard";
/// How long another instance's change can go unnoticed where nothing announces it.
const POLL: Duration = Duration::from_secs(1);

impl Topic {
    const ALL: [Self; 7] = [
        Self::Approvals,
        Self::Definitions,
        Self::Events,
        Self::People,
        Self::Rules,
        Self::Servers,
        Self::Settings,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Approvals => "approvals",
            Self::Definitions => "definitions",
            Self::Events => "events",
            Self::People => "people",
            Self::Rules => "rules",
            Self::Servers => "servers",
            Self::Settings => "settings",
        }
    }
}

/// The last known counter of each topic.
#[derive(Clone, Debug)]
pub(crate) struct Topics(Arc<[watch::Sender<i64>; 7]>);

impl Topics {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Topic::ALL.map(|_| watch::Sender::new(0))))
    }

    pub(crate) fn watch(&self, topic: Topic) -> watch::Receiver<i64> {
        self.sender(topic).subscribe()
    }

    /// A counter was seen; only a greater one is news.
    pub(crate) fn saw(&self, topic: Topic, counter: i64) {
        self.sender(topic).send_if_modified(|known| {
            let news = counter > *known;
            *known = counter.max(*known);
            news
        });
    }

    /// Reads every counter.
    pub(crate) async fn refresh(&self, db: &Db) -> Result<()> {
        let mut tx = db.read().await?;
        for row in sql("SELECT name, value FROM counters").all(&mut tx).await? {
            let name = row.text("name")?;
            if let Some(topic) = Topic::ALL.into_iter().find(|topic| topic.as_str() == name) {
                self.saw(topic, row.int("value")?);
            }
        }
        Ok(())
    }

    /// Keeps the counters fresh until the end: announced by PostgreSQL, and looked up now and then
    /// in case an announcement was missed, or another process writes to the same file.
    pub(crate) async fn follow(self, db: Db, end: CancellationToken) {
        let mut listener = None;
        loop {
            if let Db::Postgres(pool) = &db
                && listener.is_none()
            {
                listener = listen(pool).await.ok();
            }
            let announced = async {
                match &mut listener {
                    Some(listener) => listener.recv().await.map(drop),
                    None => std::future::pending().await,
                }
            };
            let lost = tokio::select! {
                () = end.cancelled() => return,
                () = tokio::time::sleep(POLL) => false,
                announced = announced => announced.is_err(),
            };
            if lost {
                listener = None;
            }
            if let Err(error) = self.refresh(&db).await {
                tracing::debug!(%error, "the counters of changes could not be read");
            }
        }
    }

    fn sender(&self, topic: Topic) -> &watch::Sender<i64> {
        &self.0[topic as usize]
    }
}

/// Counts a change in the transaction that makes it. Writers of one topic take turns.
pub(crate) async fn count(tx: &mut Tx, topic: Topic) -> Result<i64> {
    let query = sql("UPDATE counters SET value = value + 1 WHERE name = $1 RETURNING value");
    let counter = query.bind(topic.as_str()).one(tx).await?.int("value")?;
    if tx.engine() == Engine::Postgres {
        let announce = sql("SELECT pg_notify($1, $2)");
        announce.bind(CHANNEL).bind(topic.as_str()).run(tx).await?;
    }
    Ok(counter)
}

async fn listen(pool: &PgPool) -> std::result::Result<PgListener, sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}
