//! What the hub proves itself with to servers: one credential a server and owner, sealed. Can be
//! read only here, for a connection; never shown.

mod target;

use std::time::SystemTime;

use serde_json::json;
use switchboard_model::{Auth, Secret, ServerKey, UserId};

use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Row, sql};
use crate::error::{Error, Result};
use crate::key::{parse_key, write_key};
use crate::store::Store;
use crate::topics::Topic;
use crate::{sealed, users};
pub use target::target_hash;

/// What kind of credential it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// A bearer token.
    Bearer,
    /// An API key.
    ApiKey,
    /// The tokens of an OAuth sign-in, as JSON.
    OAuth,
    /// The registration of an OAuth client, as JSON.
    OAuthClient,
}

impl CredentialKind {
    const ALL: [Self; 4] = [Self::Bearer, Self::ApiKey, Self::OAuth, Self::OAuthClient];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "bearer",
            Self::ApiKey => "api_key",
            Self::OAuth => "oauth",
            Self::OAuthClient => "oauth_client",
        }
    }

    /// The kind that a server wants of the store; none where its declaration leaves nothing to it.
    pub const fn wanted(auth: &Auth) -> Option<Self> {
        match auth {
            Auth::Bearer { token: None } => Some(Self::Bearer),
            Auth::ApiKey { key: None, .. } => Some(Self::ApiKey),
            Auth::None
            | Auth::Bearer { token: Some(_) }
            | Auth::ApiKey { key: Some(_), .. }
            | Auth::OAuth { .. } => None,
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// What is known about a credential; never the credential itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// For which server.
    pub server: ServerKey,
    /// Whose; nobody's own is everybody's.
    pub owner: Option<UserId>,
    /// What kind it is.
    pub kind: CredentialKind,
    /// Who issued it.
    pub issuer: Option<String>,
    /// For what.
    pub scopes: Option<String>,
    /// Until when it is good.
    pub expires_at: Option<SystemTime>,
    /// To where it was given; nothing until the first start after that began to count.
    pub target: Option<[u8; 32]>,
    /// When it was first set.
    pub created_at: SystemTime,
    /// When it was last set.
    pub updated_at: SystemTime,
    /// Counts its changes.
    pub revision: i64,
}

/// A credential to keep.
#[derive(Clone, Debug)]
pub struct NewCredential {
    /// What kind it is.
    pub kind: CredentialKind,
    /// The credential.
    pub value: Secret,
    /// Who issued it.
    pub issuer: Option<String>,
    /// For what.
    pub scopes: Option<String>,
    /// Until when it is good.
    pub expires_at: Option<SystemTime>,
    /// To where it is given, by [`target_hash`]: it is not for anywhere else.
    pub target: [u8; 32],
}

/// Credentials.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a>(pub(crate) &'a Store);

impl Credentials<'_> {
    /// Keeps a credential, over what was there.
    pub async fn set(
        self,
        server: &ServerKey,
        owner: Option<&UserId>,
        new: &NewCredential,
        by: &Actor,
    ) -> Result<()> {
        self.write(server, owner, new, None, by).await
    }

    /// Keeps a refreshed one, only if what was refreshed is still there.
    pub async fn replace(
        self,
        server: &ServerKey,
        owner: Option<&UserId>,
        new: &NewCredential,
        expected: i64,
    ) -> Result<()> {
        self.write(server, owner, new, Some(expected), &Actor::system()).await
    }

    /// The credential itself, with what is known about it.
    pub async fn get(
        self,
        server: &ServerKey,
        owner: Option<&UserId>,
    ) -> Result<Option<(Credential, Secret)>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT * FROM credentials WHERE server = $1 AND owner = $2");
        let row = query.bind(write_key(server)).bind(column(owner)).optional(&mut tx).await?;
        let Some(row) = row else { return Ok(None) };
        let id = id(server, owner);
        let value = self.0.vault().get_text(&mut tx, sealed::credential(&id)).await?;
        let value = value.ok_or_else(|| Error::malformed("credential", "its value is gone"))?;
        Ok(Some((read(&row)?, value)))
    }

    /// What is known about every credential.
    pub async fn list(self) -> Result<Vec<Credential>> {
        let mut tx = self.0.db().read().await?;
        let rows = sql("SELECT * FROM credentials ORDER BY server, owner").all(&mut tx).await?;
        rows.iter().map(read).collect()
    }

    /// Every secret that is kept, for the guard, which lets none of them leave.
    pub async fn every_secret(self) -> Result<Vec<Secret>> {
        let mut tx = self.0.db().read().await?;
        let slot = sealed::credential("");
        let opened = self.0.vault().all(&mut tx, slot.owner, slot.field).await?;
        let text =
            |bytes: &zeroize::Zeroizing<Vec<u8>>| std::str::from_utf8(bytes).ok().map(Secret::new);
        Ok(opened.values().filter_map(text).collect())
    }

    /// Says to where one was given that nobody said it of. No change that anybody is told of: it goes where it went.
    pub async fn bind(
        self,
        server: &ServerKey,
        owner: Option<&UserId>,
        target: &[u8; 32],
    ) -> Result<()> {
        let mut tx = self.0.db().begin().await?;
        let query = sql("UPDATE credentials SET target = $3
             WHERE server = $1 AND owner = $2 AND target IS NULL");
        query.bind(write_key(server)).bind(column(owner)).bind(target).run(&mut tx).await?;
        tx.commit().await
    }

    /// Forgets a credential. Whether there was one.
    pub async fn remove(
        self,
        server: &ServerKey,
        owner: Option<&UserId>,
        by: &Actor,
    ) -> Result<bool> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("DELETE FROM credentials WHERE server = $1 AND owner = $2");
        let query = query.bind(write_key(server)).bind(column(owner));
        if query.run(&mut change.tx).await? == 0 {
            return Ok(false);
        }
        self.0.vault().forget(&mut change.tx, "credentials", &id(server, owner)).await?;
        change.act(by, "credential.remove", To::Server(server), json!({"owner": column(owner)}));
        change.touch(Topic::Servers);
        change.commit().await?;
        Ok(true)
    }

    async fn write(
        self,
        server: &ServerKey,
        owner: Option<&UserId>,
        new: &NewCredential,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<()> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("INSERT INTO credentials
             (server, owner, kind, issuer, scopes, expires_at, created_at, updated_at, target, revision)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, 1)
             ON CONFLICT (server, owner) DO UPDATE SET kind = excluded.kind, issuer = excluded.issuer,
             scopes = excluded.scopes, expires_at = excluded.expires_at,
             updated_at = excluded.updated_at, target = excluded.target, revision = credentials.revision + 1
             RETURNING revision");
        let query = query.bind(write_key(server)).bind(column(owner)).bind(new.kind.as_str());
        let query = query.bind(new.issuer.clone()).bind(new.scopes.clone()).bind(new.expires_at);
        let query = query.bind(self.0.now()).bind(&new.target);
        let revision = query.one(&mut change.tx).await?.int("revision")?;
        let id = id(server, owner);
        if expected.is_some_and(|expected| expected + 1 != revision) {
            return Err(Error::Stale { what: "credential", id });
        }
        let value = new.value.expose().as_bytes();
        self.0.vault().put(&mut change.tx, sealed::credential(&id), value).await?;
        let detail = json!({"owner": column(owner), "kind": new.kind.as_str()});
        change.act(by, "credential.set", To::Server(server), detail).touch(Topic::Servers);
        change.commit().await
    }
}

/// Under which the vault keeps it.
pub(crate) fn id(server: &ServerKey, owner: Option<&UserId>) -> String {
    // Ids hold no space, so that no two are written alike.
    format!("{} {}", column(owner), write_key(server))
}

fn column(owner: Option<&UserId>) -> &str {
    owner.map_or("", UserId::as_str)
}

fn read(row: &Row) -> Result<Credential> {
    let owner = Some(row.text("owner")?).filter(|owner| !owner.is_empty());
    Ok(Credential {
        server: parse_key(&row.text("server")?)?,
        owner: owner.map(|owner| users::id(&owner)).transpose()?,
        kind: row.word("kind", CredentialKind::parse)?,
        issuer: row.get("issuer")?,
        scopes: row.get("scopes")?,
        expires_at: row.time_if("expires_at")?,
        target: row.get::<Option<Vec<u8>>>("target")?.map(|hash| bytes(&hash)).transpose()?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        revision: row.int("revision")?,
    })
}

fn bytes(hash: &[u8]) -> Result<[u8; 32]> {
    hash.try_into().map_err(|error| Error::malformed("credential", error))
}
