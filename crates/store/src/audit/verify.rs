//! Reads the whole audit log and finds what was removed, edited, reordered or cut off. Never
//! repairs anything.

use super::chain::{Fields, Link};
use super::{Audit, Head};
use crate::db::{Tx, sql};
use crate::error::{Error, Result};
use crate::sealed;

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
    /// This row is not what was written, or what came before it is not.
    Edited {
        /// Which row.
        seq: i64,
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

/// Rows that are read at once.
const BATCH: i64 = 2_000;

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
        let query = sql("SELECT hash FROM audit WHERE seq = $1
             UNION SELECT hash FROM audit_marks WHERE seq = $1")
        .bind(head.seq);
        let rows = query.all(&mut tx).await?;
        let hashes = rows.iter().map(|row| row.hash("hash")).collect::<Result<Vec<_>>>()?;
        Ok(hashes.contains(&head.hash))
    }

    async fn walk(self, tx: &mut Tx) -> Result<std::result::Result<(u64, Head), Violation>> {
        let start = match self.beginning(tx).await? {
            Ok(start) => start,
            Err(violation) => return Ok(Err(violation)),
        };
        let mut link = start;
        loop {
            let query = sql("SELECT * FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2");
            let rows = query.bind(link.seq).bind(BATCH).all(tx).await?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                let (seq, hash) = (row.int("seq")?, row.hash("hash")?);
                let next = link.next(&Fields::read(&row)?);
                if seq != next.seq {
                    return Ok(Err(Violation::Missing { seq: next.seq }));
                }
                if hash != next.hash {
                    return Ok(Err(Violation::Edited { seq }));
                }
                link = next;
            }
        }
        if let Some(violation) = self.marks(tx, start, link).await? {
            return Ok(Err(violation));
        }
        Ok(match self.head_matches(tx, link).await? {
            None => {
                let rows = (link.seq - start.seq).max(0).unsigned_abs();
                Ok((rows, Head { seq: link.seq, hash: link.hash }))
            }
            Some(violation) => Err(violation),
        })
    }

    /// Where the log begins: at its first row, or behind what retention took away.
    async fn beginning(self, tx: &mut Tx) -> Result<std::result::Result<Link, Violation>> {
        let query = sql(
            "SELECT seq, hash FROM audit_marks WHERE kind = 'anchor' ORDER BY seq DESC LIMIT 1",
        );
        let Some(row) = query.optional(tx).await? else { return Ok(Ok(Link::BEGINNING)) };
        let link = Link { seq: row.int("seq")?, hash: row.hash("hash")? };
        let vouched = self.vouched(tx, link, "anchor").await?;
        let early = sql("SELECT MIN(seq) AS seq FROM audit WHERE seq <= $1").bind(link.seq);
        let early: Option<i64> = early.one(tx).await?.get("seq")?;
        Ok(match (vouched, early) {
            (false, _) => Err(Violation::Unvouched { seq: link.seq }),
            (true, Some(seq)) => Err(Violation::Edited { seq }),
            (true, None) => Ok(link),
        })
    }

    /// Every row that was vouched for must be the one that is there, and none may be missing: of
    /// the rows that are marked by their number, each is.
    async fn marks(self, tx: &mut Tx, start: Link, end: Link) -> Result<Option<Violation>> {
        let query = sql("SELECT m.seq, m.kind, m.hash, a.hash AS found FROM audit_marks m
             LEFT JOIN audit a ON a.seq = m.seq WHERE m.seq > $1 ORDER BY m.seq");
        let mut expected = (start.seq / super::MARK + 1) * super::MARK;
        for row in query.bind(start.seq).all(tx).await? {
            let link = Link { seq: row.int("seq")?, hash: row.hash("hash")? };
            if link.seq != expected || !self.vouched(tx, link, "mark").await? {
                return Ok(Some(Violation::Unvouched { seq: expected }));
            }
            if link.seq <= end.seq
                && row.get::<Option<Vec<u8>>>("found")? != Some(link.hash.to_vec())
            {
                return Ok(Some(Violation::Forged { seq: link.seq }));
            }
            expected += super::MARK;
        }
        Ok((expected <= end.seq).then_some(Violation::Unvouched { seq: expected }))
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
