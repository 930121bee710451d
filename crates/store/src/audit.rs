//! The audit log: who did what, in blocks of rows, as one chain of hashes over all instances. Rows are only ever
//! added at its end and taken away, whole blocks at a time, at its beginning.

mod append;
mod block;
mod chain;
mod entry;
mod line;
mod memory;
mod page;
mod retain;
mod search;
mod sheet;
mod span;
mod subjects;
mod tail;
mod verify;
mod words;

use crate::db::{Tx, sql};
use crate::error::Result;
use crate::sealed;
use crate::store::Store;
use crate::vault::Vault;
pub(crate) use append::append;
use chain::Link;
pub use entry::{AuditRow, CALL, Entry};
pub(crate) use memory::Memory;
pub use page::{Cursor, Filter, Page};
pub use retain::Retention;
pub(crate) use sheet::{Noted, Sheet};
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

impl Audit<'_> {
    /// The last row.
    pub async fn head(self) -> Result<Head> {
        let mut tx = self.0.db().read().await?;
        let end = tail::find(&mut tx).await?.end;
        Ok(Head { seq: end.seq, hash: end.hash })
    }

    /// Writes one row down now. What changes the state has its row by itself.
    pub async fn append(self, entry: Entry) -> Result<()> {
        self.append_all(&[entry]).await
    }

    /// Writes rows down now, together.
    pub async fn append_all(self, entries: &[Entry]) -> Result<()> {
        let sheet = Sheet::of(entries.iter().map(Noted::Entry));
        let mut tx = self.0.db().begin().await?;
        append(&mut tx, self.0, &sheet).await?;
        tx.commit().await
    }
}

/// Begins the chain of a new store.
pub(crate) async fn found(tx: &mut Tx, vault: &Vault) -> Result<()> {
    if sql("SELECT generation FROM audit_state WHERE id = 1").optional(tx).await?.is_some() {
        return Ok(());
    }
    sql("INSERT INTO audit_state (id, generation) VALUES (1, 1)").run(tx).await?;
    vault.put(tx, sealed::HEAD, &Link::BEGINNING.bytes()).await
}
