//! The audit log: who did what, as one chain of hashes over all instances. Rows are only ever added
//! at its end and taken away at its beginning.

mod chain;
mod entry;
mod page;
mod retain;
mod verify;

use std::sync::LazyLock;

use crate::db::{Engine, Sql, Tx, made, sql};
use crate::error::Result;
use crate::sealed;
use crate::store::Store;
use crate::vault::Vault;
use chain::Link;
pub use entry::{AuditRow, CALL, Entry};
pub use page::{Cursor, Filter, Page};
pub use retain::Retention;
pub use verify::{Verdict, Violation};

/// The audit log.
#[derive(Clone, Copy, Debug)]
pub struct Audit<'a>(pub(crate) &'a Store);

/// The last row of the log, to be kept somewhere else: who has it can later tell whether the whole
/// log was put back to an earlier state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its number.
    pub seq: i64,
    /// Its hash.
    pub hash: [u8; 32],
}

/// Every so many rows one is vouched for, so that a forged chain is found near the place.
const MARK: i64 = 1_000;
/// Rows of one statement: below what either engine takes in values.
const ROWS: usize = 100;
/// The numbers of rows for which SQLite has a statement, each prepared once: to read such a text takes
/// longer than to carry it out.
const SIZES: [usize; 4] = [ROWS, 20, 5, 1];
static PREPARED: LazyLock<[String; 4]> = LazyLock::new(|| {
    // Without numbers: SQLite takes those for names, and looks for each among all of them.
    SIZES.map(|rows| insert(rows, |_| "?".to_owned()))
});
const COLUMNS: [&str; 17] = [
    "seq",
    "at",
    "action",
    "source",
    "user_id",
    "agent",
    "server",
    "tool",
    "origin",
    "decision",
    "outcome",
    "duration_us",
    "bytes_in",
    "bytes_out",
    "trace",
    "detail",
    "hash",
];

impl Audit<'_> {
    /// The last row.
    pub async fn head(self) -> Result<Head> {
        let mut tx = self.0.db().read().await?;
        let row = sql("SELECT seq, hash FROM audit_head WHERE id = 1").one(&mut tx).await?;
        Ok(Head { seq: row.int("seq")?, hash: row.hash("hash")? })
    }

    /// Writes one row down now. What changes the state has its row by itself.
    pub async fn append(self, entry: Entry) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        append(&mut tx, self.0.vault(), &[entry]).await?;
        tx.commit().await
    }
}

/// Begins the chain of a new store.
pub(crate) async fn found(tx: &mut Tx, vault: &Vault) -> Result<()> {
    if sql("SELECT seq FROM audit_head WHERE id = 1").optional(tx).await?.is_some() {
        return Ok(());
    }
    let link = Link::BEGINNING;
    let query = sql("INSERT INTO audit_head (id, seq, hash) VALUES (1, $1, $2)");
    query.bind(link.seq).bind(&link.hash).run(tx).await?;
    vault.put(tx, sealed::HEAD, &link.bytes()).await
}

/// Adds rows to the chain. The head is locked until the transaction ends, in which all writers of
/// all instances take turns: it should be the last thing that a transaction does.
pub(crate) async fn append(tx: &mut Tx, vault: &Vault, entries: &[Entry]) -> Result<()> {
    let row =
        sql("UPDATE audit_head SET seq = seq WHERE id = 1 RETURNING seq, hash").one(tx).await?;
    let mut link = Link { seq: row.int("seq")?, hash: row.hash("hash")? };
    let mut marks = Vec::new();
    let mut rest = entries;
    while !rest.is_empty() {
        let (mut query, count) = insertion(tx.engine(), rest.len());
        let (some, more) = rest.split_at(count);
        rest = more;
        for entry in some {
            let fields = entry.fields();
            link = link.next(&fields);
            query = bind(query, link, fields);
            if link.seq % MARK == 0 {
                marks.push(link);
            }
        }
        query.run(tx).await?;
    }
    for mark in marks {
        write_mark(tx, vault, mark, "mark").await?;
    }
    let query = sql("UPDATE audit_head SET seq = $1, hash = $2 WHERE id = 1");
    query.bind(link.seq).bind(&link.hash).run(tx).await?;
    vault.put(tx, sealed::HEAD, &link.bytes()).await
}

/// Vouches for a row: without the vault's key nobody can.
async fn write_mark(tx: &mut Tx, vault: &Vault, link: Link, kind: &'static str) -> Result<()> {
    let query = sql("INSERT INTO audit_marks (seq, kind, hash) VALUES ($1, $2, $3)
         ON CONFLICT (seq) DO UPDATE SET kind = excluded.kind");
    query.bind(link.seq).bind(kind).bind(&link.hash).run(tx).await?;
    // What kind it is is sealed too, or a mark could be made the beginning.
    let value = [&link.bytes()[..], kind.as_bytes()].concat();
    vault.put(tx, sealed::mark(&link.seq.to_string()), &value).await
}

/// The statement for the next rows, and how many it takes of those that are left.
fn insertion(engine: Engine, left: usize) -> (Sql, usize) {
    match engine {
        Engine::Sqlite => {
            let sizes = SIZES.iter().zip(PREPARED.iter());
            let fitting = sizes.filter(|(size, _)| **size <= left).max_by_key(|(size, _)| **size);
            let (size, text) = fitting.unwrap_or((&1, &PREPARED[SIZES.len() - 1]));
            (sql(text), *size)
        }
        Engine::Postgres => {
            let rows = left.min(ROWS);
            (made(insert(rows, |n| format!("${n}"))), rows)
        }
    }
}

fn insert(rows: usize, place: impl Fn(usize) -> String) -> String {
    let width = COLUMNS.len();
    let row = |at: usize| {
        let values: Vec<String> = (1..=width).map(|n| place(at * width + n)).collect();
        format!("({})", values.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!("INSERT INTO audit ({}) VALUES {}", COLUMNS.join(", "), rows.join(", "))
}

fn bind(query: Sql, link: Link, fields: chain::Fields) -> Sql {
    let query = query.bind(link.seq);
    fields.bind(query).bind(&link.hash)
}
