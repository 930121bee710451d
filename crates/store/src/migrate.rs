//! Brings the schema up to date, one instance at a time. Never goes back: a store that a newer
//! version made is refused.

use sha2::{Digest, Sha256};

use crate::db::{Engine, Tx, sql};
use crate::error::{Error, Result};

struct Step {
    version: i64,
    sqlite: &'static str,
    postgres: &'static str,
}

/// Every step, in order. A step that was released is never edited; its hash is kept and compared.
const STEPS: &[Step] = &[
    Step {
        version: 1,
        sqlite: include_str!("../migrations/sqlite/0001-begin.sql"),
        postgres: include_str!("../migrations/postgres/0001-begin.sql"),
    },
    Step {
        version: 2,
        sqlite: include_str!("../migrations/sqlite/0002-audit-indexes.sql"),
        postgres: include_str!("../migrations/postgres/0002-audit-indexes.sql"),
    },
    Step {
        version: 3,
        sqlite: include_str!("../migrations/sqlite/0003-audit-in-blocks.sql"),
        postgres: include_str!("../migrations/postgres/0003-audit-in-blocks.sql"),
    },
    Step {
        version: 4,
        sqlite: include_str!("../migrations/sqlite/0004-whose-answers.sql"),
        postgres: include_str!("../migrations/postgres/0004-whose-answers.sql"),
    },
    Step {
        version: 5,
        sqlite: include_str!("../migrations/sqlite/0005-credentials-stay.sql"),
        postgres: include_str!("../migrations/postgres/0005-credentials-stay.sql"),
    },
];

/// Any number that no other program is likely to lock.
const LOCK: i64 = 0x5377_6974_6368_6264;

/// Takes the lock that every start takes; it is held until the transaction ends. SQLite's is the
/// transaction itself.
pub(crate) async fn lock(tx: &mut Tx) -> Result<()> {
    if tx.engine() == Engine::Postgres {
        sql("SELECT pg_advisory_xact_lock($1)").bind(LOCK).run(tx).await?;
    }
    Ok(())
}

/// Runs the steps that are missing.
pub(crate) async fn run(tx: &mut Tx) -> Result<()> {
    begin(tx).await?;
    let rows = sql("SELECT version, hash FROM schema_steps ORDER BY version").all(tx).await?;
    for row in &rows {
        let version = row.int("version")?;
        let Some(step) = STEPS.iter().find(|step| step.version == version) else {
            let known = STEPS.last().map_or(0, |step| step.version);
            return Err(Error::TooNew { found: version, known });
        };
        if row.hash("hash")? != digest(step.text(tx.engine())) {
            return Err(Error::OtherSchema { version });
        }
    }
    for step in &STEPS[rows.len()..] {
        let text = step.text(tx.engine());
        tx.script(text).await?;
        let query = sql("INSERT INTO schema_steps (version, hash) VALUES ($1, $2)");
        query.bind(step.version).bind(&digest(text)).run(tx).await?;
    }
    Ok(())
}

/// The table of the steps. PostgreSQL is asked whether it is there: it would remark at each start that it
/// is.
async fn begin(tx: &mut Tx) -> Result<()> {
    let hash = match tx.engine() {
        Engine::Sqlite => "BLOB",
        Engine::Postgres => {
            let there = sql("SELECT to_regclass('schema_steps') IS NOT NULL AS there");
            if there.one(tx).await?.get("there")? {
                return Ok(());
            }
            "BYTEA"
        }
    };
    let made = crate::db::made(format!(
        "CREATE TABLE IF NOT EXISTS schema_steps (version BIGINT PRIMARY KEY, hash {hash} NOT NULL)"
    ));
    made.run(tx).await.map(drop)
}

impl Step {
    fn text(&self, engine: Engine) -> &'static str {
        match engine {
            Engine::Sqlite => self.sqlite,
            Engine::Postgres => self.postgres,
        }
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}
