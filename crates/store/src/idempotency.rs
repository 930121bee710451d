//! Requests that must not be done twice: the first claims a key, the same again gets the first
//! one's answer. Answers are sealed, since one may hold a new token.

use std::time::Duration;

use crate::db::sql;
use crate::error::Result;
use crate::store::Store;
use crate::{random, sealed};

/// What becomes of a request with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is the first: do it, then call `finish`, or `abandon` if nothing was done.
    First {
        /// For `finish` and `abandon`.
        id: String,
    },
    /// It was done: answer the same.
    Done(Replay),
    /// It is being done.
    UnderWay,
    /// The same key came with another request.
    Other,
}

/// What a request was answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Requests that must not be done twice.
#[derive(Clone, Copy, Debug)]
pub struct Idempotency<'a>(pub(crate) &'a Store);

impl Idempotency<'_> {
    /// Claims a key for whoever asks (`principal`) and what they ask (`request`, its bytes).
    pub async fn claim(
        self,
        principal: &str,
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
            self.0.vault().forget(&mut tx, "idempotency", &row.text("id")?).await?;
        }
        let query =
            sql("INSERT INTO idempotency (id, request_hash, expires_at) VALUES ($1, $2, $3)
             ON CONFLICT (id) DO NOTHING");
        let first = query.bind(&id).bind(&hash).bind(now + lasting).run(&mut tx).await? == 1;
        let claim = if first {
            Claim::First { id }
        } else {
            let query = sql("SELECT request_hash, status FROM idempotency WHERE id = $1");
            let row = query.bind(&id).one(&mut tx).await?;
            let response = self.0.vault().get(&mut tx, sealed::response(&id)).await?;
            match (row.hash("request_hash")? == hash, row.get::<Option<i64>>("status")?, response) {
                (false, ..) => Claim::Other,
                (true, Some(status), Some(body)) => Claim::Done(Replay {
                    status: u16::try_from(status).unwrap_or(500),
                    body: body.to_vec(),
                }),
                (true, ..) => Claim::UnderWay,
            }
        };
        tx.commit().await?;
        Ok(claim)
    }

    /// Keeps the answer.
    pub async fn finish(self, id: &str, answer: &Replay) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        let query = sql("UPDATE idempotency SET status = $2 WHERE id = $1");
        query.bind(id).bind(i64::from(answer.status)).run(&mut tx).await?;
        self.0.vault().put(&mut tx, sealed::response(id), &answer.body).await?;
        tx.commit().await
    }

    /// Nothing was done: the same request may come again.
    pub async fn abandon(self, id: &str) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        sql("DELETE FROM idempotency WHERE id = $1").bind(id).run(&mut tx).await?;
        self.0.vault().forget(&mut tx, "idempotency", id).await?;
        tx.commit().await
    }
}

/// The two together, of one length and with nothing readable in it.
fn id(principal: &str, key: &str) -> String {
    let both = format!("{}:{principal}{key}", principal.len());
    random::hash(&both).iter().map(|byte| format!("{byte:02x}")).collect()
}
