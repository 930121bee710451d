//! Calls that wait for a person's answer. They survive a restart, expire, and bind to the hash of
//! their arguments, which are sealed.

use std::time::SystemTime;

use serde_json::json;
use switchboard_model::{AgentId, CallOrigin, Secret, ServerKey, UserId};

use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Row, sql};
use crate::error::{Error, Result};
use crate::key::{parse_key, write_key};
use crate::store::Store;
use crate::topics::Topic;
use crate::{agents, random, sealed, users};

/// What a call asks for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Whose call it is.
    pub user: UserId,
    /// Which agent's.
    pub agent: Option<AgentId>,
    /// In which session, for an answer that lasts as long.
    pub session: Option<String>,
    /// Which server.
    pub server: ServerKey,
    /// Which tool, by the server's own name.
    pub tool: String,
    /// Through which door it came.
    pub origin: CallOrigin,
    /// Why it asks.
    pub reason: String,
    /// The arguments, to be shown as they are.
    pub arguments: Secret,
    /// Until when it waits.
    pub expires_at: SystemTime,
}

/// A call that asked.
#[derive(Clone, Debug)]
pub struct Approval {
    /// Its id.
    pub id: String,
    /// What it asks for.
    pub asked: Asked,
    /// Of the arguments.
    pub arguments_hash: [u8; 32],
    /// Where it stands.
    pub state: ApprovalState,
    /// Since when it waits.
    pub created_at: SystemTime,
    /// Who answered, and when.
    pub answered: Option<(String, SystemTime)>,
}

/// What a person may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This call.
    Once,
    /// Until the session ends.
    Session,
    /// From now on; a rule is written.
    Always,
    /// No.
    Deny,
}

/// Where a call that asked stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// It waits.
    Pending,
    /// It was answered.
    Answered(Answer),
    /// Nobody answered in time.
    Expired,
}

impl ApprovalState {
    const ALL: [Self; 6] = [
        Self::Pending,
        Self::Answered(Answer::Once),
        Self::Answered(Answer::Session),
        Self::Answered(Answer::Always),
        Self::Answered(Answer::Deny),
        Self::Expired,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Answered(Answer::Once) => "once",
            Self::Answered(Answer::Session) => "session",
            Self::Answered(Answer::Always) => "always",
            Self::Answered(Answer::Deny) => "deny",
            Self::Expired => "expired",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// Calls that wait for an answer.
#[derive(Clone, Copy, Debug)]
pub struct Approvals<'a>(pub(crate) &'a Store);

impl Approvals<'_> {
    /// Writes the question down; its id.
    pub async fn ask(self, asked: &Asked) -> Result<String> {
        let id = random::id("apr_")?;
        let mut change = Change::begin(self.0).await?;
        let query = sql("INSERT INTO approvals (id, user_id, agent, session, server, tool, origin,
             args_hash, reason, state, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10, $11)");
        let query = query.bind(&id).bind(asked.user.as_str());
        let query =
            query.bind(asked.agent.as_ref().map(AgentId::as_str)).bind(asked.session.clone());
        let query =
            query.bind(write_key(&asked.server)).bind(&asked.tool).bind(asked.origin.as_str());
        let query = query.bind(&random::hash(asked.arguments.expose())).bind(&asked.reason);
        query.bind(self.0.now()).bind(asked.expires_at).run(&mut change.tx).await?;
        let arguments = asked.arguments.expose().as_bytes();
        self.0.vault().put(&mut change.tx, sealed::arguments(&id), arguments).await?;
        change.touch(Topic::Approvals);
        change.commit().await?;
        Ok(id)
    }

