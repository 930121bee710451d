//! A row of the audit log: a call, or an administrative act. Never holds values of arguments unless
//! whoever records it put them there.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use switchboard_model::{AgentId, CallOrigin, Decision, Outcome, ServerKey, UserId};

use super::line::Line;
use super::words::Words;
use crate::actor::Actor;
use crate::db::from_millis;
use crate::error::Result;
use crate::key::parse_key;
use crate::{agents, users};

/// What the action of a tool call is called.
pub const CALL: &str = "mcp_tool_call";

/// Something that is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: SystemTime,
    /// What: `mcp_tool_call`, `server.create`, ….
    pub action: Cow<'static, str>,
    /// Where it was done: `mcp:{server}` for a call, else `switchboard`.
    pub source: String,
    /// Who.
    pub user: Option<UserId>,
    /// Which agent.
    pub agent: Option<AgentId>,
    /// Which server.
    pub server: Option<ServerKey>,
    /// Which tool.
    pub tool: Option<String>,
    /// Through which door.
    pub origin: Option<CallOrigin>,
    /// What the policy said.
    pub decision: Option<Decision>,
    /// How it ended; none if it never began.
    pub outcome: Option<Outcome>,
    /// How long it took.
    pub duration: Option<Duration>,
    /// Bytes of the arguments.
    pub bytes_in: Option<u64>,
    /// Bytes of the result.
    pub bytes_out: Option<u64>,
    /// The trace it belongs to.
    pub trace: Option<String>,
    /// The rest, such as the shape of the arguments. Nothing secret.
    pub detail: Option<Value>,
}

/// A row of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Its number.
    pub seq: i64,
    /// What it says. Words that this version does not know are missing from it.
    pub entry: Entry,
}

impl Entry {
    /// An administrative act.
    pub fn act(at: SystemTime, by: &Actor, action: impl Into<Cow<'static, str>>) -> Self {
        Self {
            at,
            action: action.into(),
            source: "switchboard".to_owned(),
            user: by.user.clone(),
            agent: by.agent.clone(),
            server: None,
            tool: None,
            origin: by.origin,
            decision: None,
            outcome: None,
            duration: None,
            bytes_in: None,
            bytes_out: None,
            trace: by.trace.clone(),
            detail: None,
        }
    }
}

impl AuditRow {
    pub(super) fn read(seq: i64, line: Line, words: &Words) -> Result<Self> {
        let [action, source, user, agent, server, tool, origin, decision, outcome] = words.split();
        let [duration, bytes_in, bytes_out] = line.numbers;
        let entry = Entry {
            at: from_millis(line.at),
            action: action.unwrap_or_default().into(),
            source: source.unwrap_or_default(),
            user: user.map(|id| users::id(&id)).transpose()?,
            agent: agent.map(|id| agents::id(&id)).transpose()?,
            server: server.map(|key| parse_key(&key)).transpose()?,
            tool,
            origin: word(origin, &CallOrigin::ALL, |origin| origin.as_str()),
            decision: word(decision, &Decision::ALL, |decision| decision.as_str()),
            outcome: word(outcome, &OUTCOMES, |outcome| outcome.as_str()),
            duration: duration.map(Duration::from_micros),
            bytes_in,
            bytes_out,
            trace: line.trace,
            detail: line.detail,
        };
        Ok(Self { seq, entry })
    }
}

const OUTCOMES: [Outcome; 6] = [
    Outcome::Done,
    Outcome::ToolError,
    Outcome::Refused,
    Outcome::TimedOut,
    Outcome::Cancelled,
    Outcome::Lost,
];

fn word<T: Copy>(text: Option<String>, all: &[T], name: fn(T) -> &'static str) -> Option<T> {
    let text = text?;
    all.iter().copied().find(|one| name(*one) == text)
}
