//! Answers as bytes: good ones around payloads that are copied once, bad ones from what went
//! wrong, in the words of the era. Never decides what the answer is.

use std::time::Duration;

use bytes::Bytes;
use switchboard_core::port::{CallError, Delivery, Thing};
use switchboard_core::registry::ListPage;
use switchboard_model::ServerKey;
use switchboard_wire::code::{self, Raised};
use switchboard_wire::output::Giver;
use switchboard_wire::{
    Edit, Era, Id, Json, JsonBuf, Revision, meta, method, output, rewrite, write,
};

use crate::options::{Identity, Limits};

/// Above this, the entries of a list are sent as they lie instead of being copied.
const SHARED: usize = 16 * 1024;

/// An answer, and the status that it has over HTTP.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Body,
}

/// The bytes of an answer.
pub(crate) enum Body {
    /// In one piece.
    Whole(Bytes),
    /// A head of its own, entries that all share, and a tail.
    Pieces([Bytes; 3]),
}

impl Body {
    /// Bytes in all.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Pieces(pieces) => pieces.iter().map(Bytes::len).sum(),
        }
    }

    /// In one piece, whatever it was.
    pub(crate) fn joined(self) -> Bytes {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Pieces(pieces) => pieces.concat().into(),
        }
    }
}

impl Reply {
    fn ok(body: Vec<u8>) -> Self {
        Self { status: 200, body: Body::Whole(body.into()) }
    }

    /// A refusal before anybody worked on the request.
    pub(crate) fn refused(
        id: Option<Id<'_>>,
        code: i64,
        text: &str,
        data: Option<Json<'_>>,
    ) -> Self {
        let mut out = Vec::with_capacity(128);
        write::error(&mut out, id, code, text, data);
        let status = code::http_status(code, Raised::AtTheGate);
        Self { status, body: Body::Whole(out.into()) }
    }

    /// The same with a status of its own.
    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }
}

/// What a list of the stateless era ends with.
fn list_end(info: &JsonBuf, ttl_ms: i64) -> Box<[u8]> {
    let end = write::object(|end| {
        end.text("resultType", "complete");
        end.integer("ttlMs", ttl_ms);
        end.text("cacheScope", "private");
        end.object(meta::META, |meta| meta.raw(meta::SERVER_INFO, info.as_json()));
    });
    end.as_json().as_bytes()[1..].into()
}

/// What is said of a call that was ended.
const ENDED: &str = "The session has ended, or the hub is stopping, before this call was answered. It may have \
                     been carried out: check before you repeat it.";

/// Writes answers: what is the same for all is made once.
pub(crate) struct Scribe {
    /// `serverInfo`.
    pub(crate) info: JsonBuf,
    /// What a list of the stateless era ends with.
    list_end: Box<[u8]>,
    giver: Giver,
    complete: JsonBuf,
    private: JsonBuf,
    zero: JsonBuf,
    ttl_ms: i64,
}

