//! The rules of the policy that the store has, in their order. Never decides a call.

use std::time::SystemTime;

use serde_json::json;
use switchboard_model::{CallOrigin, Decision, Pattern, Rule};

use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Row, Sql, sql};
use crate::error::{Error, Result};
use crate::random;
use crate::store::Store;
use crate::topics::Topic;

/// A rule with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRule {
    /// Its id.
    pub id: String,
    /// The smaller, the earlier it is asked.
    pub position: i64,
    /// The rule.
    pub rule: Rule,
    /// Who wrote it.
    pub created_by: String,
    /// When.
    pub created_at: SystemTime,
}

/// Rules.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a>(pub(crate) &'a Store);

impl Rules<'_> {
    /// Every rule, the first to be asked first.
    pub async fn list(self) -> Result<Vec<StoredRule>> {
        let mut tx = self.0.db().read().await?;
        let rows =
            sql("SELECT * FROM rules ORDER BY position, created_at, id").all(&mut tx).await?;
        rows.iter().map(read).collect()
    }

    /// Adds a rule behind the last.
    pub async fn add(self, rule: &Rule, by: &Actor) -> Result<String> {
        let id = random::id("rul_")?;
        let mut change = Change::begin(self.0).await?;
        let query =
            sql("INSERT INTO rules (id, agent, user_id, server, tool, read_only, destructive,
             origin, action, created_at, created_by, position)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
             (SELECT COALESCE(MAX(position), 0) + 1 FROM rules))");
        let query = bind(query.bind(&id), rule).bind(self.0.now()).bind(by.name());
        query.run(&mut change.tx).await?;
        change.act(by, "rule.add", To::Named(&id), shown(rule)).touch(Topic::Rules);
        change.commit().await?;
        Ok(id)
    }

    /// Writes a rule anew, in its place.
    pub async fn update(self, id: &str, rule: &Rule, by: &Actor) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("UPDATE rules SET agent = $2, user_id = $3, server = $4, tool = $5,
             read_only = $6, destructive = $7, origin = $8, action = $9 WHERE id = $1");
        found(bind(query.bind(id), rule).run(&mut change.tx).await?, id)?;
        change.act(by, "rule.update", To::Named(id), shown(rule)).touch(Topic::Rules);
        change.commit().await
    }

    /// Puts the rules in this order; those that are not named stay behind these.
    pub async fn reorder(self, ids: &[String], by: &Actor) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        let moved = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        let query = sql("UPDATE rules SET position = position + $1");
        query.bind(moved).run(&mut change.tx).await?;
        for (position, id) in (1..).zip(ids) {
            let query = sql("UPDATE rules SET position = $2 WHERE id = $1");
            found(query.bind(id).bind(i64::from(position)).run(&mut change.tx).await?, id)?;
        }
        change.act(by, "rule.reorder", To::Named("rules"), json!({"order": ids}));
        change.touch(Topic::Rules);
        change.commit().await
    }

    /// Deletes a rule.
    pub async fn remove(self, id: &str, by: &Actor) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        found(sql("DELETE FROM rules WHERE id = $1").bind(id).run(&mut change.tx).await?, id)?;
        change.act(by, "rule.remove", To::Named(id), json!({})).touch(Topic::Rules);
        change.commit().await
    }
}

fn bind(query: Sql, rule: &Rule) -> Sql {
    let glob = |pattern: &Option<Pattern>| pattern.as_ref().map(|p| p.as_str().to_owned());
    let query = query.bind(glob(&rule.agent)).bind(glob(&rule.user)).bind(glob(&rule.server));
    let query = query.bind(glob(&rule.tool)).bind(rule.read_only).bind(rule.destructive);
    query.bind(rule.origin.map(CallOrigin::as_str)).bind(rule.action.as_str())
}

fn shown(rule: &Rule) -> serde_json::Value {
    let glob = |pattern: &Option<Pattern>| pattern.as_ref().map(|p| p.as_str().to_owned());
    json!({
        "action": rule.action.as_str(),
        "for": {"agent": glob(&rule.agent), "user": glob(&rule.user),
                "server": glob(&rule.server), "tool": glob(&rule.tool)},
    })
}

fn read(row: &Row) -> Result<StoredRule> {
    let glob = |column| {
        let text: Option<String> = row.get(column)?;
        let parse = |text: String| Pattern::parse(&text).map_err(|e| Error::malformed("rule", e));
        text.map(parse).transpose()
    };
    let flag = |column| Ok::<_, Error>(row.get::<Option<i64>>(column)?.map(|flag| flag != 0));
    let origin = row.get::<Option<String>>("origin")?;
    let origin = origin.map(|word| {
        let found = CallOrigin::ALL.into_iter().find(|origin| origin.as_str() == word);
        found.ok_or_else(|| Error::malformed("rule", format!("origin `{word}`")))
    });
    let action = |word: &str| Decision::ALL.into_iter().find(|action| action.as_str() == word);
    Ok(StoredRule {
        id: row.text("id")?,
        position: row.int("position")?,
        rule: Rule {
            agent: glob("agent")?,
            user: glob("user_id")?,
            server: glob("server")?,
            tool: glob("tool")?,
            read_only: flag("read_only")?,
            destructive: flag("destructive")?,
            origin: origin.transpose()?,
            action: row.word("action", action)?,
        },
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
    })
}

fn found(touched: u64, id: &str) -> Result<()> {
    match touched {
        0 => Err(Error::NotFound { what: "rule", id: id.to_owned() }),
        _ => Ok(()),
    }
}
