//! Definitions of tools, pinned by hash with their history: what a person reviewed, and what a
//! server says now. Hashing and deciding are not done here.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde_json::json;
use switchboard_model::ServerKey;

use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Row, sql};
use crate::error::{Error, Result};
use crate::key::write_key;
use crate::store::Store;
use crate::topics::Topic;

/// A definition as a server gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The server's own name of the tool.
    pub tool: String,
    /// Of the canonical definition.
    pub hash: [u8; 32],
    /// The canonical definition.
    pub definition: String,
}

/// A definition that was seen at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// As the server gave it.
    pub observed: Observed,
    /// Whether the server gives it now.
    pub seen: Seen,
    /// When it first did.
    pub first_seen: SystemTime,
    /// When it last did.
    pub last_seen: SystemTime,
    /// Who reviewed it, and when.
    pub reviewed: Option<(String, SystemTime)>,
}

/// Whether a server gives a definition now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// In its last catalog.
    Now,
    /// Only before.
    Before,
}

/// What a catalog says that was not said before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A tool that was never seen.
    New {
        /// Its name.
        tool: String,
    },
    /// A tool with another definition, or one that was gone and is back.
    Changed {
        /// Its name.
        tool: String,
        /// What it was when it was last offered.
        before: Option<[u8; 32]>,
        /// What it is.
        now: [u8; 32],
    },
    /// A tool that is no longer there.
    Gone {
        /// Its name.
        tool: String,
    },
}

/// Definitions of tools.
#[derive(Clone, Copy, Debug)]
pub struct Definitions<'a>(pub(crate) &'a Store);

impl Definitions<'_> {
    /// A server's whole catalog as it is now. What differs is returned, and is not reviewed: a tool
    /// that was gone and is back must be reviewed again, even as it was.
    pub async fn observe(self, server: &ServerKey, now: &[Observed]) -> Result<Vec<Observation>> {
        let (text, at) = (write_key(server), self.0.now());
        let mut change = Change::begin(self.0).await?;
        let tx = &mut change.tx;
        let query = sql("SELECT tool, hash, offered FROM tool_definitions WHERE server = $1");
        let (mut known, mut offered) = (BTreeSet::new(), BTreeMap::new());
        for row in query.bind(&text).all(tx).await? {
            let tool = row.text("tool")?;
            if row.flag("offered")? {
                offered.insert(tool.clone(), row.hash("hash")?);
            }
            known.insert(tool);
        }
        let mut seen = Vec::new();
        for one in now {
            let before = offered.remove(&one.tool);
            if before == Some(one.hash) {
                continue;
            }
            let query =
                sql("UPDATE tool_definitions SET offered = 0 WHERE server = $1 AND tool = $2");
            query.bind(&text).bind(&one.tool).run(tx).await?;
            let query = sql("INSERT INTO tool_definitions
                 (server, tool, hash, definition, offered, first_seen, last_seen)
                 VALUES ($1, $2, $3, $4, 1, $5, $5) ON CONFLICT (server, tool, hash) DO UPDATE
                 SET offered = 1, last_seen = excluded.last_seen, reviewed_at = NULL, reviewed_by = NULL");
            let query = query.bind(&text).bind(&one.tool).bind(&one.hash);
            query.bind(&one.definition).bind(at).run(tx).await?;
            let tool = one.tool.clone();
            seen.push(match known.contains(&tool) {
                true => Observation::Changed { tool, before, now: one.hash },
                false => Observation::New { tool },
            });
        }
        for tool in offered.into_keys() {
            let query = sql("UPDATE tool_definitions SET offered = 0, last_seen = $3
                 WHERE server = $1 AND tool = $2 AND offered = 1");
            query.bind(&text).bind(&tool).bind(at).run(tx).await?;
            seen.push(Observation::Gone { tool });
        }
        if !seen.is_empty() {
            change.touch(Topic::Definitions);
            let detail = json!({"differences": seen.len()});
            change.act(&Actor::system(), "definition.change", To::Server(server), detail);
        }
        change.commit().await?;
        Ok(seen)
    }

    /// A person saw this very definition and takes it as it is.
    pub async fn review(
        self,
        server: &ServerKey,
        tool: &str,
        hash: &[u8; 32],
        by: &Actor,
    ) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("UPDATE tool_definitions SET reviewed_at = $4, reviewed_by = $5
             WHERE server = $1 AND tool = $2 AND hash = $3 AND offered = 1");
        let query = query.bind(write_key(server)).bind(tool).bind(hash).bind(self.0.now());
        if query.bind(by.name()).run(&mut change.tx).await? == 0 {
            return Err(Error::Stale { what: "definition", id: format!("{server}/{tool}") });
        }
        change.act(by, "definition.review", To::Server(server), json!({"tool": tool}));
        change.touch(Topic::Definitions);
        change.commit().await
    }

    /// A person takes everything that the server offers now as it is, as when adding it.
    pub async fn review_all(self, server: &ServerKey, by: &Actor) -> Result<u64> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("UPDATE tool_definitions SET reviewed_at = $2, reviewed_by = $3
             WHERE server = $1 AND offered = 1 AND reviewed_at IS NULL");
        let query = query.bind(write_key(server)).bind(self.0.now()).bind(by.name());
        let touched = query.run(&mut change.tx).await?;
        change.act(by, "definition.review", To::Server(server), json!({"tools": touched}));
        change.touch(Topic::Definitions);
        change.commit().await?;
        Ok(touched)
    }

    /// What the server offers now.
    pub async fn offered(self, server: &ServerKey) -> Result<Vec<Definition>> {
        let mut tx = self.0.db().read().await?;
        let query =
            sql("SELECT * FROM tool_definitions WHERE server = $1 AND offered = 1 ORDER BY tool");
        query.bind(write_key(server)).all(&mut tx).await?.iter().map(read).collect()
    }

    /// Everything a tool has ever been, the newest first.
    pub async fn history(self, server: &ServerKey, tool: &str) -> Result<Vec<Definition>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT * FROM tool_definitions WHERE server = $1 AND tool = $2
             ORDER BY offered DESC, last_seen DESC, first_seen DESC");
        query.bind(write_key(server)).bind(tool).all(&mut tx).await?.iter().map(read).collect()
    }
}

fn read(row: &Row) -> Result<Definition> {
    let by: Option<String> = row.get("reviewed_by")?;
    Ok(Definition {
        observed: Observed {
            tool: row.text("tool")?,
            hash: row.hash("hash")?,
            definition: row.text("definition")?,
        },
        seen: if row.flag("offered")? { Seen::Now } else { Seen::Before },
        first_seen: row.time("first_seen")?,
        last_seen: row.time("last_seen")?,
        reviewed: by.zip(row.time_if("reviewed_at")?),
    })
}