impl Scribe {
    pub(crate) fn new(identity: &Identity, limits: &Limits) -> Self {
        let info = write::object(|info| {
            info.text("name", &identity.name);
            info.text("version", &identity.version);
        });
        let ttl_ms = i64::try_from(limits.list_ttl.as_millis()).unwrap_or(i64::MAX);
        let part = |key: &'static str, write: fn(&mut write::Object<'_>)| {
            let whole = write::object(write);
            whole.as_json().get(key).map_or_else(|| Json::NULL.into(), JsonBuf::from)
        };
        Self {
            list_end: list_end(&info, ttl_ms),
            giver: Giver::new(info.clone()),
            complete: part("x", |x| x.text("x", "complete")),
            private: part("x", |x| x.text("x", "private")),
            zero: part("x", |x| x.integer("x", 0)),
            info,
            ttl_ms,
        }
    }

    /// A page of a list.
    pub(crate) fn page(
        &self,
        id: Id<'_>,
        era: Era,
        (list, holds): (&'static str, Option<Duration>),
        page: &ListPage,
    ) -> Reply {
        let mut head = Vec::with_capacity(64);
        let _ = write::result_with(&mut head, id, |out| {
            out.extend_from_slice(b"{\"");
            out.extend_from_slice(list.as_bytes());
            out.extend_from_slice(b"\":");
            Ok::<_, std::convert::Infallible>(())
        });
        // The end of the envelope belongs behind the entries.
        head.pop();
        let mut tail = Vec::with_capacity(self.list_end.len() + 64);
        if let Some(next) = &page.next {
            tail.extend_from_slice(b",\"nextCursor\":");
            write::string(&mut tail, next);
        }
        match era {
            Era::Session => tail.push(b'}'),
            Era::Stateless => {
                tail.push(b',');
                match self.ttl(holds) {
                    ttl if ttl < self.ttl_ms => tail.extend_from_slice(&list_end(&self.info, ttl)),
                    _ => tail.extend_from_slice(&self.list_end),
                }
            }
        }
        tail.push(b'}');
        let entries = page.entries.clone().into_bytes();
        if entries.len() >= SHARED {
            return Reply { status: 200, body: Body::Pieces([head.into(), entries, tail.into()]) };
        }
        head.reserve(entries.len() + tail.len());
        head.extend_from_slice(&entries);
        head.extend_from_slice(&tail);
        Reply::ok(head)
    }

    /// What is said to hold for no longer than `holds`, nor than anything here.
    fn ttl(&self, holds: Option<Duration>) -> i64 {
        let holds = holds.and_then(|holds| i64::try_from(holds.as_millis()).ok());
        holds.map_or(self.ttl_ms, |holds| holds.min(self.ttl_ms))
    }

    /// A result of a call, as it came; towards the stateless era, with what that era wants said.
    pub(crate) fn result(&self, id: Id<'_>, era: Era, method: &str, result: Json<'_>) -> Reply {
        let mut out = Vec::with_capacity(result.as_bytes().len() + 256);
        if era == Era::Session {
            write::result(&mut out, id, result);
            return Reply::ok(out);
        }
        let written = write::result_with(&mut out, id, |out| {
            if method != method::RESOURCES_READ || !is_complete(result) {
                return self.giver.give(out, result);
            }
            let info = [Edit::set(meta::SERVER_INFO, self.info.as_json())];
            let edits = [
                Edit::default("resultType", self.complete.as_json()),
                Edit::inside(meta::META, &info),
                Edit::default("ttlMs", self.zero.as_json()),
                Edit::set("cacheScope", self.private.as_json()),
            ];
            rewrite::edit(out, result, &edits)
        });
        match written {
            Ok(()) => Reply::ok(out),
            Err(repeated) => {
                let text = format!("the server's result cannot be passed on: {repeated}");
                Reply::refused(Some(id), code::INTERNAL_ERROR, &text, None).with_status(200)
            }
        }
    }

    /// Who we are and what is here: the answer to `initialize`.
    pub(crate) fn initialized(
        &self,
        id: Id<'_>,
        revision: Revision,
        capabilities: Json<'_>,
        instructions: Option<&str>,
    ) -> Reply {
        let result = write::object(|result| {
            result.text("protocolVersion", revision.as_str());
            result.raw("capabilities", capabilities);
            result.raw("serverInfo", self.info.as_json());
            if let Some(instructions) = instructions {
                result.text("instructions", instructions);
            }
        });
        self.result(id, Era::Session, method::INITIALIZE, result.as_json())
    }

    /// The same in the stateless era.
    pub(crate) fn discovered(
        &self,
        id: Id<'_>,
        capabilities: Json<'_>,
        (instructions, holds): (Option<&str>, Option<Duration>),
    ) -> Reply {
        let result = write::object(|result| {
            result.text("resultType", "complete");
            result.texts("supportedVersions", Revision::supported());
            result.raw("capabilities", capabilities);
            if let Some(instructions) = instructions {
                result.text("instructions", instructions);
            }
            result.integer("ttlMs", self.ttl(holds));
            result.text("cacheScope", "private");
        });
        self.result(id, Era::Stateless, method::DISCOVER, result.as_json())
    }

    /// That a call was ended by the end of its session, or of the hub.
    pub(crate) fn ended(&self, id: Id<'_>, era: Era, method: &str) -> Reply {
        if method == method::TOOLS_CALL {
            return self.result(id, era, method, output::error_result(ENDED).as_json());
        }
        Reply::refused(Some(id), code::INTERNAL_ERROR, ENDED, None).with_status(200)
    }

    /// Why a call has no result, as whoever called can act upon it. Whose fault it may be is named: of a client's
    /// servers, and of the requests that it has under way, this is one of many.
    pub(crate) fn failure(
        &self,
        id: Id<'_>,
        era: Era,
        method: &str,
        (error, server): (&CallError, Option<&ServerKey>),
        missing: Option<&JsonBuf>,
    ) -> Reply {
        if let (Era::Stateless, CallError::Rpc(_), Some(missing)) = (era, error, missing) {
            return lacking(id, missing);
        }
        if let CallError::Rpc(error) = error {
            let mut out = Vec::with_capacity(64 + error.raw.as_json().as_bytes().len());
            match (era, error.code) {
                // The code that an older server gives has another name since.
                (Era::Stateless, code::RESOURCE_NOT_FOUND) if method == method::RESOURCES_READ => {
                    let code = code::INVALID_PARAMS;
                    write::error(&mut out, Some(id), code, &error.message, error.data());
                }
                _ => write::error_raw(&mut out, Some(id), error.raw.as_json()),
            }
            let status = match era {
                Era::Session => 200,
                Era::Stateless => code::http_status(error.code, Raised::InTheCall),
            };
            return Reply { status, body: Body::Whole(out.into()) };
        }
        let (code, data) = match error {
            CallError::NotFound { thing: Thing::Resource | Thing::Result, name: uri }
            | CallError::Ambiguous { uri } => {
                let code = match era {
                    Era::Session => code::RESOURCE_NOT_FOUND,
                    Era::Stateless => code::INVALID_PARAMS,
                };
                (code, Some(write::object(|data| data.text("uri", uri))))
            }
            CallError::NotFound { .. }
            | CallError::TooLong { .. }
            | CallError::Lacks(_)
            | CallError::Params(_) => (code::INVALID_PARAMS, None),
            CallError::NoMethod(_) => (code::METHOD_NOT_FOUND, None),
            _ if method == method::TOOLS_CALL => {
                let result = output::error_result(&advice(error, server));
                return self.result(id, era, method, result.as_json());
            }
            _ => (code::INTERNAL_ERROR, None),
        };
        let text = advice(error, server);
        let mut out = Vec::with_capacity(128);
        write::error(&mut out, Some(id), code, &text, data.as_ref().map(JsonBuf::as_json));
        Reply::ok(out)
    }
}

