//! Pages of the audit log, the newest first. Each filter is served by an index; a page costs the
//! same however long the log is.

use std::time::SystemTime;

use switchboard_model::{AgentId, CallOrigin, Decision, Outcome, ServerKey, UserId};

use super::{Audit, AuditRow, CALL};
use crate::db::{Sql, Value, made, millis};
use crate::error::Result;
use crate::key::write_key;

/// Which rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this action.
    pub action: Option<String>,
    /// Of this person.
    pub user: Option<UserId>,
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// Of this server.
    pub server: Option<ServerKey>,
    /// Of this tool.
    pub tool: Option<String>,
    /// Through this door.
    pub origin: Option<CallOrigin>,
    /// With this decision.
    pub decision: Option<Decision>,
    /// With this end.
    pub outcome: Option<Outcome>,
    /// Not before.
    pub since: Option<SystemTime>,
    /// Before.
    pub until: Option<SystemTime>,
}

/// Where a page begins: behind this row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    at: i64,
    seq: i64,
}

impl Cursor {
    /// As a text that can be sent around.
    pub fn encode(self) -> String {
        format!("{:x}.{:x}", self.at, self.seq)
    }

    /// The cursor that was sent around.
    pub fn parse(text: &str) -> Option<Self> {
        let (at, seq) = text.split_once('.')?;
        let number = |text| i64::from_str_radix(text, 16).ok();
        Some(Self { at: number(at)?, seq: number(seq)? })
    }
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its rows, the newest first.
    pub rows: Vec<AuditRow>,
    /// Where the next one begins, if there may be one.
    pub next: Option<Cursor>,
}

/// Values that nearly every row has. The indexes leave them out, and are found only by a query that says
/// in so many words that it does not want them.
const COMMON: [(&str, &str, &str); 3] = [
    ("action =", CALL, " AND action <> 'mcp_tool_call'"),
    ("decision =", "allow", " AND decision <> 'allow'"),
    ("outcome =", "done", " AND outcome <> 'done'"),
];

/// No page is longer.
const LONGEST: u32 = 1_000;

impl Audit<'_> {
    /// A page of the rows that match, the newest first.
    pub async fn page(self, filter: &Filter, after: Option<Cursor>, limit: u32) -> Result<Page> {
        let limit = limit.clamp(1, LONGEST);
        let mut tx = self.0.db().read().await?;
        let rows = query(filter, after, limit, "").all(&mut tx).await?;
        let rows = rows.iter().map(AuditRow::read).collect::<Result<Vec<_>>>()?;
        let full = rows.len() == usize::try_from(limit).unwrap_or(usize::MAX);
        let last = rows.last().filter(|_| full);
        let next = last.map(|row| Cursor { at: millis(row.entry.at), seq: row.seq });
        Ok(Page { rows, next })
    }

    /// How the database finds a page, in its own words: for tests and benchmarks.
    pub async fn explain(self, filter: &Filter, after: Option<Cursor>) -> Result<String> {
        let (explain, column) = match self.0.engine() {
            crate::Engine::Sqlite => ("EXPLAIN QUERY PLAN ", "detail"),
            crate::Engine::Postgres => ("EXPLAIN ", "QUERY PLAN"),
        };
        let mut tx = self.0.db().read().await?;
        let rows = query(filter, after, 50, explain).all(&mut tx).await?;
        let lines = rows.iter().map(|row| row.text(column)).collect::<Result<Vec<_>>>()?;
        Ok(lines.join("\n"))
    }
}

fn query(filter: &Filter, after: Option<Cursor>, limit: u32, before: &str) -> Sql {
    let (mut text, mut values) = (String::new(), Vec::new());
    let mut only = |condition: &str, value: Value, literal: &str| {
        values.push(value);
        let joined = if text.is_empty() { "WHERE" } else { "AND" };
        text.push_str(&format!(" {joined} {condition} ${}{literal}", values.len()));
    };
    let words = [
        ("action =", filter.action.clone()),
        ("user_id =", filter.user.as_ref().map(UserId::to_string)),
        ("agent =", filter.agent.as_ref().map(AgentId::to_string)),
        ("server =", filter.server.as_ref().map(write_key)),
        ("tool =", filter.tool.clone()),
        ("origin =", filter.origin.map(|origin| origin.as_str().to_owned())),
        ("decision =", filter.decision.map(|decision| decision.as_str().to_owned())),
        ("outcome =", filter.outcome.map(|outcome| outcome.as_str().to_owned())),
    ];
    for (condition, value) in words {
        if let Some(value) = value {
            let rare = COMMON.iter().find(|(of, common, _)| *of == condition && value != *common);
            only(condition, value.into(), rare.map_or("", |(_, _, literal)| literal));
        }
    }
    if let Some(since) = filter.since {
        only("at >=", since.into(), "");
    }
    if let Some(until) = filter.until {
        only("at <", until.into(), "");
    }
    if let Some(Cursor { at, seq }) = after {
        values.extend([at.into(), seq.into()]);
        let joined = if text.is_empty() { "WHERE" } else { "AND" };
        let (n, m) = (values.len() - 1, values.len());
        text.push_str(&format!(" {joined} (at, seq) < (${n}, ${m})"));
    }
    values.push(limit.into());
    let text = format!(
        "{before}SELECT * FROM audit{text} ORDER BY at DESC, seq DESC LIMIT ${}",
        values.len()
    );
    values.into_iter().fold(made(text), Sql::bind)
}
