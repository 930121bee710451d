//! Bearer tokens of agents and of people. Only hashes are kept; a token can be read once, when it
//! is made.

use std::time::SystemTime;

use serde_json::json;
use switchboard_model::{AgentId, Secret, UserId};

use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Row, Tx, sql};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::topics::Topic;
use crate::{agents, random, users};

/// Whom a token stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An agent.
    Agent(AgentId),
    /// A person, at the command line or over REST.
    User(UserId),
}

/// What is known about a token; never the token itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id, for revoking it.
    pub id: String,
    /// What a person called it.
    pub name: String,
    /// Its first characters, to recognise it by.
    pub hint: String,
    /// Whom it stands for.
    pub subject: Subject,
    /// When it was made.
    pub created_at: SystemTime,
    /// Until when it is good.
    pub expires_at: Option<SystemTime>,
    /// Since when it is not, because somebody said so.
    pub revoked_at: Option<SystemTime>,
    /// When it was last used; written some seconds late.
    pub last_used: Option<SystemTime>,
}

/// A token that has just been made: the only time it can be read.
#[derive(Debug)]
pub struct NewToken {
    /// The token.
    pub secret: Secret,
    /// What is known about it.
    pub token: Token,
}

/// Bearer tokens.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'a>(pub(crate) &'a Store);

/// What tokens begin with, so that people and scanners recognise them.
const PREFIX: &str = "swb_";

impl Tokens<'_> {
    /// Makes a token.
    pub async fn create(
        self,
        subject: &Subject,
        name: &str,
        expires_at: Option<SystemTime>,
        by: &Actor,
    ) -> Result<NewToken> {
        let (id, secret) = (random::id("tok_")?, random::secret(PREFIX)?);
        let hint: String = secret.expose().chars().take(PREFIX.len() + 4).collect();
        let mut change = Change::begin(self.0).await?;
        let tx = &mut change.tx;
        exists(tx, subject).await?;
        let (user, agent) = match subject {
            Subject::User(user) => (Some(user.as_str()), None),
            Subject::Agent(agent) => (None, Some(agent.as_str())),
        };
        let query = sql("INSERT INTO tokens
             (id, hash, hint, name, user_id, agent_id, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
        let query = query.bind(&id).bind(&random::hash(secret.expose())).bind(hint).bind(name);
        query.bind(user).bind(agent).bind(self.0.now()).bind(expires_at).run(tx).await?;
        let to = match subject {
            Subject::User(user) => To::User(user),
            Subject::Agent(agent) => To::Agent(agent),
        };
        change.act(by, "token.create", to, json!({"token": id, "named": name}));
        change.touch(Topic::People);
        change.commit().await?;
        Ok(NewToken { secret, token: self.existing(&id).await? })
    }

    /// Makes it worthless. Again is no error.
    pub async fn revoke(self, id: &str, by: &Actor) -> Result<Token> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("UPDATE tokens SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1");
        if query.bind(id).bind(self.0.now()).run(&mut change.tx).await? == 0 {
            return Err(missing(id));
        }
        change.act(by, "token.revoke", To::Named(id), json!({})).touch(Topic::People);
        change.commit().await?;
        self.existing(id).await
    }

    /// What is known about a token.
    pub async fn get(self, id: &str) -> Result<Option<Token>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT id, name, hint, user_id, agent_id, created_at, expires_at, revoked_at, last_used
             FROM tokens WHERE id = $1");
        query.bind(id).optional(&mut tx).await?.as_ref().map(read).transpose()
    }

    /// Every token, the newest first.
    pub async fn list(self) -> Result<Vec<Token>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT id, name, hint, user_id, agent_id, created_at, expires_at, revoked_at, last_used
             FROM tokens ORDER BY created_at DESC, id");
        query.all(&mut tx).await?.iter().map(read).collect()
    }

    async fn existing(self, id: &str) -> Result<Token> {
        self.get(id).await?.ok_or_else(|| missing(id))
    }
}

/// Every token that is good, with its hash.
pub(crate) async fn good(tx: &mut Tx) -> Result<Vec<([u8; 32], Token)>> {
    let query = sql("SELECT hash, id, name, hint, user_id, agent_id, created_at, expires_at, revoked_at, last_used
         FROM tokens WHERE revoked_at IS NULL");
    query.all(tx).await?.iter().map(|row| Ok((row.hash("hash")?, read(row)?))).collect()
}

async fn exists(tx: &mut Tx, subject: &Subject) -> Result<()> {
    let (what, id, query) = match subject {
        Subject::User(id) => ("user", id.as_str(), sql("SELECT id FROM users WHERE id = $1")),
        Subject::Agent(id) => ("agent", id.as_str(), sql("SELECT id FROM agents WHERE id = $1")),
    };
    match query.bind(id).optional(tx).await? {
        Some(_) => Ok(()),
        None => Err(Error::NotFound { what, id: id.to_owned() }),
    }
}

fn read(row: &Row) -> Result<Token> {
    let (user, agent): (Option<String>, Option<String>) =
        (row.get("user_id")?, row.get("agent_id")?);
    let subject = match (user, agent) {
        (Some(user), _) => Subject::User(users::id(&user)?),
        (None, Some(agent)) => Subject::Agent(agents::id(&agent)?),
        (None, None) => return Err(Error::malformed("token", "it is nobody's")),
    };
    Ok(Token {
        id: row.text("id")?,
        name: row.text("name")?,
        hint: row.text("hint")?,
        subject,
        created_at: row.time("created_at")?,
        expires_at: row.time_if("expires_at")?,
        revoked_at: row.time_if("revoked_at")?,
        last_used: row.time_if("last_used")?,
    })
}

fn missing(id: &str) -> Error {
    Error::NotFound { what: "token", id: id.to_owned() }
}