/// The client did not declare what the call needs.
pub(crate) fn lacking(id: Id<'_>, missing: &JsonBuf) -> Reply {
    let data = write::object(|data| data.raw("requiredCapabilities", missing.as_json()));
    let text = "Missing required client capability";
    Reply::refused(Some(id), code::MISSING_CLIENT_CAPABILITY, text, Some(data.as_json()))
}

/// Whether nothing is asked back.
fn is_complete(result: Json<'_>) -> bool {
    use switchboard_wire::peek::{ResultType, result_type};
    result_type(result) == ResultType::Complete
}

/// What happened, and what to do next, for a model.
fn advice(error: &CallError, server: Option<&ServerKey>) -> String {
    let next = match error {
        CallError::NotFound { thing: Thing::Tool, .. } => "List the tools again.",
        CallError::TimedOut { .. } => {
            "It may still have been carried out: check before you repeat it."
        }
        CallError::Lost { delivery: Delivery::Perhaps, .. } => {
            "The server is being reconnected. The call may have been carried out: check before you \
             repeat it."
        }
        CallError::Lost { delivery: Delivery::No, .. } => {
            "The server is being reconnected. The call was not carried out: repeat it in a moment."
        }
        CallError::NotConnected { .. } => {
            "The call was not carried out. Go on without this server, or repeat it later."
        }
        CallError::Busy { .. } | CallError::Throttled { .. } => {
            "The call was not carried out: repeat it later."
        }
        CallError::Denied { .. } | CallError::Blocked { .. } => {
            "Do not repeat it unchanged; tell the user, or find another way."
        }
        CallError::Unknown => "List the tools again.",
        CallError::Unauthorized { .. } => {
            "Tell the user that this server needs to be signed in to."
        }
        _ => return sentence(error, server),
    };
    format!("{} {next}", sentence(error, server))
}

/// Whether it is told with the name of the server that the call was for.
pub(crate) fn is_of_server(error: &CallError) -> bool {
    matches!(
        error,
        CallError::NotConnected { .. }
            | CallError::Lost { .. }
            | CallError::TimedOut { .. }
            | CallError::Busy { .. }
            | CallError::Unauthorized { .. }
            | CallError::Http { .. }
            | CallError::Throttled { .. }
            | CallError::Malformed(_)
    )
}

/// The error as a sentence.
fn sentence(error: &CallError, server: Option<&ServerKey>) -> String {
    let server = server.map_or_else(|| "the server".to_owned(), named);
    let text = match error {
        CallError::NotFound { thing: Thing::Tool, name } => format!("Unknown tool: `{name}`"),
        CallError::NotConnected { .. } => format!("{server} cannot be used now: {error}"),
        CallError::Lost { reason, .. } => format!("the connection to {server} ended: {reason}"),
        error if is_of_server(error) => format!("{server}: {error}"),
        other => other.to_string(),
    };
    let mut letters = text.chars();
    let capital = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{capital}{}{end}", letters.as_str())
}

fn named(server: &ServerKey) -> String {
    format!("the server `{}`", server.name)
}
