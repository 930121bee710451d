//! Reading the few members of params and results that steer a hub. Never changes anything, and
//! never goes deeper than `_meta`.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::id::Id;
use crate::json::Json;
use crate::meta;
use crate::rewrite::Repeated;

/// The `_meta` of params, a result or a listed thing, if it is an object.
pub fn meta(of: Json<'_>) -> Option<Json<'_>> {
    of.get(meta::META).filter(|meta| meta.is_object())
}

/// The token under which the caller wants to hear of progress: a string or a number, and as long as an id at most,
/// since it is kept like one.
pub fn progress_token(params: Json<'_>) -> Option<Json<'_>> {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(meta::PROGRESS_TOKEN));
    meta(mentions(params, &NAME)?)?.get(meta::PROGRESS_TOKEN).filter(|token| is_token(*token))
}

/// Whether something can be a token for progress.
pub(crate) fn is_token(json: Json<'_>) -> bool {
    Id::parse(json).is_some()
}

/// The trace that a request belongs to.
pub fn trace(params: Json<'_>) -> Option<Cow<'_, str>> {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(meta::TRACEPARENT));
    meta(mentions(params, &NAME)?)?.get(meta::TRACEPARENT)?.string()
}

/// What a client was given to come back with.
pub fn request_state(params: Json<'_>) -> Option<Json<'_>> {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("requestState"));
    mentions(params, &NAME)?.get("requestState")
}

/// What a client answers to what a server asked.
pub fn input_responses(params: Json<'_>) -> Option<Json<'_>> {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("inputResponses"));
    mentions(params, &NAME)?.get("inputResponses")
}

/// The id of the `subscriptions/listen` request that a message belongs to.
pub fn subscription_id(params: Json<'_>) -> Option<Json<'_>> {
    meta(params)?.get(meta::SUBSCRIPTION_ID)
}

/// The server's own id of the task that a message belongs to (revision 2025-11-25).
pub fn related_task(params: Json<'_>) -> Option<Cow<'_, str>> {
    meta(params)?.get(meta::RELATED_TASK)?.get("taskId")?.string()
}

/// What a result is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultType<'a> {
    /// The end of the call; also what has no `resultType`, as in the session era.
    Complete,
    /// The server wants something first.
    InputRequired,
    /// A handle to work that goes on (tasks extension).
    Task,
    /// An extension's own kind.
    Other(Cow<'a, str>),
}

/// What `result` is. A `resultType` that is no string is none of the known kinds.
pub fn result_type(result: Json<'_>) -> ResultType<'_> {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("resultType"));
    let kind = mentions(result, &NAME).and_then(|result| result.get("resultType"));
    let Some(kind) = kind else { return ResultType::Complete };
    let Some(text) = kind.string() else {
        return ResultType::Other(Cow::Borrowed(kind.as_str()));
    };
    match &*text {
        "complete" => ResultType::Complete,
        "input_required" => ResultType::InputRequired,
        "task" => ResultType::Task,
        _ => ResultType::Other(text),
    }
}

/// Whether the server wants something first. Hardly any result mentions that, and to see so is much
/// less than to find its `resultType`.
pub fn wants_input(result: Json<'_>) -> bool {
    static KIND: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("input_required"));
    mentions(result, &KIND).is_some_and(|result| result_type(result) == ResultType::InputRequired)
}

/// Whether a tool says that it failed.
pub fn is_error(result: Json<'_>) -> bool {
    result.get("isError").and_then(Json::boolean) == Some(true)
}

/// The page that a list request asks for.
pub fn cursor(params: Json<'_>) -> Option<Cow<'_, str>> {
    params.get("cursor")?.string()
}

/// The page after this one. Only a missing or `null` cursor is the end: an empty one is a cursor,
/// so whoever follows pages bounds their number.
pub fn next_cursor(result: Json<'_>) -> Option<Cow<'_, str>> {
    result.get("nextCursor")?.string()
}

/// The same if it may have that word of plain letters somewhere. Most requests have none, and to see
/// that is much less than to walk through them.
fn mentions<'a>(json: Json<'a>, word: &Finder<'_>) -> Option<Json<'a>> {
    (word.find(json.as_bytes()).is_some() || may_hide(json)).then_some(json)
}

/// Whether a word of plain letters may be there in other letters. One that hides has at least one written as `\u00…`:
/// there is no other escape for a letter. Most messages have no escape at all, which is seen soonest.
pub(crate) fn may_hide(json: Json<'_>) -> bool {
    static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u00"));
    let bytes = json.as_bytes();
    memchr::memchr(b'\\', bytes).is_some_and(|first| ESCAPE.find(&bytes[first..]).is_some())
}

/// What a stateless-era request says about itself in `params._meta`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestMeta<'a> {
    /// The revision it speaks; required in that era, and the sign of it.
    pub protocol_version: Option<Json<'a>>,
    /// What the caller can do; required in that era.
    pub client_capabilities: Option<Json<'a>>,
    /// Who the caller says it is.
    pub client_info: Option<Json<'a>>,
    /// From which level on it wants log messages.
    pub log_level: Option<Json<'a>>,
    /// Under which token it wants to hear of progress.
    pub progress_token: Option<Json<'a>>,
}

impl<'a> RequestMeta<'a> {
    /// Reads them in one pass over `_meta`. A repeated one is an error: two components could act
    /// on different revisions or capabilities.
    pub fn read(params: Option<Json<'a>>) -> Result<Self, Repeated> {
        let Some(params) = params else { return Ok(Self::default()) };
        let [meta] = params.pick([meta::META])?;
        let Some(meta) = meta.filter(|meta| meta.is_object()) else { return Ok(Self::default()) };
        Self::of(meta)
    }

    /// The same from `_meta` itself, where it was found already.
    pub fn of(meta: Json<'a>) -> Result<Self, Repeated> {
        let [protocol_version, client_capabilities, client_info, log_level, progress_token] = meta
            .pick([
                meta::PROTOCOL_VERSION,
                meta::CLIENT_CAPABILITIES,
                meta::CLIENT_INFO,
                meta::LOG_LEVEL,
                meta::PROGRESS_TOKEN,
            ])?;
        Ok(Self { protocol_version, client_capabilities, client_info, log_level, progress_token })
    }
}
