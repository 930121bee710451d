//! Where in a request's params the few members are that steer a hub: found once, while the params are
//! checked, and carried along, so that nobody has to look for them again. Never judges what they say.

mod find;
mod seen;
mod stamp;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use crate::json::{Json, JsonBuf, push_string};
use crate::meta;
use crate::peek::{RequestMeta, is_token};
use crate::rewrite::Repeated;

pub(crate) use find::Finder;
pub use stamp::{About, Stamp};

/// The members of params that are noted, and those of their `_meta`.
const IN_PARAMS: [&str; 7] =
    [meta::META, "name", "uri", "taskId", "arguments", "requestState", "inputResponses"];
const IN_META: [&str; 6] = [
    meta::PROTOCOL_VERSION,
    meta::CLIENT_CAPABILITIES,
    meta::CLIENT_INFO,
    meta::LOG_LEVEL,
    meta::PROGRESS_TOKEN,
    meta::TRACEPARENT,
];

const META: usize = 0;
const ARGUMENTS: usize = 4;
const REQUEST_STATE: usize = 5;
const INPUT_RESPONSES: usize = 6;
const VERSION: usize = 0;
const CAPABILITIES: usize = 1;
const INFO: usize = 2;
const LEVEL: usize = 3;
const PROGRESS: usize = 4;
const TRACE: usize = 5;

/// Where a value is in the bytes of the params; an empty one is not there. Small, as it is carried along: no message is
/// longer than this can say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn new(start: usize, end: usize) -> Self {
        let short = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: short(start), end: short(end) }
    }

    const fn is_there(self) -> bool {
        self.end != 0
    }

    const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The same in bytes that begin `by` earlier.
    const fn shifted(self, by: u32) -> Self {
        Self { start: self.start.saturating_add(by), end: self.end.saturating_add(by) }
    }
}

/// Where the members are. Of use only together with the params that it was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    params: [Span; IN_PARAMS.len()],
    meta: [Span; IN_META.len()],
    /// Which of them is there twice, counting those of the params first.
    repeated: Option<u8>,
}

/// Params of a request, with where their members are.
#[derive(Clone, Copy, Debug)]
pub struct Params<'a> {
    json: Json<'a>,
    outline: Outline,
}

/// [`Params`] that own their bytes, or share them.
#[derive(Clone, Debug)]
pub struct ParamsBuf {
    json: JsonBuf,
    outline: Outline,
}

impl<'a> From<Json<'a>> for Params<'a> {
    /// Looks for the members.
    fn from(json: Json<'a>) -> Self {
        Self { json, outline: Outline::of(json) }
    }
}

impl<'a> Params<'a> {
    /// Params whose members were found while they were checked.
    pub(crate) const fn found(json: Json<'a>, outline: Outline) -> Self {
        Self { json, outline }
    }