    /// Answers, once. Too late, or a second time, it is refused.
    pub async fn answer(self, id: &str, answer: Answer, by: &Actor) -> Result<Approval> {
        let state = ApprovalState::Answered(answer);
        let mut change = Change::begin(self.0).await?;
        let query = sql("UPDATE approvals SET state = $2, answered_at = $3, answered_by = $4
             WHERE id = $1 AND state = 'pending' AND expires_at > $3 RETURNING server, tool");
        let query = query.bind(id).bind(state.as_str()).bind(self.0.now()).bind(by.name());
        let Some(row) = query.optional(&mut change.tx).await? else {
            drop(change);
            return Err(match self.get(id).await? {
                Some(_) => Error::Refused("it was answered already, or it is too late"),
                None => missing(id),
            });
        };
        let server = parse_key(&row.text("server")?)?;
        let detail = json!({"approval": id, "answer": state.as_str(), "tool": row.text("tool")?});
        change.act(by, "approval.answer", To::Server(&server), detail).touch(Topic::Approvals);
        change.commit().await?;
        self.get(id).await?.ok_or_else(|| missing(id))
    }

    /// One, with its arguments.
    pub async fn get(self, id: &str) -> Result<Option<Approval>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT * FROM approvals WHERE id = $1").bind(id);
        let Some(row) = query.optional(&mut tx).await? else { return Ok(None) };
        let arguments = self.0.vault().get_text(&mut tx, sealed::arguments(id)).await?;
        self.read(&row, arguments.unwrap_or_default()).map(Some)
    }

    /// Those that wait, of one person or of all, the oldest first.
    pub async fn pending(self, user: Option<&UserId>) -> Result<Vec<Approval>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT * FROM approvals WHERE state = 'pending' AND expires_at > $1
             AND ($2 IS NULL OR user_id = $2) ORDER BY created_at, id");
        let rows = query.bind(self.0.now()).bind(user.map(UserId::as_str)).all(&mut tx).await?;
        let mut pending = Vec::with_capacity(rows.len());
        for row in rows {
            let id = row.text("id")?;
            let arguments = self.0.vault().get_text(&mut tx, sealed::arguments(&id)).await?;
            pending.push(self.read(&row, arguments.unwrap_or_default())?);
        }
        Ok(pending)
    }

    /// Closes those that nobody answered in time, and forgets what is older than `keep_since`.
    pub async fn expire(self, keep_since: SystemTime) -> Result<u64> {
        let mut change = Change::begin(self.0).await?;
        let query = sql(
            "UPDATE approvals SET state = 'expired' WHERE state = 'pending' AND expires_at <= $1",
        );
        let expired = query.bind(self.0.now()).run(&mut change.tx).await?;
        let query =
            sql("DELETE FROM approvals WHERE state <> 'pending' AND expires_at < $1 RETURNING id");
        for row in query.bind(keep_since).all(&mut change.tx).await? {
            self.0.vault().forget(&mut change.tx, "approvals", &row.text("id")?).await?;
        }
        if expired > 0 {
            change.touch(Topic::Approvals);
        }
        change.commit().await?;
        Ok(expired)
    }

    fn read(&self, row: &Row, arguments: Secret) -> Result<Approval> {
        let agent: Option<String> = row.get("agent")?;
        let by: Option<String> = row.get("answered_by")?;
        let origin =
            |word: &str| CallOrigin::ALL.into_iter().find(|origin| origin.as_str() == word);
        let expires_at = row.time("expires_at")?;
        let state = match row.word("state", ApprovalState::parse)? {
            ApprovalState::Pending if expires_at <= self.0.now() => ApprovalState::Expired,
            state => state,
        };
        Ok(Approval {
            id: row.text("id")?,
            arguments_hash: row.hash("args_hash")?,
            state,
            created_at: row.time("created_at")?,
            answered: by.zip(row.time_if("answered_at")?),
            asked: Asked {
                user: users::id(&row.text("user_id")?)?,
                agent: agent.map(|agent| agents::id(&agent)).transpose()?,
                session: row.get("session")?,
                server: parse_key(&row.text("server")?)?,
                tool: row.text("tool")?,
                origin: row.word("origin", origin)?,
                reason: row.text("reason")?,
                arguments,
                expires_at,
            },
        })
    }
}

fn missing(id: &str) -> Error {
    Error::NotFound { what: "approval", id: id.to_owned() }
}
