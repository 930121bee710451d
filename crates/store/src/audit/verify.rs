//! Reads the whole audit log and finds what was removed, edited, reordered or cut off. Never
//! repairs anything.

mod walk;

use super::append::MARK;
use super::chain::Link;
use super::{Audit, Head, tail};
use crate::db::{Tx, sql};
use crate::error::{Error, Result};
use crate::sealed;
use walk::Walk;
pub(super) use walk::holds;

/// What was found, or what is wrong.
type Checked<T> = std::result::Result<T, Violation>;

/// What the log is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every row is as it was written.
    Whole {
        /// How many there are.
        rows: u64,
        /// The last one.
        head: Head,
    },
    /// It was tampered with; this is the first place.
    Broken(Violation),
}

/// What is wrong with the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Rows are missing before this one, or it stands in another's place.
    Missing {
        /// The first number that is not there.
        seq: i64,
    },
    /// One of these rows is not what was written, or what came before them is not.
    Edited {
        /// The first row of the block.
        from: i64,
        /// Its last.
        to: i64,
    },
    /// These rows are as they were written, but filters do not find them all.
    Hidden {
        /// The first row of the block.
        from: i64,
        /// Its last.
        to: i64,
    },
    /// The chain was written anew somewhere up to this row, which was vouched for.
    Forged {
        /// The row that was vouched for.
        seq: i64,
    },
    /// Rows at the end are missing, or were added by somebody else.
    Cut {
        /// The last row that is there.
        seq: i64,
        /// The last row that was written, if that can still be told.
        head: Option<i64>,
    },
    /// What vouches for the log does not open, or is gone.
    Unvouched {
        /// For which row.
        seq: i64,
    },
}

/// Blocks that are read at once.
const BATCH: i64 = 64;

impl Audit<'_> {
    /// Reads everything, in one state of the database.
    pub async fn verify(self) -> Result<Verdict> {
        let mut tx = self.0.db().read().await?;
        match self.walk(&mut tx).await? {
            Ok((rows, head)) => Ok(Verdict::Whole { rows, head }),
            Err(violation) => Ok(Verdict::Broken(violation)),
        }
    }

    /// Whether the log still holds a head that was kept elsewhere: a whole log that was put back to
    /// an earlier state does not. Rows that retention took away cannot be asked for.
    pub async fn holds(self, head: Head) -> Result<bool> {
        let mut tx = self.0.db().read().await?;
        holds(&mut tx, head).await
    }

    async fn walk(self, tx: &mut Tx) -> Result<Checked<(u64, Head)>> {
        let start = match self.beginning(tx).await? {
            Ok(start) => start,
            Err(violation) => return Ok(Err(violation)),
        };
        let mut walk = Walk::begin(tx, start).await?;
        loop {
            let query = sql("SELECT * FROM audit_blocks WHERE first > $1 ORDER BY first LIMIT $2");
            let rows = query.bind(walk.after).bind(BATCH).all(tx).await?;
            if rows.is_empty() {
                break;
            }
            if let Err(violation) = walk.blocks(tx, &rows).await? {
                return Ok(Err(violation));
            }
        }
        if let Some(violation) = self.marks(tx, start, &walk).await? {
            return Ok(Err(violation));
        }
        let end = walk.link;
        Ok(match self.head_matches(tx, end).await? {
            None => {
                let rows = (end.seq - start.seq).max(0).unsigned_abs();
                Ok((rows, Head { seq: end.seq, hash: end.hash }))
            }
            Some(violation) => Err(violation),
        })
    }

    /// Where the log begins: at its first row, or behind what retention took away.
    async fn beginning(self, tx: &mut Tx) -> Result<Checked<Link>> {
        let Some(link) = tail::anchor(tx).await? else { return Ok(Ok(Link::BEGINNING)) };
        let vouched = self.vouched(tx, link, "anchor").await?;
        let early =
            sql("SELECT first, last FROM audit_blocks WHERE first <= $1 ORDER BY first LIMIT 1");
        let early = early.bind(link.seq).optional(tx).await?;
        Ok(match (vouched, early) {
            (false, _) => Err(Violation::Unvouched { seq: link.seq }),
            (true, Some(row)) => {
                Err(Violation::Edited { from: row.int("first")?, to: row.int("last")? })
            }
            (true, None) => Ok(link),
        })
    }

    /// Every row that was vouched for must be the one that is there, and none may be missing: of
    /// the rows that are marked by their number, each is.
    async fn marks(self, tx: &mut Tx, start: Link, walk: &Walk) -> Result<Option<Violation>> {
        let query = sql("SELECT seq, hash FROM audit_marks WHERE seq > $1 ORDER BY seq");
        let mut expected = (start.seq / MARK + 1) * MARK;
        for row in query.bind(start.seq).all(tx).await? {
            let link = Link { seq: row.int("seq")?, hash: row.hash("hash")? };
            if link.seq != expected || !self.vouched(tx, link, "mark").await? {
                return Ok(Some(Violation::Unvouched { seq: expected }));
            }
            if link.seq <= walk.link.seq && walk.ends.get(&link.seq) != Some(&link.hash) {
                return Ok(Some(Violation::Forged { seq: link.seq }));
            }
            expected += MARK;
        }
        Ok((expected <= walk.link.seq).then_some(Violation::Unvouched { seq: expected }))
    }

    async fn head_matches(self, tx: &mut Tx, end: Link) -> Result<Option<Violation>> {
        let sealed = match self.0.vault().get(tx, sealed::HEAD).await {
            Ok(Some(sealed)) => sealed,
            Ok(None) | Err(Error::Tampered { .. }) => {
                return Ok(Some(Violation::Unvouched { seq: end.seq }));
            }
            Err(error) => return Err(error),
        };
        if sealed[..] == end.bytes() {
            return Ok(None);
        }
        let head = sealed.first_chunk().map(|seq| i64::from_be_bytes(*seq));
        Ok(Some(match head {
            Some(head) if head == end.seq => Violation::Forged { seq: end.seq },
            head => Violation::Cut { seq: end.seq, head },
        }))
    }

    async fn vouched(self, tx: &mut Tx, link: Link, kind: &str) -> Result<bool> {
        let value = [&link.bytes()[..], kind.as_bytes()].concat();
        match self.0.vault().get(tx, sealed::mark(&link.seq.to_string())).await {
            Ok(sealed) => Ok(sealed.is_some_and(|sealed| *sealed == value)),
            Err(Error::Tampered { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
