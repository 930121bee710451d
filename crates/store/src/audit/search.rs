//! Finds the blocks that a page needs, from the newest backwards: those that hold a row of a subject that fits the
//! words, and of the time that is asked for. What cannot match is passed over by look-ups, not by reading it; only words
//! that are common are looked for in the newest few blocks first.

use std::collections::{BinaryHeap, HashSet};
use std::sync::LazyLock;

use switchboard_model::{AgentId, UserId};

use super::page::{Cursor, Filter};
use super::span::{Time, newest};
use super::subjects::Listed;
use crate::db::{Row, Sql, Tx, made, millis, sql};
use crate::error::Result;
use crate::key::write_key;

/// The newest block up to a row in which a subject occurs.
static PROBE: LazyLock<Listed> = LazyLock::new(|| {
    let text =
        "SELECT s.id, (SELECT i.block FROM audit_index i WHERE i.subject = s.id AND i.block <= $1
         ORDER BY i.block DESC LIMIT 1) AS block FROM audit_subjects s WHERE s.id IN (?)";
    Listed::new(text, 2)
});

/// Words that fit more subjects than this are common: rows of them are probably among the newest, and to look there is
/// cheaper than to ask for each subject where it is.
const FEW: usize = 64;
/// So many blocks are looked at before the index is asked.
const TRIES: u32 = 4;

/// A page's way through the log.
pub(super) struct Search {
    /// The last row that may be on the page.
    upto: i64,
    /// Blocks that begin later were seen.
    from: i64,
    time: Time,
    postings: Option<Postings>,
    /// How many blocks may still be tried without asking the index.
    tries: u32,
}

/// A block that may hold rows that match.
pub(super) struct Found {
    pub(super) last: i64,
    pub(super) body: String,
}

impl Search {
    pub(super) async fn begin(tx: &mut Tx, filter: &Filter, after: Option<Cursor>) -> Result<Self> {
        let time = Time {
            since: filter.since.map_or(i64::MIN, millis),
            until: filter.until.map_or(i64::MAX, millis),
        };
        let upto = after.map_or(i64::MAX, |Cursor(seq)| seq.saturating_sub(1));
        let postings = Postings::of(tx, filter).await?;
        let common = |postings: &Postings| postings.subjects.len() > FEW;
        let tries = if postings.as_ref().is_some_and(common) { TRIES } else { 0 };
        Ok(Self { upto, from: upto, time, postings, tries })
    }

    /// Whether a row is on the page.
    pub(super) fn wants(&self, seq: i64, at: i64, subject: i64) -> bool {
        let fits = |postings: &Postings| postings.subjects.contains(&subject);
        seq <= self.upto && self.time.has(at) && self.postings.as_ref().is_none_or(fits)
    }

    /// The next block, going back.
    pub(super) async fn next(&mut self, tx: &mut Tx) -> Result<Option<Found>> {
        loop {
            let first = match &mut self.postings {
                Some(postings) if self.tries == 0 => postings.newest(tx, self.from).await?,
                _ => {
                    self.tries = self.tries.saturating_sub(1);
                    newest(tx, self.from, self.time).await?
                }
            };
            let Some(first) = first else { return Ok(None) };
            let query = sql("SELECT last, body FROM audit_blocks
                 WHERE first = $1 AND low < $2 AND high >= $3");
            let query = query.bind(first).bind(self.time.until).bind(self.time.since);
            if let Some(row) = query.optional(tx).await? {
                self.from = first - 1;
                return Ok(Some(Found { last: row.int("last")?, body: row.text("body")? }));
            }
            // Not of that time, or taken away: on to the next block that is of that time.
            let Some(first) = newest(tx, first - 1, self.time).await? else { return Ok(None) };
            self.from = first;
        }
    }
}

/// The subjects that fit the words, each with a block behind which it is in none: at first the end of the log.
struct Postings {
    subjects: HashSet<i64>,
    heap: BinaryHeap<(i64, i64)>,
}

impl Postings {
    /// None if no words are asked for.
    async fn of(tx: &mut Tx, filter: &Filter) -> Result<Option<Self>> {
        let words = [
            ("action", filter.action.clone()),
            ("user_id", filter.user.as_ref().map(UserId::to_string)),
            ("agent", filter.agent.as_ref().map(AgentId::to_string)),
            ("server", filter.server.as_ref().map(write_key)),
            ("tool", filter.tool.clone()),
            ("origin", filter.origin.map(|origin| origin.as_str().to_owned())),
            ("decision", filter.decision.map(|decision| decision.as_str().to_owned())),
            ("outcome", filter.outcome.map(|outcome| outcome.as_str().to_owned())),
        ];
        let wanted = words.into_iter().filter_map(|(column, value)| Some((column, value?)));
        let (columns, values): (Vec<_>, Vec<_>) = wanted.unzip();
        if columns.is_empty() {
            return Ok(None);
        }
        let conditions = columns.iter().zip(1..).map(|(column, n)| format!("{column} = ${n}"));
        let conditions = conditions.collect::<Vec<_>>().join(" AND ");
        let query = made(format!("SELECT id FROM audit_subjects WHERE {conditions}"));
        // PostgreSQL refuses this character, which no word holds.
        let values = values.into_iter().map(|value| value.replace('\0', "\u{fffd}"));
        let rows = values.fold(query, Sql::bind).all(tx).await?;
        let subjects = rows.iter().map(|row| row.int("id")).collect::<Result<HashSet<_>>>()?;
        let heap = subjects.iter().map(|subject| (i64::MAX, *subject)).collect();
        Ok(Some(Self { subjects, heap }))
    }

    /// The newest block, up to this one, in which one of them occurs.
    async fn newest(&mut self, tx: &mut Tx, upto: i64) -> Result<Option<i64>> {
        let mut behind = Vec::new();
        while let Some((block, subject)) = self.heap.peek().copied() {
            // At the end of the log nobody has been asked for yet.
            if block <= upto && block < i64::MAX {
                break;
            }
            self.heap.pop();
            behind.push(subject);
        }
        let mut behind = &behind[..];
        while !behind.is_empty() {
            let (query, numbers) = PROBE.take(&mut behind);
            let query = numbers.into_iter().fold(query.bind(upto), Sql::bind);
            for row in query.all(tx).await? {
                self.add(&row)?;
            }
        }
        Ok(self.heap.peek().map(|(block, _)| *block))
    }

    /// One that occurs no more is left out.
    fn add(&mut self, row: &Row) -> Result<()> {
        if let Some(block) = row.get::<Option<i64>>("block")? {
            self.heap.push((block, row.int("id")?));
        }
        Ok(())
    }
}