    /// All of them.
    pub const fn json(&self) -> Json<'a> {
        self.json
    }

    /// An error if one of the members is there twice: two readers could take different ones.
    pub fn once(&self) -> Result<(), Repeated> {
        match self.outline.repeated {
            None => Ok(()),
            Some(at) => {
                let mut names = IN_PARAMS.into_iter().chain(IN_META);
                Err(Repeated(names.nth(at.into()).unwrap_or_default()))
            }
        }
    }

    /// What the request is about: the member `name`, `uri` or `taskId`.
    pub fn subject(&self, key: &str) -> Option<Json<'a>> {
        self.part(self.outline.params[subject(key)?])
    }

    /// What it says to that.
    pub fn arguments(&self) -> Option<Json<'a>> {
        self.part(self.outline.params[ARGUMENTS])
    }

    /// What a client was given to come back with.
    pub fn request_state(&self) -> Option<Json<'a>> {
        self.part(self.outline.params[REQUEST_STATE])
    }

    /// What a client answers to what a server asked.
    pub fn input_responses(&self) -> Option<Json<'a>> {
        self.part(self.outline.params[INPUT_RESPONSES])
    }

    /// What the request says about itself.
    pub fn meta(&self) -> RequestMeta<'a> {
        let part = |at: usize| self.part(self.outline.meta[at]);
        RequestMeta {
            protocol_version: part(VERSION),
            client_capabilities: part(CAPABILITIES),
            client_info: part(INFO),
            log_level: part(LEVEL),
            progress_token: part(PROGRESS),
        }
    }

    /// The token under which the caller wants to hear of progress; what cannot be one is none.
    pub fn progress_token(&self) -> Option<Json<'a>> {
        self.part(self.outline.meta[PROGRESS]).filter(|token| is_token(*token))
    }

    /// The trace that the request belongs to.
    pub fn trace(&self) -> Option<Cow<'a, str>> {
        self.part(self.outline.meta[TRACE])?.string()
    }

    /// The params of the same request about `to` instead. All other bytes stay.
    pub fn about(&self, key: &str, to: &str) -> ParamsBuf {
        let span = subject(key).map(|at| self.outline.params[at]).unwrap_or_default();
        if !span.is_there() {
            return ParamsBuf { json: self.json.into(), outline: self.outline };
        }
        let bytes = self.json.as_bytes();
        let mut out = Vec::with_capacity(bytes.len() + to.len() + 2);
        let Range { start, end } = span.range();
        out.extend_from_slice(&bytes[..start]);
        push_string(&mut out, to);
        let now = Span::new(start, out.len());
        out.extend_from_slice(&bytes[end..]);
        ParamsBuf { json: JsonBuf::trusted(out), outline: self.outline.moved(span, now) }
    }

    /// The same, sharing `bytes` where they are a part of them.
    pub fn within(&self, bytes: &bytes::Bytes) -> ParamsBuf {
        ParamsBuf { json: JsonBuf::within(bytes, self.json), outline: self.outline }
    }

    fn part(&self, span: Span) -> Option<Json<'a>> {
        let part = self.json.as_bytes().get(span.range())?;
        (!part.is_empty()).then(|| Json::trusted(part))
    }
}

impl ParamsBuf {
    /// The params.
    pub fn as_params(&self) -> Params<'_> {
        Params { json: self.json.as_json(), outline: self.outline }
    }

    /// All of them, as they are.
    pub const fn buf(&self) -> &JsonBuf {
        &self.json
    }
}

impl From<Params<'_>> for ParamsBuf {
    fn from(params: Params<'_>) -> Self {
        Self { json: params.json.into(), outline: params.outline }
    }
}

impl From<JsonBuf> for ParamsBuf {
    /// Looks for the members.
    fn from(json: JsonBuf) -> Self {
        let outline = Outline::of(json.as_json());
        Self { json, outline }
    }
}

impl Outline {
    /// Looks for the members.
    fn of(params: Json<'_>) -> Self {
        let mut outline = Self::default();
        for member in params.members() {
            let Some(at) = member.key.position(IN_PARAMS) else { continue };
            let Range { start, end } = member.value_range();
            outline.note_param(at, Span::new(start, end));
            if at == META {
                for inner in member.value.members() {
                    let Some(at) = inner.key.position(IN_META) else { continue };
                    let range = inner.value_range();
                    outline.note_meta(at, Span::new(start + range.start, start + range.end));
                }
            }
        }
        outline
    }

    #[inline]
    fn note_param(&mut self, at: usize, span: Span) {
        if self.params[at].is_there() {
            self.repeated = u8::try_from(at).ok();
        }
        self.params[at] = span;
    }

    #[inline]
    fn note_meta(&mut self, at: usize, span: Span) {
        if self.meta[at].is_there() {
            self.repeated = u8::try_from(IN_PARAMS.len() + at).ok();
        }
        self.meta[at] = span;
    }

    /// The same where the value at `old` is at `now`, which begins at the same place.
    fn moved(mut self, old: Span, now: Span) -> Self {
        for span in self.params.iter_mut().chain(&mut self.meta) {
            if *span == old {
                *span = now;
            } else if span.start >= old.end && span.is_there() {
                span.start = span.start - old.end + now.end;
                span.end = span.end - old.end + now.end;
            }
        }
        self
    }
}

/// The place of what a request is about.
fn subject(key: &str) -> Option<usize> {
    match key {
        "name" => Some(1),
        "uri" => Some(2),
        "taskId" => Some(3),
        _ => None,
    }
}
