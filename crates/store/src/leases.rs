//! Locks that several instances share, each with an end, so that a crashed holder blocks nobody for
//! long: one refresh of a credential at a time, one doer of a request.

use std::time::{Duration, SystemTime};

use crate::db::{Tx, sql};
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
        let now = self.0.now();
        let mut tx = self.0.db().begin().await?;
        let taken = take(&mut tx, name, now, now + lasting).await?;
        tx.commit().await?;
        Ok(taken)
    }

    /// Gives it back.
    pub async fn release(self, lease: Lease) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        give_back(&mut tx, &lease).await?;
        tx.commit().await
    }
}

/// Takes the lock of this name, if nobody holds it now.
pub(crate) async fn take(
    tx: &mut Tx,
    name: &str,
    now: SystemTime,
    until: SystemTime,
) -> Result<Option<Lease>> {
    let holder = random::id("")?;
    let query = sql("INSERT INTO leases (name, holder, until) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
         WHERE leases.until <= $4 RETURNING holder");
    let query = query.bind(name).bind(&holder).bind(until).bind(now);
    let taken = query.optional(tx).await?.is_some();
    Ok(taken.then(|| Lease { name: name.to_owned(), holder }))
}

/// Holds it for longer; false if somebody else has taken it.
pub(crate) async fn renew(tx: &mut Tx, lease: &Lease, until: SystemTime) -> Result<bool> {
    let query = sql("UPDATE leases SET until = $3 WHERE name = $1 AND holder = $2");
    Ok(query.bind(&lease.name).bind(&lease.holder).bind(until).run(tx).await? == 1)
}

/// Gives it back; false if somebody else has taken it.
pub(crate) async fn give_back(tx: &mut Tx, lease: &Lease) -> Result<bool> {
    let query = sql("DELETE FROM leases WHERE name = $1 AND holder = $2");
    Ok(query.bind(&lease.name).bind(&lease.holder).run(tx).await? == 1)
}

/// What it was for is gone.
pub(crate) async fn forget(tx: &mut Tx, name: &str) -> Result<()> {
    sql("DELETE FROM leases WHERE name = $1").bind(name).run(tx).await.map(drop)
}
