//! One pass over an envelope: its members are found while they are checked. Strict where two
//! readers could understand different things, lenient where they could not.

use std::borrow::Cow;

use super::{ErrorObject, Failure, Message, Notification, Request, Response};
use crate::fault::{Fault, Refusal};
use crate::id::Id;
use crate::json::{Checker, Json, Key, Pass, Step};
use crate::outline::{Finder, Outline};

/// Reads the value at hand. The outer error is malformed JSON, which spoils all that follows; the
/// inner one is JSON that is no message.
pub(super) fn read<'a>(
    checker: &mut Checker<'a>,
) -> Result<Result<Message<'a>, Refusal<'a>>, Fault> {
    if checker.peek() != Some(b'{') {
        checker.value()?;
        return Ok(Err(Fault::NotMessage("it is not an object").into()));
    }
    let mut envelope = Envelope::default();
    checker.object(&mut envelope)?;
    Ok(envelope.message())
}

/// The members that matter.
const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<Json<'a>>,
    id: Option<Json<'a>>,
    method: Option<Json<'a>>,
    params: Option<Json<'a>>,
    result: Option<Json<'a>>,
    error: Option<Json<'a>>,
    outline: Outline,
    repeated: Option<&'static str>,
}

/// The place of `params` among the names.
const PARAMS: usize = 3;

impl<'a> Pass<'a> for Envelope<'a> {
    #[inline]
    fn member(&mut self, checker: &mut Checker<'a>, key: Key<'a>, at: usize) -> Step {
        let name = key.position(NAMES);
        let end = match name {
            Some(PARAMS) if checker.is_object(at) => {
                checker.pass_object(at, &mut Finder { base: at, outline: &mut self.outline })?
            }
            _ => checker.pass_value(at)?,
        };
        if let Some(name) = name {
            self.take(name, checker.passed(at, end));
        }
        Ok(end)
    }
}

impl<'a> Envelope<'a> {
    #[inline]
    fn take(&mut self, at: usize, value: Json<'a>) {
        let slot = match at {
            0 => &mut self.jsonrpc,
            1 => &mut self.id,
            2 => &mut self.method,
            3 => &mut self.params,
            4 => &mut self.result,
            _ => &mut self.error,
        };
        if slot.replace(value).is_some() {
            self.repeated = Some(NAMES[at]);
        }
    }

    fn message(self) -> Result<Message<'a>, Refusal<'a>> {
        let id = self.id.and_then(Id::parse);
        let refuse = |fault| Err(Refusal { fault, id });
        match self.repeated {
            // Which of two ids is meant, nobody knows: answered without one.
            Some("id") => return Err(Fault::Repeated("id").into()),
            Some(name) => return refuse(Fault::Repeated(name)),
            None => {}
        }
        if !self.jsonrpc.is_some_and(is_version) {
            return refuse(Fault::NotMessage("`jsonrpc` is not \"2.0\""));
        }
        match self.method {
            Some(method) => match method.string() {
                Some(method) => self.call(method, id),
                None => refuse(Fault::NotMessage("`method` is not a string")),
            },
            None => self.answer(id),
        }
    }

    fn call(self, method: Cow<'a, str>, id: Option<Id<'a>>) -> Result<Message<'a>, Refusal<'a>> {
        let refuse = |why| Err(Refusal { fault: Fault::NotMessage(why), id });
        if self.result.is_some() || self.error.is_some() {
            return refuse("it has a `method` and an answer");
        }
        let params = self.params.filter(|params| !params.is_null());
        if params.is_some_and(|params| !params.is_object()) {
            return refuse("`params` is not an object");
        }
        match (self.id, id) {
            (None, _) => Ok(Message::Notification(Notification { method, params })),
            (Some(_), Some(id)) => {
                Ok(Message::Request(Request { id, method, params, outline: self.outline }))
            }
            (Some(_), None) => refuse("`id` is not a short string or a number"),
        }
    }

    /// JSON-RPC 1.0 wrote both members, one of them `null`, and some servers still do.
    fn answer(self, id: Option<Id<'a>>) -> Result<Message<'a>, Refusal<'a>> {
        let refuse = |why| Err(Refusal { fault: Fault::NotMessage(why), id });
        let error = self.error.filter(|error| !error.is_null());
        match (self.result, error) {
            (Some(result), Some(_)) if !result.is_null() => {
                refuse("it has a `result` and an `error`")
            }
            (_, Some(error)) if error.is_object() => {
                if self.id.is_some_and(|id| !id.is_null()) && id.is_none() {
                    return refuse("`id` is not a short string or a number");
                }
                Ok(Message::Failure(Failure { id, error: ErrorObject::read(error) }))
            }
            (_, Some(_)) => refuse("`error` is not an object"),
            (Some(result), None) => match id {
                Some(id) => Ok(Message::Response(Response { id, result })),
                None => refuse("`id` is not a short string or a number"),
            },
            (None, None) => refuse("it has neither a `method` nor an answer"),
        }
    }
}

impl<'a> ErrorObject<'a> {
    fn read(raw: Json<'a>) -> Self {
        Self {
            raw,
            code: raw.get("code").and_then(Json::integer).unwrap_or(0),
            message: raw.get("message").and_then(Json::string_lossy).unwrap_or_default(),
            data: raw.get("data"),
        }
    }
}

fn is_version(version: Json<'_>) -> bool {
    version.as_bytes() == b"\"2.0\"" || version.string().as_deref() == Some("2.0")
}
