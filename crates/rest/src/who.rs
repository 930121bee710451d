//! Who asks: by a bearer token, by the cookie of the page, or through the hub's own socket. Answers
//! who it is; whether they may is the gate's and the operations' to say.

use axum::http::{HeaderMap, header};
use switchboard_core::port::Who;
use switchboard_model::{AgentId, CallOrigin, Scope, Secret, ServerKey, UserId};
use switchboard_store::{Actor, PageSession, Role, Store};

use crate::error::Result;

/// The cookie of a session on the page. The prefix makes browsers refuse it from other hosts and
/// without protection.
pub(crate) const COOKIE: &str = "__Host-switchboard";

/// Whoever asks.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The person it counts for.
    pub user: UserId,
    /// What they may.
    pub role: Role,
    /// The agent, if it is one that asks; it is never more than itself, whoever owns it.
    pub agent: Option<AgentId>,
    /// The door.
    pub origin: CallOrigin,
}

/// Marks requests that came through the hub's own socket, which only its own user can open: they are
/// an administrator's.
#[derive(Clone, Debug)]
pub struct Local(pub UserId);

/// By what somebody is known.
pub(crate) enum Known {
    /// A token, or the socket: nobody else can make them send it.
    Sure(Caller),
    /// A cookie, which a browser sends whether its user wants or not.
    Cookie(Caller, Box<PageSession>),
}

impl Caller {
    /// For the audit log.
    pub fn actor(&self) -> Actor {
        Actor {
            user: Some(self.user.clone()),
            agent: self.agent.clone(),
            origin: Some(self.origin),
            ..Actor::default()
        }
    }

    /// For calls.
    pub fn who(&self) -> Who {
        match &self.agent {
            Some(agent) => Who::agent(agent.clone(), Some(self.user.clone())),
            None => Who::user(self.user.clone()),
        }
    }

    /// Whether they may do anything.
    pub fn is_administrator(&self) -> bool {
        self.agent.is_none() && self.role == Role::Administrator
    }

    /// Whether a server is theirs to see: their own, their agents', and everybody's.
    pub fn sees(&self, server: &ServerKey, store: &Store) -> bool {
        match &server.scope {
            Scope::Global => true,
            _ if self.is_administrator() => true,
            Scope::User(user) => *user == self.user,
            Scope::Agent(agent) => self.owns(agent, store),
        }
    }

    /// Whether an agent is theirs.
    pub fn owns(&self, agent: &AgentId, store: &Store) -> bool {
        match &self.agent {
            Some(own) => own == agent,
            None => store.access().agent(agent).is_some_and(|agent| agent.owner == self.user),
        }
    }

    /// Whether a server is theirs to change.
    pub fn may_change(&self, server: &ServerKey, store: &Store) -> bool {
        match &server.scope {
            _ if self.agent.is_some() => false,
            _ if self.is_administrator() => true,
            Scope::Global => false,
            Scope::User(user) => *user == self.user,
            Scope::Agent(agent) => self.owns(agent, store),
        }
    }
}

/// Who sent these headers, if that can be told. A bad token is nobody, whatever cookie is beside it.
pub(crate) async fn identify(headers: &HeaderMap, store: &Store) -> Result<Option<Known>> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let token = value.to_str().ok().and_then(bearer);
        let known = token.and_then(|token| store.access().identify(&Secret::new(token)));
        let Some(known) = known else { return Ok(None) };
        if known.agent.as_ref().is_some_and(|agent| !agent.spec.enabled) {
            return Ok(None);
        }
        return Ok(Some(Known::Sure(Caller {
            user: known.user.id.clone(),
            role: known.user.role,
            agent: known.agent.map(|agent| agent.id.clone()),
            origin: CallOrigin::Rest,
        })));
    }
    let Some(cookie) = cookie(headers) else { return Ok(None) };
    let session = store.sign_in().session(&cookie).await?;
    Ok(session.map(|session| {
        let (user, role) = (session.user.id.clone(), session.user.role);
        let caller = Caller { user, role, agent: None, origin: CallOrigin::Page };
        Known::Cookie(caller, Box::new(session))
    }))
}

/// What the cookie of the page holds.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<Secret> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| name.trim() == COOKIE).map(|(_, value)| Secret::new(value.trim()))
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}
