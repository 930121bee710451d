//! How people sign in on the page: links that work once, and sessions. Only hashes are kept.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest, Sha256};
use switchboard_model::{Secret, UserId};

use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::sql;
use crate::error::{Error, Result};
use crate::random;
use crate::store::Store;
use crate::users::{self, User};

/// A session that has just begun: the only time its id can be read.
#[derive(Debug)]
pub struct NewSession {
    /// What the cookie holds.
    pub id: Secret,
    /// What every change must carry, beside the cookie.
    pub csrf: Secret,
    /// Until when it lasts.
    pub expires_at: SystemTime,
}

/// A session that was found.
#[derive(Debug)]
pub struct PageSession {
    /// Whose it is.
    pub user: User,
    /// What every change must carry, beside the cookie.
    pub csrf: Secret,
    /// Until when it lasts.
    pub expires_at: SystemTime,
}

impl PageSession {
    /// Whether a request carries what it must. Takes the same time whatever is wrong with it.
    pub fn allows(&self, given: &Secret) -> bool {
        let [own, given] = [&self.csrf, given].map(|secret| random::hash(secret.expose()));
        own.iter().zip(given).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
    }
}

/// Signing in on the page.
#[derive(Clone, Copy, Debug)]
pub struct SignIn<'a>(pub(crate) &'a Store);

impl SignIn<'_> {
    /// A link's secret part, which signs this person in once.
    pub async fn link(self, user: &UserId, lasting: Duration, by: &Actor) -> Result<Secret> {
        let secret = random::secret("swl_")?;
        let now = self.0.now();
        let mut change = Change::begin(self.0).await?;
        let tx = &mut change.tx;
        sql("DELETE FROM sign_in_links WHERE expires_at <= $1").bind(now).run(tx).await?;
        let query = sql("INSERT INTO sign_in_links (hash, user_id, expires_at)
             SELECT $1, id, $3 FROM users WHERE id = $2");
        let hash = random::hash(secret.expose());
        let made = query.bind(&hash).bind(user.as_str()).bind(now + lasting).run(tx).await?;
        if made == 0 {
            return Err(Error::NotFound { what: "user", id: user.to_string() });
        }
        change.act(by, "user.sign_in_link", To::User(user), json!({}));
        change.commit().await?;
        Ok(secret)
    }

    /// Uses a link up and begins a session. The same link a second time is nothing.
    pub async fn redeem(self, link: &Secret, lasting: Duration) -> Result<Option<NewSession>> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("DELETE FROM sign_in_links WHERE hash = $1 RETURNING user_id, expires_at");
        let row = query.bind(&random::hash(link.expose())).optional(&mut change.tx).await?;
        let Some(row) = row else { return Ok(None) };
        let alive = row.time("expires_at")? > self.0.now();
        let user = users::id(&row.text("user_id")?)?;
        let session = match alive {
            true => Some(self.insert(&mut change, &user, lasting, "link").await?),
            false => None,
        };
        change.commit().await?;
        Ok(session)
    }

    /// Begins a session for somebody who has proved who they are.
    pub async fn begin(self, user: &UserId, lasting: Duration) -> Result<NewSession> {
        let mut change = Change::begin(self.0).await?;
        let session = self.insert(&mut change, user, lasting, "password").await?;
        change.commit().await?;
        Ok(session)
    }

    /// The session of this cookie, while it lasts.
    pub async fn session(self, cookie: &Secret) -> Result<Option<PageSession>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT user_id, expires_at FROM sessions WHERE hash = $1");
        let row = query.bind(&random::hash(cookie.expose())).optional(&mut tx).await?;
        drop(tx);
        let Some(row) = row else { return Ok(None) };
        let expires_at = row.time("expires_at")?;
        if expires_at <= self.0.now() {
            return Ok(None);
        }
        let user = self.0.users().get(&users::id(&row.text("user_id")?)?).await?;
        Ok(user.map(|user| PageSession { user, csrf: csrf(cookie), expires_at }))
    }

    /// Ends a session.
    pub async fn end(self, cookie: &Secret) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        let query = sql("DELETE FROM sessions WHERE hash = $1 OR expires_at <= $2");
        query.bind(&random::hash(cookie.expose())).bind(self.0.now()).run(&mut tx).await?;
        tx.commit().await
    }

    async fn insert(
        self,
        change: &mut Change<'_>,
        user: &UserId,
        lasting: Duration,
        way: &str,
    ) -> Result<NewSession> {
        let id = random::secret("sws_")?;
        let (now, expires_at) = (self.0.now(), self.0.now() + lasting);
        let over = sql("DELETE FROM sessions WHERE expires_at <= $1").bind(now);
        over.run(&mut change.tx).await?;
        let query = sql("INSERT INTO sessions (hash, user_id, created_at, expires_at)
             VALUES ($1, $2, $3, $4)");
        let query = query.bind(&random::hash(id.expose())).bind(user.as_str());
        query.bind(now).bind(expires_at).run(&mut change.tx).await?;
        let by = Actor { user: Some(user.clone()), ..Actor::default() };
        change.act(&by, "user.sign_in", To::User(user), json!({"way": way}));
        Ok(NewSession { csrf: csrf(&id), id, expires_at })
    }
}

/// Made from the session's id, so that it need not be kept: who has only the database has neither.
fn csrf(session: &Secret) -> Secret {
    let hash = Sha256::new().chain_update("switchboard csrf\0").chain_update(session.expose());
    Secret::new(URL_SAFE_NO_PAD.encode(hash.finalize()))
}
