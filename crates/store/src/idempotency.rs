//! Requests that must not be done twice: the first claims a key, the same again gets the first
//! one's answer. Answers are sealed, since one may hold a new token. Who is doing it holds a lease, so that a
//! request whose doer died may be tried again.

use std::time::Duration;

use switchboard_model::UserId;

use crate::db::{Row, Tx, sql};
use crate::error::Result;
use crate::leases::{self, Lease};
use crate::store::Store;
use crate::vault::Vault;
use crate::{random, sealed};

/// What becomes of a request with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is the first, or whoever was first is gone: do it, and call `renew` now and then meanwhile; then
    /// `finish`, or `abandon` if nothing was done.
    First(Held),
    /// It was done: answer the same.
    Done(Replay),
    /// It is being done.
    UnderWay,
    /// The same key came with another request.
    Other,
}

/// A key that is held by whoever does the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    id: String,
    lease: Lease,
}

/// How long a key is held without being renewed: so long after a crash it can be tried again.
const HELD: Duration = Duration::from_secs(20);

/// What a request was answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The status.
    pub status: u16,
    /// Headers that belong to it, each a name and a value without line ends.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Begins what is kept of an answer with headers. No body begins with it: they are JSON.
const HEADED: u8 = 0;

impl Replay {
    /// As one text, which is sealed. An answer without headers is its body, as it always was.
    fn packed(&self) -> Vec<u8> {
        if self.headers.is_empty() {
            return self.body.clone();
        }
        let lines = self.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
        let head: String = lines.chain(["\n".to_owned()]).collect();
        [&[HEADED], head.as_bytes(), &self.body].concat()
    }

    fn unpacked(status: u16, packed: &[u8]) -> Self {
        let plain = || Self { status, headers: Vec::new(), body: packed.to_vec() };
        let Some(rest) = packed.strip_prefix(&[HEADED]) else { return plain() };
        let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") else { return plain() };
        let head = String::from_utf8_lossy(&rest[..end]);
        let pairs = head.lines().filter_map(|line| line.split_once(": "));
        let headers = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { status, headers, body: rest[end + 2..].to_vec() }
    }
}

/// Requests that must not be done twice.
#[derive(Clone, Copy, Debug)]
pub struct Idempotency<'a>(pub(crate) &'a Store);

impl Idempotency<'_> {
    /// Claims a key for whoever asks (`principal`, one of this person's) and what they ask (`request`, its bytes).
    pub async fn claim(
        self,
        (user, principal): (&UserId, &str),
        key: &str,
        request: &[u8],
        lasting: Duration,
    ) -> Result<Claim> {
        let id = id(principal, key);
        let hash = <[u8; 32]>::from(<sha2::Sha256 as sha2::Digest>::digest(request));
        let now = self.0.now();
        let mut tx = self.0.db().begin().await?;
        let query = sql("DELETE FROM idempotency WHERE expires_at <= $1 RETURNING id");
        for row in query.bind(now).all(&mut tx).await? {
            let over = row.text("id")?;
            gone(&mut tx, self.0.vault(), &over).await?;
        }
        let query = sql("INSERT INTO idempotency (id, request_hash, expires_at, user_id)
             VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING");
        let query = query.bind(&id).bind(&hash).bind(now + lasting).bind(user.as_str());
        let first = query.run(&mut tx).await? == 1;
        let claim = match first {
            true => self.hold(&mut tx, &id).await?,
            false => self.again(&mut tx, &id, hash).await?,
        };
        tx.commit().await?;
        Ok(claim)
    }

    /// It is still being done; false if somebody else does it by now, since this came too late.
    pub async fn renew(self, held: &Held) -> Result<bool> {
        let mut tx = self.0.db().begin().await?;
        let renewed = leases::renew(&mut tx, &held.lease, self.0.now() + HELD).await?;
        tx.commit().await?;
        Ok(renewed)
    }

    /// Keeps the answer, unless somebody else does the request by now.
    pub async fn finish(self, held: &Held, answer: &Replay) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        lock(&mut tx, &held.id).await?;
        if leases::give_back(&mut tx, &held.lease).await? {
            let query = sql("UPDATE idempotency SET status = $2 WHERE id = $1");
            query.bind(&held.id).bind(i64::from(answer.status)).run(&mut tx).await?;
            self.0.vault().put(&mut tx, sealed::response(&held.id), &answer.packed()).await?;
        }
        tx.commit().await
    }

    /// Nothing was done: the same request may come again.
    pub async fn abandon(self, held: &Held) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        lock(&mut tx, &held.id).await?;
        if leases::give_back(&mut tx, &held.lease).await? {
            let query = sql("DELETE FROM idempotency WHERE id = $1").bind(&held.id);
            query.run(&mut tx).await?;
            self.0.vault().forget(&mut tx, "idempotency", &held.id).await?;
        }
        tx.commit().await
    }

    /// The key is known: what became of its request.
    async fn again(self, tx: &mut Tx, id: &str, hash: [u8; 32]) -> Result<Claim> {
        // Gone in this moment: nothing was done, and whoever asks again is the first.
        let Some(row) = lock(tx, id).await? else { return Ok(Claim::UnderWay) };
        let response = self.0.vault().get(tx, sealed::response(id)).await?;
        match (row.hash("request_hash")? == hash, row.get::<Option<i64>>("status")?, response) {
            (false, ..) => Ok(Claim::Other),
            (true, Some(status), Some(kept)) => {
                let status = u16::try_from(status).unwrap_or(500);
                Ok(Claim::Done(Replay::unpacked(status, &kept)))
            }
            (true, ..) => self.hold(tx, id).await,
        }
    }

    async fn hold(self, tx: &mut Tx, id: &str) -> Result<Claim> {
        let now = self.0.now();
        let lease = leases::take(tx, &name(id), now, now + HELD).await?;
        Ok(lease.map_or(Claim::UnderWay, |lease| Claim::First(Held { id: id.to_owned(), lease })))
    }
}

/// Forgets what somebody was answered.
pub(crate) async fn forget(tx: &mut Tx, vault: &Vault, user: &UserId) -> Result<()> {
    let query = sql("DELETE FROM idempotency WHERE user_id = $1 RETURNING id");
    for row in query.bind(user.as_str()).all(tx).await? {
        gone(tx, vault, &row.text("id")?).await?;
    }
    Ok(())
}

/// What hangs on a key that is no more.
async fn gone(tx: &mut Tx, vault: &Vault, id: &str) -> Result<()> {
    vault.forget(tx, "idempotency", id).await?;
    leases::forget(tx, &name(id)).await
}

/// Whoever looks at a key or changes it takes turns: what was found is so until the transaction ends. The
/// lease comes after it, always.
async fn lock(tx: &mut Tx, id: &str) -> Result<Option<Row>> {
    let query = sql("UPDATE idempotency SET expires_at = expires_at WHERE id = $1
         RETURNING request_hash, status");
    query.bind(id).optional(tx).await
}

/// The lease of a key.
fn name(id: &str) -> String {
    format!("idempotency {id}")
}

/// The two together, of one length and with nothing readable in it.
fn id(principal: &str, key: &str) -> String {
    let both = format!("{}:{principal}{key}", principal.len());
    random::hash(&both).iter().map(|byte| format!("{byte:02x}")).collect()
}
