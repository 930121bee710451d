//! Locks that several instances share, each with an end, so that a crashed holder blocks nobody for
//! long: one refresh of a credential at a time.

use std::time::Duration;

use crate::db::sql;
use crate::error::Result;
use crate::random;
use crate::store::Store;

/// A lock that is held until it is given back or its time is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    name: String,
    holder: String,
}

/// Locks that several instances share.
#[derive(Clone, Copy, Debug)]
pub struct Leases<'a>(pub(crate) &'a Store);

impl Leases<'_> {
    /// Takes the lock of this name, if nobody holds it.
    pub async fn take(self, name: &str, lasting: Duration) -> Result<Option<Lease>> {
        let (now, holder) = (self.0.now(), random::id("")?);
        let mut tx = self.0.db().begin().await?;
        let query = sql("INSERT INTO leases (name, holder, until) VALUES ($1, $2, $3)
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
             WHERE leases.until <= $4 RETURNING holder");
        let query = query.bind(name).bind(&holder).bind(now + lasting).bind(now);
        let taken = query.optional(&mut tx).await?.is_some();
        tx.commit().await?;
        Ok(taken.then(|| Lease { name: name.to_owned(), holder }))
    }

    /// Gives it back.
    pub async fn release(self, lease: Lease) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        let query = sql("DELETE FROM leases WHERE name = $1 AND holder = $2");
        query.bind(&lease.name).bind(&lease.holder).run(&mut tx).await?;
        tx.commit().await
    }
}
