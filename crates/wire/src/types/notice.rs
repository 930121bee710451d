//! The notifications that go with a call: progress, cancellation, log messages. Never delivers one.

use std::borrow::Cow;

use crate::id::Id;
use crate::json::Json;
use crate::types::Missing;

/// `notifications/progress`
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// The token of the request that proceeds.
    pub token: Id<'a>,
    /// How far it is.
    pub progress: Option<f64>,
    /// How far it has to go.
    pub total: Option<f64>,
    /// What it is at.
    pub message: Option<Cow<'a, str>>,
}

impl<'a> Progress<'a> {
    /// Reads it; without a token it belongs to nothing.
    pub fn read(params: Json<'a>) -> Result<Self, Missing> {
        let token = params.get("progressToken").and_then(Id::parse);
        Ok(Self {
            token: token.ok_or(Missing("progressToken"))?,
            progress: params.get("progress").and_then(Json::number),
            total: params.get("total").and_then(Json::number),
            message: params.get("message").and_then(Json::string_lossy),
        })
    }
}

/// `notifications/cancelled`
#[derive(Clone, Debug)]
pub struct Cancelled<'a> {
    /// The request that is no longer wanted.
    pub request_id: Id<'a>,
    /// Why.
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> Cancelled<'a> {
    /// Reads it; without an id it cancels nothing.
    pub fn read(params: Json<'a>) -> Result<Self, Missing> {
        let id = params.get("requestId").and_then(Id::parse);
        Ok(Self {
            request_id: id.ok_or(Missing("requestId"))?,
            reason: params.get("reason").and_then(Json::string_lossy),
        })
    }
}

/// How bad it is; worse is greater (RFC 5424).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogLevel {
    /// `debug`
    Debug,
    /// `info`
    Info,
    /// `notice`
    Notice,
    /// `warning`
    Warning,
    /// `error`
    Error,
    /// `critical`
    Critical,
    /// `alert`
    Alert,
    /// `emergency`
    Emergency,
}

impl LogLevel {
    /// All, mildest first, with their names.
    const NAMES: [(Self, &'static str); 8] = [
        (Self::Debug, "debug"),
        (Self::Info, "info"),
        (Self::Notice, "notice"),
        (Self::Warning, "warning"),
        (Self::Error, "error"),
        (Self::Critical, "critical"),
        (Self::Alert, "alert"),
        (Self::Emergency, "emergency"),
    ];

    /// The level of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(_, known)| *known == name).map(|(level, _)| level)
    }

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        Self::NAMES[self as usize].1
    }
}

/// `notifications/message`
#[derive(Clone, Debug)]
pub struct LogMessage<'a> {
    /// How bad it is.
    pub level: LogLevel,
    /// Who says so.
    pub logger: Option<Cow<'a, str>>,
    /// What there is to say: any JSON.
    pub data: Json<'a>,
}

impl<'a> LogMessage<'a> {
    /// Reads it; a level that nobody knows makes it no log message.
    pub fn read(params: Json<'a>) -> Result<Self, Missing> {
        let level = params.get("level").and_then(Json::string);
        Ok(Self {
            level: level.and_then(|level| LogLevel::parse(&level)).ok_or(Missing("level"))?,
            logger: params.get("logger").and_then(Json::string_lossy),
            data: params.get("data").unwrap_or(Json::NULL),
        })
    }
}
