//! Pages of the audit log, in the order in which it was written, the newest first. But for the newest few, only blocks
//! that hold a row of the words that are asked for are read; a page costs the same however long the log is.

use std::collections::HashMap;
use std::time::SystemTime;

use switchboard_model::{AgentId, CallOrigin, Decision, Outcome, ServerKey, UserId};

use super::line::{Line, peek};
use super::search::{Found, Search};
use super::{Audit, AuditRow, subjects};
use crate::error::{Error, Result};

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
pub struct Cursor(pub(super) i64);

impl Cursor {
    /// As a text that can be sent around.
    pub fn encode(self) -> String {
        format!("{:x}", self.0)
    }

    /// The cursor that was sent around.
    pub fn parse(text: &str) -> Option<Self> {
        i64::from_str_radix(text, 16).ok().map(Self)
    }
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its rows, the newest first.
    pub rows: Vec<AuditRow>,
    /// Where the next one begins, if there may be one.
    pub next: Option<Cursor>,
    /// How many blocks were read for it: what it cost, for tests and benchmarks.
    pub blocks: u32,
}

/// No page is longer.
const LONGEST: u32 = 1_000;

impl Audit<'_> {
    /// A page of the rows that match, the newest first: in the order of writing, which is not always that of
    /// the times that they say.
    pub async fn page(self, filter: &Filter, after: Option<Cursor>, limit: u32) -> Result<Page> {
        let limit = usize::try_from(limit.clamp(1, LONGEST)).unwrap_or(usize::MAX);
        let mut tx = self.0.db().read().await?;
        let mut search = Search::begin(&mut tx, filter, after).await?;
        let (mut lines, mut blocks) = (Vec::new(), 0);
        while lines.len() < limit {
            let Some(found) = search.next(&mut tx).await? else { break };
            blocks += 1;
            take(&search, &found, limit, &mut lines)?;
        }
        let mut words = HashMap::new();
        subjects::words(&mut tx, &mut words, lines.iter().map(|(_, line)| line.subject)).await?;
        let missing = || Error::malformed("audit row", "its subject is gone");
        let read = |(seq, line): (i64, Line)| {
            let words = words.get(&line.subject).ok_or_else(missing)?;
            AuditRow::read(seq, line, words)
        };
        let rows = lines.into_iter().map(read).collect::<Result<Vec<_>>>()?;
        let next = rows.last().filter(|_| rows.len() == limit).map(|row| Cursor(row.seq));
        Ok(Page { rows, next, blocks })
    }
}

/// The rows of a block that match, the newest first, until there are enough.
fn take(search: &Search, found: &Found, limit: usize, rows: &mut Vec<(i64, Line)>) -> Result<()> {
    let mut seq = found.last;
    for line in found.body.lines().rev() {
        if rows.len() == limit {
            break;
        }
        let (at, subject) = peek(line)?;
        if search.wants(seq, at, subject) {
            rows.push((seq, Line::read(line)?));
        }
        seq -= 1;
    }
    Ok(())
}
