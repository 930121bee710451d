//! A token as the API shows it: never the token itself, except once, when it is made.

use serde::Serialize;
use switchboard_store::{NewToken, Subject, Token};
use utoipa::ToSchema;

use super::time::time;

/// What is known about a token.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenView {
    /// Its id, for revoking it.
    pub(crate) id: String,
    /// What a person called it.
    pub(crate) name: String,
    /// Its first characters, to recognise it by.
    pub(crate) hint: String,
    /// The agent it stands for.
    pub(crate) agent: Option<String>,
    /// The person it stands for.
    pub(crate) user: Option<String>,
    /// When it was made.
    pub(crate) created_at: String,
    /// Until when it is good.
    pub(crate) expires_at: Option<String>,
    /// Since when it is not, because somebody said so.
    pub(crate) revoked_at: Option<String>,
    /// When it was last used; some seconds late.
    pub(crate) last_used: Option<String>,
}

/// A token that has just been made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NewTokenView {
    /// The token: this is the only time it can be read.
    pub(crate) secret: String,
    /// What is known about it.
    pub(crate) token: TokenView,
}

impl From<&Token> for TokenView {
    fn from(token: &Token) -> Self {
        let (agent, user) = match &token.subject {
            Subject::Agent(agent) => (Some(agent.to_string()), None),
            Subject::User(user) => (None, Some(user.to_string())),
        };
        Self {
            id: token.id.clone(),
            name: token.name.clone(),
            hint: token.hint.clone(),
            agent,
            user,
            created_at: time(token.created_at),
            expires_at: token.expires_at.map(time),
            revoked_at: token.revoked_at.map(time),
            last_used: token.last_used.map(time),
        }
    }
}

impl From<&NewToken> for NewTokenView {
    fn from(new: &NewToken) -> Self {
        Self { secret: new.secret.expose().to_owned(), token: TokenView::from(&new.token) }
    }
}
