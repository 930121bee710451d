//! The fields of a task, in both eras' forms. Never runs one.

use std::borrow::Cow;

use crate::json::Json;
use crate::types::Missing;

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// `working`
    Working,
    /// `input_required`
    InputRequired,
    /// `completed`
    Completed,
    /// `failed`
    Failed,
    /// `cancelled`
    Cancelled,
}

impl TaskStatus {
    /// The status of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "working" => Self::Working,
            "input_required" => Self::InputRequired,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            _ => return None,
        })
    }

    /// Whether nothing will change any more.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// A task as a result or a notification shows it.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// All of it, as it came.
    pub raw: Json<'a>,
    /// Its id.
    pub id: Cow<'a, str>,
    /// Where it stands; `None` is a status that nobody knows.
    pub status: Option<TaskStatus>,
    /// For how many milliseconds it is kept; `None` is without end, or unsaid.
    pub ttl_ms: Option<u64>,
    /// How many milliseconds to wait between two looks at it.
    pub poll_ms: Option<u64>,
}

impl<'a> Task<'a> {
    /// Reads it: flat as in the tasks extension, or under `task` as revision 2025-11-25 creates it.
    pub fn read(from: Json<'a>) -> Result<Self, Missing> {
        let nested = from.get("task").filter(|task| task.is_object());
        let raw = nested.unwrap_or(from);
        let number = |keys: [&str; 2]| {
            let found = keys.into_iter().find_map(|key| raw.get(key)?.integer());
            found.and_then(|number| u64::try_from(number).ok())
        };
        let status = raw.get("status").and_then(Json::string);
        Ok(Self {
            raw,
            id: raw.get("taskId").and_then(Json::string).ok_or(Missing("taskId"))?,
            status: status.and_then(|status| TaskStatus::parse(&status)),
            ttl_ms: number(["ttlMs", "ttl"]),
            poll_ms: number(["pollIntervalMs", "pollInterval"]),
        })
    }
}
